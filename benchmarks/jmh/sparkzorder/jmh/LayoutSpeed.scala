package sparkzorder.jmh

import org.openjdk.jmh.annotations._

import sparkzorder.curve.layout.{CompiledLayout, InFileOrder, Scale}

/** What a row costs in a fitted layout of four skewed BIGINT columns. */
@State(Scope.Thread)
class LayoutSpeed {
  private val random = Inputs.random
  private val scales: Array[Scale] = Array.fill(4)(Inputs.scale(random))
  private val values = Array.fill(4)(Inputs.values(random, Inputs.Rows))
  private val points = Inputs.ranks(random, 4)
  private val small = new CompiledLayout(scales, Inputs.tree(random, 4, 8), InFileOrder.Hilbert)
  private val large = new CompiledLayout(scales, Inputs.tree(random, 4, 12), InFileOrder.Hilbert)
  private val ranks = new Array[Int](4)
  private val scratch = new Array[Int](4)
  private val files = new Array[Int](Inputs.Rows)
  private val keys = new Array[Long](Inputs.Rows)

  /** The rank of one value. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def rank(): Array[Int] = {
    val column = values(0)
    var i = 0
    while (i < Inputs.Rows) {
      files(i) = small.rank(0, column(i))
      i += 1
    }
    files
  }

  /** The leaf of a row in a tree of 4,096 leaves, its ranks given. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def walk4096(): Array[Int] = {
    var i = 0
    while (i < Inputs.Rows) {
      files(i) = large.cell(points(i))
      i += 1
    }
    files
  }

  /** From four values to `zorder_key` in a layout of 256 files, in calls like those of generated code. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def fourRanksAndKey(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      ranks(0) = small.rank(0, values(0)(i))
      ranks(1) = small.rank(1, values(1)(i))
      ranks(2) = small.rank(2, values(2)(i))
      ranks(3) = small.rank(3, values(3)(i))
      val cell = small.cell(ranks)
      keys(i) = small.key(cell, small.fileOf(cell), ranks, scratch)
      i += 1
    }
    keys
  }
}
