package org.apache.spark.sql.zorder.clustering.plan

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.{Batches, StepSizes, WaitingPartition}
import org.apache.spark.sql.zorder.clustering.report.RunCost
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}
import sparkzorder.curve.layout.{Cut, CutTree, InFileOrder, Layout, LayoutColumn, Leaf, ScaleBuilder}
import sparkzorder.mark.SameOnAllLines

/** How partitions that are larger than a batch are cut into steps. */
@SameOnAllLines
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

  /** All new files move, and the partition is clustered anew. */
  private def ahead(placed: PlacedPartition, most: Long): Seq[PartitionStep] =
    PartitionStep.ahead(placed, placed.newFiles, GrowthPlan.Refit, layout, most)

  private def bytes(step: PartitionStep): Long = step.files.map(_.length).sum

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
    val placed = PlacedPartition("", None, newFiles = files(10, 100))
    val gathering = ahead(placed, 250)
    assert(gathering.map(_.files.length) === Seq(2, 2, 2, 2, 2) && gathering.forall(!_.finishes))
    assert(gathering.head.outputs.each.map(t => (t.fileNumber, t.until)) === Regions.of(layout, 8).spans)
    assert(gathering.head.outputs.each.forall(_.level === OutputPlan.InRegion))
    assert(PartitionStep.afterFirst(gathering, placed, GrowthPlan.Refit, 250) === 4 + 4)

    val spans = Regions.of(layout, 8).spans
    val byRegion = placed.copy(
      newFiles = Nil,
      byRegion = spans.zip(files(5, 120)).map { case (s, f) => s -> Seq(f) }.toMap)
    val finishing = ahead(byRegion, 250)
    assert(finishing.map(_.outputs.each.map(_.fileNumber)) === Seq(Seq(0, 1), Seq(2, 3, 4, 5), Seq(6, 7)))
    assert(finishing.forall(s => s.finishes && s.files.map(_.length).sum <= 250))
    // rows of a region that were not counted there go to the file that is nearest to theirs
    assert(finishing(1).outputs.preImages.targets.get === Seq(0, 0, 0, 1, 2, 3, 3, 3))
    assert(PartitionStep.afterFirst(finishing, byRegion, GrowthPlan.Refit, 250) === 2)
  }

  test("a step is never empty, however small the limit") {
    val steps = ahead(PlacedPartition("", None, newFiles = files(3, 100)), 1)
    assert(steps.map(_.files.length) === Seq(1, 1, 1))
  }

  test("new rows are gathered, and each region that has some is written with the cells that they fell into") {
    val inLayout = (0 until 8).map(n => n -> Seq(DataFile(s"s$n", 100, 0L, ""))).toMap
    val placed = PlacedPartition("", Some("x"), inLayout, newFiles = files(3, 100))
    val merge = GrowthPlan.Merge(Set(0, 6))
    val gathering = PartitionStep.ahead(placed, placed.newFiles, merge, layout, 300)
    assert(gathering.length === 1 && !gathering.head.finishes && bytes(gathering.head) === 300)
    assert(PartitionStep.afterFirst(gathering, placed, merge, 300) === 2)
    val byRegion = placed.copy(
      newFiles = files(2, 10),
      byRegion = Map((0, 1) -> files(1, 150), (6, 8) -> files(1, 150)))
    val finishing = PartitionStep.ahead(byRegion, Nil, merge, layout, 300)
    assert(finishing.map(_.files.map(_.path)) === Seq(Seq("f0", "s0"), Seq("f0", "s6")))
    assert(finishing.forall(s => s.finishes && !s.outputs.spread))
    // a statement that goes on where another died does not know the cells
    val resumed = PartitionStep.ahead(byRegion, Nil, GrowthPlan.Refit, layout, 400)
    assert(resumed.map(_.files.map(_.path)) === Seq(Seq("f0", "s0"), Seq("f0", "s6", "s7")))
  }

  test("new rows that are appended: as many files in steps as at once") {
    val placed = PlacedPartition("", Some("x"), Map(0 -> files(1, 10)), newFiles = files(6, 100))
    val append = GrowthPlan.Append(Array(0, 0, 1, 1, 2, 3, 4, 5), 600, merged = 0)
    val steps = PartitionStep.ahead(placed, placed.newFiles, append, layout, 200)
    assert(steps.map(_.outputs.each.length) === Seq(2, 2, 2) && steps.forall(_.finishes))
    assert(steps.forall(_.outputs.each.forall(_.level === OutputPlan.InSortedRun)))
    assert(steps.head.outputs.each.map(t => (t.fileNumber, t.until)) === Seq((0, 5), (5, 8)))
    // the second batch sees what the first has left
    val rest = PartitionStep.ahead(placed, placed.newFiles.drop(2), append, layout, 200)
    assert(rest.map(_.outputs.each.length) === Seq(2, 2))
    assert(PartitionStep.afterFirst(rest, placed, append, 200) === 1)
  }

  test("10,000 files are the most of one commit, of whole partitions and of steps") {
    val gib = 1L << 30
    def batches(options: RunOptions) = new Batches(options, 0L)
    val partitions = (0 until 30).map(i => WaitingPartition(f"p=$i%02d", 250 * gib))
    val files = FileCount.of(250 * gib, 256L << 20, RunOptions())
    assert(batches(RunOptions()).next(partitions, 7500 * gib).finished.size === 10000 / files)
    assert(batches(RunOptions()).stepBytes(1000 * gib, 25000) === Some((1000 * gib + 2) / 3))
    assert(batches(RunOptions()).stepBytes(1000 * gib, 4096) === None)
    assert(batches(RunOptions(maxBytesInFlight = Some(gib))).stepBytes(1000 * gib, 4096) === Some(gib))
  }

  test("a batch of more files than a number can count ends before them; steps of a byte are as many as there are files") {
    val many = (0 until 3000).map(i => WaitingPartition(f"p=$i%04d", 100L))
    val million = new Batches(RunOptions(fileCount = Some(1000000)), 0L)
    assert(million.next(many, 300000L).finished === Set("p=0000"))
    val files = (0 until 5).map(i => DataFile(s"$i.parquet", 1L << 38, 0L, ""))
    val one = SizedPartition(PinnedPartition("", files), 5000)
    val steps =
      new StepSizes(true, Set.empty[String], new Batches(RunOptions(maxBytesInFlight = Some(512)), 0L))
    assert(steps.reads(one) === Seq.fill(10)(1L << 38))
  }

  test("a dry run says that the disks make steps small, or that a shuffle may fill them") {
    val gib = 1L << 30
    def partition(name: String, bytes: Long, files: Int) =
      SizedPartition(PinnedPartition(name, Seq(DataFile(s"$name.parquet", bytes, 0L, name))), files)
    val plan = FilePlan(IndexedSeq(partition("p=1", 150 * gib, 600), partition("p=2", 50 * gib, 200)))
    def sizes(
        possible: Boolean,
        free: Long,
        options: RunOptions = RunOptions(),
        partly: Set[String] = Set.empty) =
      new StepSizes(possible, partly, new Batches(options, 0L, Some(free)))
    val again = "150.0 GiB are read and written once more, to bring the regions of the layout together."
    assert(
      sizes(possible = true, 400 * gib).summary(plan) ===
        s" In batches of at most 100.0 GiB, since the executors' disks have 400.0 GiB free: $again")
    assert(
      sizes(possible = true, 400 * gib, RunOptions(maxBytesInFlight = Some(60 * gib))).summary(plan) ===
        s" In batches of at most 60.0 GiB: $again")
    assert(sizes(possible = true, 1000 * gib).summary(plan) === "")
    assert(sizes(possible = false, 400 * gib).summary(plan) === "")
    // three quarters of the rows are shuffled at once
    val cost = RunCost(400 * gib, 400 * gib, 800 * gib)
    assert(
      sizes(possible = false, 400 * gib).diskWarning(plan, cost) ===
        " The shuffle may take 600.0 GiB of the executors' disks, which have 400.0 GiB free, and files of this " +
        "kind are not clustered in steps.")
    assert(sizes(possible = true, 400 * gib).diskWarning(plan, cost) === "")
    assert(sizes(possible = false, 599 * gib).diskWarning(plan, cost).nonEmpty)
    assert(sizes(possible = false, 601 * gib).diskWarning(plan, cost) === "")
    assert(sizes(possible = false, 400 * gib).diskWarning(plan, RunCost(0, 0, 500 * gib)) === "")
    // the statement leaves out files of a partition
    val partly = sizes(possible = true, 400 * gib, partly = Set("p=1"))
    assert(partly.summary(plan) === "" && partly.withSteps(cost, plan) === cost)
    assert(partly.reads(plan.partitions.head) === Seq(150 * gib))
    assert(
      partly.diskWarning(plan, cost) ===
        " The shuffle may take 600.0 GiB of the executors' disks, which have 400.0 GiB free, and a table " +
        "or partition of which files are left out is not clustered in steps.")
    assert(sizes(possible = true, 400 * gib, partly = Set("p=2")).diskWarning(plan, cost) === "")
  }

  test("by default a batch has a quarter of the bytes that are free on the disks of executors") {
    val gib = 1L << 30
    var asked = 0
    def batches(free: Option[Long], options: RunOptions = RunOptions()) =
      new Batches(options, 0L, { asked += 1; free })
    val partitions = (0 until 30).map(i => WaitingPartition(f"p=$i%02d", 5 * gib))
    assert(batches(Some(100 * gib)).next(partitions, 150 * gib).finished.size === 5)
    assert(batches(Some(100 * gib)).stepBytes(150 * gib, 600) === Some(25 * gib))
    assert(batches(Some(100 * gib)).diskLimit(150 * gib) === Some(100 * gib))
    assert(batches(Some(100 * gib)).stepBytes(25 * gib, 100) === None)
    // a full disk: steps do not become so small that there is no end of them
    assert(batches(Some(gib)).stepBytes(150 * gib, 600) === Some(gib))
    // shuffle files that are elsewhere, a small table, and whoever says what a batch is
    assert(batches(None).stepBytes(150 * gib, 600) === None && batches(None).diskLimit(150 * gib) === None)
    asked = 0
    assert(batches(Some(0)).stepBytes(gib, 4) === None)
    val none = RunOptions(maxBytesInFlight = Some(Long.MaxValue))
    assert(batches(Some(gib), none).stepBytes(150 * gib, 600) === None && asked === 0)
    assert(batches(Some(gib), RunOptions(maxBytesInFlight = Some(50 * gib))).diskLimit(150 * gib) === None)
  }
}
