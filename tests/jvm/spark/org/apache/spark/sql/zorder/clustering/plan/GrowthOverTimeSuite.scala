package org.apache.spark.sql.zorder.clustering.plan

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.mark.SameOnAllLines

/**
 * Thirty appends, and rounds from nothing, with a decision after each: what look-ups read beside a fresh FULL, in rows,
 * what is written, and how many files there are. The same arithmetic as `benchmarks/growth`, with the decisions of the
 * product.
 */
@SameOnAllLines
class GrowthOverTimeSuite extends AnyFunSuite {
  private val first = 1000000L

  private case class Outcome(each: Seq[Double], written: Double, files: Double) {
    def worst: Double = each.max
    def mean: Double = each.sum / each.length
  }

  /** Even and odd bits of a cell's number: its place in a square grid in Z order. */
  private def place(cell: Int, odd: Int): Int =
    (0 until 8).map(i => (cell >> (2 * i + odd) & 1) << i).sum

  /** Mean share of the two columns' ranges that the cells of a file cover. */
  private def extent(cells: Seq[Int], of: Int): Double =
    Seq(0, 1).map { c =>
      val at = cells.map(place(_, c))
      (at.max - at.min + 1) / math.sqrt(of.toDouble)
    }.sum / 2

  private def grow(cells: Int, share: Double, budget: Double = 5.0): Outcome = {
    val newBytes = (first * share).toLong
    var inLayout = first
    var sortedRuns = Vector.empty[(SortedRun, Seq[(Long, Double)])]
    var written = 0L
    val each = (1 to 30).map { run =>
      val growth = Growth(
        Array.fill(cells)(inLayout / cells),
        Array.fill(cells)(100L),
        newBytes,
        sortedRuns.map(_._1),
        hurts = () => true)
      growth.decide(budget) match {
        case GrowthPlan.Refit =>
          inLayout += newBytes + sortedRuns.map(_._1.bytes).sum
          sortedRuns = Vector.empty
          written += inLayout
        case append: GrowthPlan.Append =>
          val files = append.fileOf.indices.groupBy(append.fileOf(_)).toSeq.sortBy(_._1).map(_._2)
          val spans = files.zipWithIndex.map { case (f, i) =>
            (DataFile(s"$run-$i", append.bytes * f.length / cells, 0L, ""), f.head, f.last + 1)
          }
          val read = files.map(f => (append.bytes * f.length / cells, extent(f, cells)))
          sortedRuns = sortedRuns.dropRight(append.merged) :+ ((SortedRun(spans), read))
          written += append.bytes
        case other => fail(s"$other")
      }
      val rows = inLayout + sortedRuns.map(_._1.bytes).sum
      val read = inLayout / math.sqrt(cells.toDouble) +
        sortedRuns.flatMap(_._2).map { case (bytes, width) => bytes * width }.sum
      (read / (rows / math.sqrt(cells.toDouble)), 1 + sortedRuns.map(_._1.spans.length).sum.toDouble / cells)
    }
    Outcome(each.map(_._1), written.toDouble / (30 * newBytes), each.map(_._2).max)
  }

  /**
   * Rounds of the rows of somewhat more than a file each, spread over all cells; look-ups of a value of both columns. Files
   * are counted as a run counts them, as powers of two.
   */
  private def fromNothing(rounds: Int, budget: Double): Outcome = {
    val file = 1100000L
    val options = RunOptions(targetFileSize = Some(1000000L))
    def files(bytes: Long): Int = FileCount.of(bytes, 1000000L, options)
    var inLayout = 0L
    var cells = 0
    var sortedRuns = Vector.empty[SortedRun]
    var written = 0L
    val each = (1 to rounds).map { round =>
      val growth = Growth(
        Array.fill(math.max(1, cells))(inLayout / math.max(1, cells)),
        Array.fill(math.max(1, cells))(100L),
        file,
        sortedRuns,
        hurts = () => sortedRuns.nonEmpty,
        newLayoutFiles = files(round * file))
      growth.decide(budget) match {
        case append: GrowthPlan.Append =>
          val files = append.fileOf.indices.groupBy(append.fileOf(_)).toSeq.sortBy(_._1).map(_._2)
          val spans = files.zipWithIndex.map { case (f, i) =>
            (DataFile(s"$round-$i", append.bytes / append.files, 0L, ""), f.head, f.last + 1)
          }
          sortedRuns = sortedRuns.dropRight(append.merged) :+ SortedRun(spans)
          written += append.bytes
        case GrowthPlan.Merge(_) if sortedRuns.isEmpty && cells > 0 =>
          inLayout += file
          written += inLayout
        case _ =>
          inLayout = round * file
          cells = files((inLayout * math.sqrt(2)).toLong)
          sortedRuns = Vector.empty
          written += inLayout
      }
      val read = inLayout / cells + sortedRuns.map(r => r.bytes / r.spans.length).sum
      val full = files(round * file)
      (
        read.toDouble * full / (round * file),
        (cells + sortedRuns.map(_.spans.length).sum).toDouble / full)
    }
    val settled = each.drop(8)
    Outcome(settled.map(_._1), written.toDouble / (rounds * file), settled.map(_._2).max)
  }

  /**
   * Rounds in the order of days: each brings a file's worth of rows of seven days, two days later than the one before. The
   * layout cuts days and categories alike; new rows fall into the cells of its last days. Look-ups of both columns.
   */
  private def inTimeOrder(rounds: Int, file: Long): Outcome = {
    val options = RunOptions(targetFileSize = Some(1000000L))
    def files(bytes: Long): Int = FileCount.of(bytes, 1000000L, options)
    // rounds in cells before the last days, and in all; cells of each
    var (inner, settled, before, last) = (0.0, 0, 0, 1)
    // with the first round of each
    var sortedRuns = Vector.empty[(SortedRun, Int)]
    var written = 0L
    def read(round: Int, now: Int, runs: Seq[(SortedRun, Int)]): Double = {
      val groups = (0.0, inner, inner * file / math.max(1, before)) +: (
        inner,
        settled.toDouble,
        (settled - inner) * file / last) +:
        runs.zip(runs.map(_._2).drop(1) :+ now).map { case ((run, from), until) =>
          (from.toDouble, until.toDouble, run.bytes.toDouble / run.spans.length)
        }
      (2 * round until 2 * round + 7).map(day =>
        groups.collect {
          case (from, until, read) if 2 * from <= day && day < 2 * until + 5 => read
        }.sum).sum / 7
    }
    def mean(now: Int, runs: Seq[(SortedRun, Int)]): Double =
      (0 until now).map(read(_, now, runs)).sum / now
    val each = (1 to rounds).map { round =>
      val cells = before + last
      val raw = (SortedRun(Seq((DataFile("new", file, 0L, ""), before, cells))), round - 1)
      val growth = Growth(
        Array.tabulate(cells)(c =>
          (if (c < before) inner * file / before else (settled - inner) * file / last).toLong),
        Array.tabulate(cells)(c => if (c < before) 0L else 100L),
        file,
        sortedRuns.map(_._1),
        hurts = () => mean(round, sortedRuns :+ raw) > 1.1 * settled * file / cells,
        newLayoutFiles = files(round * file))
      growth.decide(5.0) match {
        case append: GrowthPlan.Append =>
          val again = sortedRuns.takeRight(append.merged)
          val spans = Seq.tabulate(append.files)(i =>
            (DataFile(s"$round-$i", append.bytes / append.files, 0L, ""), before, cells))
          sortedRuns = sortedRuns.dropRight(append.merged) :+
            ((SortedRun(spans), again.headOption.fold(round - 1)(_._2)))
          written += append.bytes
        case GrowthPlan.Merge(_) if before > 0 && sortedRuns.isEmpty =>
          settled = round
          written += ((settled - inner) * file).toLong
        case _ =>
          val all = if (round == 1) 1 else files((round * file * math.sqrt(2)).toLong)
          last = 1 << (31 - Integer.numberOfLeadingZeros(all)) / 2
          before = all - last
          inner = round.toDouble * before / all
          settled = round
          sortedRuns = Vector.empty
          written += round * file
      }
      val full = files(round * file)
      (
        mean(round, sortedRuns) * full / (round * file),
        (before + last + sortedRuns.map(_._1.spans.length).sum).toDouble / full)
    }
    val after = each.drop(8)
    Outcome(after.map(_._1), written.toDouble / (rounds * file), after.map(_._2).max)
  }

  test("200 rounds in the order of time: merges stop where they would only span more of it") {
    for (file <- Seq(930000L, 1000000L, 1110000L, 1250000L)) {
      val o = inTimeOrder(200, file)
      // a table of 24 files can read three times as much for a round or two
      val worst = o.each.drop(16).max
      assert(
        worst <= 1.25 && o.mean <= 0.9 && o.written <= 5.3 && o.files <= 3.0,
        s"rounds of $file bytes: $worst ${o.mean} ${o.written} ${o.files}")
    }
  }

  test("a table from nothing: look-ups of both columns, bytes a byte, and files, by rounds and budget") {
    // mean, worst, written, files at most
    val most = Map(
      (32, 5.0) -> ((1.0, 1.2, 4.1, 3.1)),
      (200, 5.0) -> ((1.0, 1.4, 6.6, 3.7)),
      (200, 8.0) -> ((0.95, 1.3, 8.2, 3.3)))
    for (((rounds, budget), (mean, worst, written, files)) <- most) {
      val o = fromNothing(rounds, budget)
      assert(
        o.mean <= mean && o.worst <= worst && o.written <= written && o.files <= files,
        s"$rounds rounds, budget $budget: ${o.mean} ${o.worst} ${o.written} ${o.files}")
    }
  }

  test(
    "appends of 1, 3 and 10 %: look-ups <= 1.15 x, 1.1 x in the mean, <= 5 bytes a byte, <= 3 x the files") {
    for (cells <- Seq(16, 64, 256); share <- Seq(0.01, 0.03, 0.1)) {
      val o = grow(cells, share)
      assert(
        o.worst <= 1.15 && o.mean <= 1.1 && o.written <= 5.0 && o.files <= 3.0,
        s"$cells files, $share: ${o.worst} ${o.mean} ${o.written} ${o.files}")
    }
  }

  test("a smaller budget is kept as well, and a larger one reads less") {
    for (budget <- Seq(2.0, 3.0, 4.0, 8.0))
      assert(grow(64, 0.03, budget).written <= budget, budget)
    assert(fromNothing(200, 8.0).mean < fromNothing(200, 5.0).mean)
  }
}
