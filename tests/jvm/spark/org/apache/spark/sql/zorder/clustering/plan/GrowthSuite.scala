package org.apache.spark.sql.zorder.clustering.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.zorder.clustering.fit.{CountedSample, LongSample, Sample}
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.layout.{Cut, CutTree, InFileOrder, Layout, LayoutColumn, Leaf, ScaleBuilder}
import sparkzorder.mark.SameOnAllLines

/** What becomes of new rows: the decision alone, without a table. */
@SameOnAllLines
class GrowthSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val cells = Array.fill(100)(1000L)

  private def growth(
      rows: Map[Int, Long],
      newBytes: Long,
      sortedRunBytes: Long = 0,
      hurts: () => Boolean = () => false): Growth =
    Growth(cells, Array.tabulate(100)(rows.getOrElse(_, 0L)), newBytes, before(sortedRunBytes), hurts)

  private def before(bytes: Long*): Seq[SortedRun] = bytes.filter(_ > 0).zipWithIndex.map {
    case (b, i) => SortedRun(Seq((DataFile(s"f$i", b, 0L, ""), 0, 100)))
  }

  test("rows of a few cells are merged into them") {
    val few = growth(Map(3 -> 50L, 4 -> 50L), newBytes = 1000)
    assert(few.amplification === 3.0)
    assert(few.decide(5.0) === GrowthPlan.Merge(Set(3, 4)))
    assert(few.decide(2.9).isInstanceOf[GrowthPlan.Append])
  }

  test("rows in all cells become files of their own, more than their bytes would fill") {
    val all = (0 until 100).map(_ -> 10L).toMap
    val one = growth(all, newBytes = 1000)
    assert(one.amplification === 101.0)
    assert(one.decide(5.0).asInstanceOf[GrowthPlan.Append].files === 16)
    val five = growth(all, newBytes = 5000).decide(5.0).asInstanceOf[GrowthPlan.Append]
    assert(five.files === 32 && five.merged === 0)
    assert(five.fileOf.groupBy(f => f).map(_._2.length).toSet === Set(3, 4))
    // one row in 100,000 is not worth files that hold next to nothing
    assert(growth(all, newBytes = 1).decide(5.0).asInstanceOf[GrowthPlan.Append].files === 1)
  }

  test("a layout whose files should be twice as many is fitted anew where a merge would write as much") {
    val all = (0 until 100).map(_ -> 10L).toMap
    def decided(newBytes: Long, files: Int, budget: Double = 5.0, isWhole: Boolean = true): GrowthPlan =
      growth(all, newBytes).copy(newLayoutFiles = files).decide(budget, isWhole)
    val merged = GrowthPlan.Merge(all.keySet)
    assert(decided(25000, files = 199) === merged && decided(25000, files = 200) === GrowthPlan.Refit)
    assert(decided(25000, files = 200, isWhole = false) === merged)
    assert(decided(25000, files = 200, budget = 4.9).isInstanceOf[GrowthPlan.Append])
  }

  test("cells that would become twice as large as files of a new layout are full") {
    def decided(newBytes: Long): GrowthPlan =
      growth(Map(98 -> 10L, 99 -> 30L), newBytes).copy(newLayoutFiles = 100).decide(5.0)
    // cell 99 has 1000 bytes and gets three quarters of the new ones
    assert(decided(1360) === GrowthPlan.Merge(Set(98, 99)))
    assert(decided(1380).isInstanceOf[GrowthPlan.Append])
  }

  test("rows that the layout does not tell apart need a layout of their own if they are more than a file") {
    def append(newBytes: Long) =
      growth(Map(99 -> 10L), newBytes).copy(newLayoutFiles = 100).decide(5.0).asInstanceOf[GrowthPlan.Append]
    val large = append(20000)
    assert(large.files === 1 && large.tooLarge && large.filesOfOwn === 16)
    val few = append(2500)
    assert(few.files === 1 && !few.tooLarge && few.filesOfOwn === 1)
  }

  test("everything is written anew when look-ups suffer and two thirds of the budget are enough for it") {
    val all = (0 until 100).map(_ -> 10L).toMap
    assert(growth(all, 1000, sortedRunBytes = 42000, hurts = () => true).decide(5.0) === GrowthPlan.Refit)
    assert(growth(all, 1000, sortedRunBytes = 42000).decide(5.0).isInstanceOf[GrowthPlan.Append])
    assert(growth(
      all,
      1000,
      sortedRunBytes = 41000,
      hurts = () => true).decide(5.0).isInstanceOf[GrowthPlan.Append])
  }

  test("files across cells are merged with new rows while they are not much larger") {
    def merged(budget: Double, isWhole: Boolean, bytes: Long*): Int =
      Growth(cells, Array.fill(100)(10L), 1000, before(bytes: _*), hurts = () => false)
        .decide(budget, isWhole).asInstanceOf[GrowthPlan.Append].merged
    assert(merged(5.0, true, 9000, 1500) === 1)
    assert(merged(5.0, true, 3750, 1500) === 2)
    assert(merged(5.0, true, 3750, 2200) === 0)
    // a budget that has no room for it, and a statement that does not take the whole partition
    assert(merged(2.0, true, 3750, 1500) === 0)
    assert(merged(5.0, false, 3750, 1500) === 0)
    val again = Growth(cells, Array.fill(100)(10L), 1000, before(3750, 1500), hurts = () => false).decide(5.0)
    assert(again.asInstanceOf[GrowthPlan.Append].bytes === 6250)
  }

  test(
    "files across the outermost cells are merged no further than they can be cut into files as large as cells") {
    def merged(bytes: Long*): Int = {
      val full = cells.updated(98, 5000L).updated(99, 5000L)
      val runs =
        before(bytes: _*).map(run => SortedRun(run.spans.map { case (file, _, _) => (file, 98, 100) }))
      val rows = Array.fill(100)(0L).updated(98, 10L).updated(99, 10L)
      Growth(full, rows, 1000, runs, hurts = () => false).decide(5.0).asInstanceOf[GrowthPlan.Append].merged
    }
    // 111,000 bytes in 100 cells: two of them have room for 2220
    assert(merged(2000, 1000) === 1)
    assert(merged(2000, 1400) === 0)
    assert(merged(100, 100) === 2)
  }

  test("rows of a cell that nothing was counted in go to the nearest one that is written") {
    val values = ScaleBuilder.ofLongs(Array.range(0, 1000).map(_.toLong), 0)
    val tree = Seq(250, 500, 750).foldRight[CutTree](Leaf(1))((at, right) => Cut(0, at, Leaf(1), right))
    val four = Layout(IndexedSeq(LayoutColumn("a", "INT", values)), tree, "zorder", InFileOrder.Hilbert)
    val none = CountedSample(Array(0L, 1L, 0L, 1L), Sample(IndexedSeq(LongSample(Array(), Array()))), Array())
    def written(cells: Int*): Seq[(Int, Int)] = {
      val plan = GrowthPlan.Merge(cells.toSet)
      val placed = PlacedPartition("", Some("x"))
      val outputs = GrowingPartition.outputs(
        Seq(GrowingPartition(placed, new LayoutRef("x", four), none, growth(Map(), 1), plan)))
      outputs.preImages.targets.get.zipWithIndex.map { case (place, n) =>
        n -> outputs.each(place).fileNumber
      }
    }
    assert(written(1, 3) === Seq(0 -> 1, 1 -> 1, 2 -> 1, 3 -> 3))
    assert(written(3) === Seq(0 -> 3, 1 -> 3, 2 -> 3, 3 -> 3))
    assert(written(0, 3) === Seq(0 -> 0, 1 -> 0, 2 -> 3, 3 -> 3))
  }

  test("a partition that has more than doubled is clustered anew") {
    val all = (0 until 100).map(_ -> 1000L).toMap
    assert(growth(all, 100001).decide(5.0) === GrowthPlan.Refit)
    assert(growth(all, 100000).decide(5.0).isInstanceOf[GrowthPlan.Merge])
  }

  test("a partition that is larger than its layout already is clustered anew at the next doubling") {
    val all = (0 until 100).map(_ -> 1000L).toMap
    assert(growth(all, 49000, sortedRunBytes = 150000).decide(5.0) !== GrowthPlan.Refit)
    assert(growth(all, 51000, sortedRunBytes = 150000).decide(5.0) === GrowthPlan.Refit)
    assert(growth(all, 51000, sortedRunBytes = 250000).decide(5.0) !== GrowthPlan.Refit)
    assert(growth(all, 151000, sortedRunBytes = 250000).decide(5.0) === GrowthPlan.Refit)
  }

  test("a partition whose new layout gains nothing takes in rows, and its sorted runs are still merged") {
    val all = (0 until 100).map(_ -> 1000L).toMap
    assert(growth(all, 100001).decide(5.0, gains = false) === GrowthPlan.Merge(all.keySet))
    def append(gains: Boolean): GrowthPlan =
      Growth(cells, Array.fill(100)(10L), 20000, before(60000, 25000), hurts = () => true)
        .decide(5.0, gains = gains)
    assert(append(gains = true) === GrowthPlan.Refit)
    assert(append(gains = false).asInstanceOf[GrowthPlan.Append].merged > 0)
  }

  test(
    "files that are appended: numbered from 0 without gaps, in the order of the cells, none without rows") {
    val counts = Gen.listOfN(40, Gen.frequency(3 -> Gen.const(0L), 2 -> Gen.choose(1L, 500L)))
    forAll(counts, Gen.choose(1L, 39999L)) { (rows, bytes) =>
      whenever(rows.sum > 0) {
        val g = Growth(Array.fill(40)(1000L), rows.toArray, bytes, Nil, hurts = () => false)
        g.decide(1.0) match {
          case append: GrowthPlan.Append =>
            assert(append.fileOf.head === 0 && append.fileOf.zip(append.fileOf.tail).forall { case (a, b) =>
              b == a || b == a + 1
            })
            for (f <- 0 until append.files)
              assert(rows.indices.filter(append.fileOf(_) == f).map(rows(_)).sum > 0)
          case other => fail(s"$other at a budget of 1")
        }
      }
    }
  }
}
