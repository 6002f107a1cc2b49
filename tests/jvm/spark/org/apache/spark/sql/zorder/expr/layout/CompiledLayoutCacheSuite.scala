package org.apache.spark.sql.zorder.expr.layout

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.util.Utils
import sparkzorder.curve.layout.{Cut, CutTree, InFileOrder, Layout, LayoutColumn, Leaf, ScaleBuilder}

/** Layouts of thousands of files, which thousands of tasks use. */
class CompiledLayoutCacheSuite extends AnyFunSuite with ZOrderSession {

  test("the tasks of a JVM share a large layout, and compile a small one each") {
    def column(seed: Int) =
      LayoutColumn("a", "INT", ScaleBuilder.ofLongs(Array.range(0, 50000).map(_ * 2L + seed), 0))
    def even(from: Int, until: Int): CutTree = {
      val middle = (from + until) / 2
      if (until - from < 16) Leaf(1) else Cut(0, middle, even(from, middle), even(middle, until))
    }
    def layout(files: Int, seed: Int) =
      Layout(IndexedSeq(column(seed)), even(0, files * 16), "zorder", InFileOrder.Hilbert)
    def twice(ref: LayoutRef) = {
      val bytes = Utils.serialize(PartitionLayouts(Vector(ref)))
      def compiled = Utils.deserialize[PartitionLayouts](bytes).compiled(0)
      (compiled, compiled)
    }
    assert(!spark.sparkContext.isStopped)
    val (a, b) = twice(new LayoutRef("a", layout(4000, 0)))
    assert(a eq b)
    // the id is short: layouts of the same id are not mixed up
    val (c, d) = twice(new LayoutRef("a", layout(4000, 1)))
    assert((c eq d) && !(c eq a))
    val (e, f) = twice(new LayoutRef("a", layout(4, 0)))
    assert(!(e eq f))
  }
}
