package org.apache.spark.sql.zorder.run

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.table.DataFile
import sparkzorder.curve.layout._

/** How partitions that are larger than a batch are cut into steps. */
class PartitionStepSuite extends AnyFunSuite {

  /** Eight files: cells of 1, 1, 3 (equal keys), 1, 2 (equal keys). */
  private val layout = {
    def cut(at: Int, left: CutTree, right: CutTree) = Cut(0, at, left, right)
    val tree = cut(500, cut(200, Leaf(1), Leaf(1)), cut(700, Leaf(3), cut(900, Leaf(1), Leaf(2))))
    Layout(
      IndexedSeq(LayoutColumn("a", "INT", ScaleBuilder.ofLongs(Array.range(0, 1000).map(_.toLong), 0))),
      tree,
      "zorder",
      InFileOrder.Hilbert)
  }

  private def files(n: Int, bytes: Long): Seq[DataFile] =
    (0 until n).map(i => DataFile(s"f$i", bytes, 0L, ""))

  test("regions are runs of cells, and a cell of equal keys is never cut") {
    for (wanted <- 1 to 12) {
      val regions = Regions.of(layout, wanted)
      assert(regions.starts.toSet.subsetOf(Set(0, 1, 2, 5, 6)), s"$wanted regions")
      assert(regions.starts.head === 0 && regions.spans.last._2 === 8)
      assert(regions.spans.map { case (a, b) => b - a }.sum === 8)
    }
    assert(Regions.of(layout, 8).starts === Seq(0, 1, 2, 5, 6))
  }

  test("regions are found again from the files that were gathered, whichever had rows") {
    assert(Regions.between(Seq((0, 1), (2, 5)), 8).starts === Seq(0, 1, 2, 5))
    assert(Regions.between(Seq((6, 8)), 8).starts === Seq(0, 6))
  }

  test("files are gathered within the limit, then regions are settled within it, the first before the last") {
    val placed = PlacedPartition("", None, fresh = files(10, 100))
    val gathering = PartitionStep.ahead(placed, layout, 250)
    assert(gathering.map(_.files.length) === Seq(2, 2, 2, 2, 2) && gathering.forall(!_.settles))
    assert(gathering.head.tasks.each.map(t => (t.fileNumber, t.until)) === Regions.of(layout, 8).spans)
    assert(gathering.head.tasks.each.forall(_.level === Tasks.Gathered))
    assert(PartitionStep.afterFirst(gathering, 250) === 4 + 4)

    val spans = Regions.of(layout, 8).spans
    val gathered = placed.copy(
      fresh = Nil,
      gathered = spans.zip(files(5, 120)).map { case (s, f) => s -> Seq(f) }.toMap)
    val settling = PartitionStep.ahead(gathered, layout, 250)
    assert(settling.map(_.tasks.each.map(_.fileNumber)) === Seq(Seq(0, 1), Seq(2, 3, 4, 5), Seq(6, 7)))
    assert(settling.forall(s => s.settles && s.files.map(_.length).sum <= 250))
    assert(PartitionStep.afterFirst(settling, 250) === 2)
  }

  test("a step is never empty, however small the limit") {
    val steps = PartitionStep.ahead(PlacedPartition("", None, fresh = files(3, 100)), layout, 1)
    assert(steps.map(_.files.length) === Seq(1, 1, 1))
  }

  test("files that others append meanwhile wait as soon as a region is settled") {
    val placed = PlacedPartition(
      "",
      Some("x"),
      settled = Map(0 -> files(1, 10)),
      fresh = files(2, 10),
      gathered = Map((2, 5) -> files(1, 10)))
    val steps = PartitionStep.ahead(placed, layout, 100)
    assert(steps.map(_.settles) === Seq(true) && steps.head.files.length === 1)
  }

  test("10,000 files are the most of one commit, of whole partitions and of steps") {
    val gib = 1L << 30
    def batches(options: RunOptions) = new Batches(options, 0L)
    val partitions = (0 until 30).map(i => f"p=$i%02d" -> 250 * gib)
    val files = FileCount.of(250 * gib, 256L << 20, RunOptions())
    assert(batches(RunOptions()).next(partitions).finished.size === 10000 / files)
    assert(batches(RunOptions()).step(1000 * gib, 25000) === Some((1000 * gib + 2) / 3))
    assert(batches(RunOptions()).step(1000 * gib, 4096) === None)
    assert(batches(RunOptions(maxBytesInFlight = Some(gib))).step(1000 * gib, 4096) === Some(gib))
  }
}
