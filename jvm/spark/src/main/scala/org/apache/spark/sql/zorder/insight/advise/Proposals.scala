package org.apache.spark.sql.zorder.insight.advise

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.fit.{Sample, SampleColumn}
import org.apache.spark.sql.zorder.clustering.plan.FilePlan
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.Progress
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.querylog.QueryLog
import sparkzorder.curve.Block
import sparkzorder.curve.advise.{ColumnSearch, ColumnSet}
import sparkzorder.curve.build.{
  DefaultWorkload,
  HeldOut,
  QueryHalves,
  QueryShares,
  WorkloadShapes
}
import sparkzorder.curve.cost.{Condition, Query, RankBlocks, RankQueries, ReadCost}
import sparkzorder.curve.layout.Scale

/**
 * All proposals for one table, the best first.
 *
 * @param full
 *   whether their statements take files that the format keeps for another clusterer
 * @param laidOut
 *   the columns that the table was last clustered by
 * @param runsBy
 *   the columns that a run names instead of these, where the format allows its own alone
 */
final private[advise] class Proposals(
    target: TableRef,
    full: Boolean,
    candidates: CandidateColumns,
    considered: ScreenedCandidates,
    plan: FilePlan,
    found: AdviceInput,
    log: Option[QueryLog],
    laidOut: Option[Seq[String]],
    runsBy: Seq[String] => Seq[String],
    options: RunOptions) {
  import Proposals._

  private val names = found.columns.map(considered.columns(_).sql)
  private val counts = found.sample.columns.map(ValueCounts.of)
  private val unique = PointLookUps.of(found.queries, counts, found.sampledShare)

  /** What is left to cluster by and for once Bloom filters serve the look-ups of identifiers. */
  private val open: AdviceInput = {
    val rest = found.columns.indices.filterNot(unique.contains)
    val left = found.of(rest, q => !PointLookUps.serve(unique)(q))
    if (rest.isEmpty || log.isDefined && left.queries.isEmpty) found else left
  }

  /** Identifiers that nothing is clustered by. */
  private val filtered = unique.filterNot(c => open.columns.contains(found.columns(c)))

  /** The number of files that layouts are judged with. */
  private lazy val files = LayoutEvaluator.files(found.judged.files, open.sample.rows / 2)

  /** If the table has more files than the sample has rows for: what is there is judged as it is, and a layout too low. */
  private lazy val fewerFiles =
    if (files < found.judged.files && found.sampledShare < 1.0) Some(files) else None

  def all(progress: Progress): Seq[Advice] =
    if (open.columns.isEmpty) Seq(leaveIt(Reasons.nothingToClusterBy, None))
    else {
      val pages = math.max(1.0, found.rows.toDouble / files / options.pageRowLimit)
      laidOut.filter(_ => log.isEmpty) match {
        case Some(by) =>
          val bench = new LayoutEvaluator(open.sample, Nil, files, pages, found.sampledShare)
          val now = bench.now(open.files, open.pageBlocks).ofFiles
          val left =
            leaveIt(Reasons.laidOut(by, target), Some(AdviceShares(now, now, None, bench.bound, 0.0)))
          left +: progress.step("columns")(columns(pages))(_.flatMap(_.columns).mkString(", "))
        case None =>
          proposals(
            new LayoutEvaluator(open.sample, open.queries, files, pages, found.sampledShare),
            pages > 1.0,
            progress)
      }
    }

  private def proposals(bench: LayoutEvaluator, hasPages: Boolean, progress: Progress): Seq[Advice] = {
    val now = bench.now(open.files, open.pageBlocks)
    val most = if (log.isDefined) CandidateColumns.MostAsked else Tried
    val searched = progress.step("search")(bench.search.sets(Tried, most)) {
      _.sets.map(_.shares.ofFiles).map(HumanReadable.share).mkString(
        "by one column and more: files ",
        ", ",
        "")
    }
    import searched.sets
    val ranked = sets.sortBy(_.shares.cost)
    val sorted = sets.map(_.sorted).minBy(_.cost).ofFiles
    val proposed = ranked.indices.map { i =>
      val its = ranked(i).shares
      val pages = if (hasPages) Some((now.ofPages, its.ofPages)) else None
      val shares = AdviceShares(now.ofFiles, its.ofFiles, Some(sorted), bench.bound, gain(now, its), pages)
      proposal(ranked(i), shares, if (i == 0) basis(bench.search.unused, searched.withoutBits) else "")
    }
    val best = proposed.head
    // the bound of independent columns is not that of these: what a layout was seen to gain comes first
    val why = best.shares.filter(_.gain < options.minGain).map { shares =>
      if (fewerFiles.isEmpty && now.cost <= InLayout * bench.boundCost)
        Reasons.inLayout(now.ofFiles, bench.bound, files)
      else Reasons.noGain(shares, options.minGain)
    }
    val left = why.map(leaveIt(_, best.shares)).toSeq
    left ++ proposed ++ partitions ++ blooms(ranked.head, force = why.isDefined)
  }

  /** What each column is worth by itself, the one that a sort would help most first. */
  private def columns(pages: Double): Seq[Advice] = {
    val each = open.columns.indices.map { c =>
      val alone = open.of(IndexedSeq(c), _ => true)
      val bench = new LayoutEvaluator(alone.sample, Nil, files, pages, found.sampledShare)
      val (now, sorted) = (bench.now(alone.files, alone.pageBlocks), bench.search.sets(1, 1).sets.head.shares)
      val shares =
        AdviceShares(now.ofFiles, sorted.ofFiles, Some(sorted.ofFiles), bench.bound, gain(now, sorted))
      val name = openName(c)
      Advice(
        Recommendation.Column,
        Reasons.column(name, now.ofFiles, sorted.ofFiles),
        Seq(name),
        files = Some(plan.outputFiles),
        shares = Some(shares))
    }
    each.sortBy(a => -a.shares.fold(0.0)(_.gain))
  }

  private def proposal(set: ColumnSet, shares: AdviceShares, basis: String): Advice = {
    val by = set.order.map(openName)
    val order = Reasons.losesOrder(considered.inOrder.filterNot(by.contains)).fold("")("; " + _) + basis
    val (statement, how) = run(set, by)
    val lastIsLast = set.columns.size > 1 && set.order.last == set.columns.last
    val reason =
      if (set.isSort) Reasons.sort(by, shares, order) else Reasons.cluster(by, shares, set.lossByLast, order)
    Advice(
      if (set.isSort) Recommendation.Sort else Recommendation.Cluster,
      reason + how,
      by,
      Some(set.layout),
      set.bits,
      Some(plan.outputFiles),
      Some(shares),
      if (lastIsLast) Some(set.lossByLast) else None,
      statement
    )
  }

  /**
   * The statement that makes this layout, or one by other columns; or a sentence where no statement does.
   */
  private def run(set: ColumnSet, by: Seq[String], more: (String, String)*): (Option[String], String) = {
    val name = log.map(_.name)
    val isSort = set.isSort && by == set.order.map(openName)
    // a sort is the same whatever is asked
    if (!isSort && name.exists(Statements.isPassing))
      (None, Reasons.withTheSameQueries(by, takesAll(by), more: _*))
    else (Some(Statements.zorder(target, takesAll(by), by, isSort && by.size > 1, name, more: _*)), "")
  }

  /** What a run has laid out by these columns is in place, whatever is asked of it now: FULL alone takes it. */
  private def takesAll(by: Seq[String]): Boolean = full || laidOut.contains(by)

  /**
   * @param unused
   *   numbers of columns that gain nothing
   * @param withoutBits
   *   of those by which files would not be cut
   */
  private def basis(unused: IndexedSeq[Int], withoutBits: IndexedSeq[Int]): String = {
    // without a log, columns are also left out because there are many
    val constant = if (log.isDefined) considered.columns.map(_.sql).filterNot(names.contains) else Nil
    val partition = Some(found.judged.partition.directory).filter(_.nonEmpty)
    Reasons.basis(
      partition,
      fewerFiles,
      log.isDefined,
      unused.map(openName),
      withoutBits.map(openName),
      found.freeText,
      considered.passedOver ++ constant)
  }

  private def leaveIt(reason: String, best: Option[AdviceShares]): Advice =
    Advice(
      Recommendation.LeaveIt,
      reason,
      files = Some(considered.input.footers.length),
      shares = best.map(s => s.copy(expected = s.now, gain = 0.0)))

  /** @param force write the filters even though clustering alone would not gain enough */
  private def blooms(best: ColumnSet, force: Boolean): Seq[Advice] = filtered.map { c =>
    val wanted = best.order.map(openName)
    val by = runsBy(wanted)
    // what other columns gain is not known
    val forced = force || by != wanted
    val more = Seq("bloom" -> names(c)) ++ (if (forced) Seq("force" -> "true") else Nil)
    val (statement, how) = run(best, by, more: _*)
    Advice(
      Recommendation.BloomFilter,
      Reasons.bloom(names(c), asked(c)) + how,
      Seq(names(c)),
      statement = statement)
  }

  private def partitions: Seq[Advice] =
    if (found.judged.partition.directory.nonEmpty) Nil
    else {
      val oneFile = 1.0 / found.judged.files
      val few = PartitionColumns.of(counts, names.indices.map(asked), found.sample.rows, oneFile)
      // no table is partitioned by a field of a struct
      few.filter(c => considered.columns(found.columns(c)).path.exists(_.length == 1)).map { c =>
        Advice(
          Recommendation.Partition,
          Reasons.partition(names(c), counts(c).distinct, asked(c)),
          Seq(names(c)))
      }
    }

  private def asked(c: Int): Double = candidates.asked.getOrElse(names(c), 0.0)

  private def openName(c: Int): String = considered.columns(open.columns(c)).sql
}

private[advise] object Proposals {

  /** Sets of one column, of two, and so on up to this are always shown. */
  private val Tried = 4

  /** If queries read at most this many times the bound, there is nothing to gain. */
  private val InLayout = 1.1

  private def gain(now: QueryShares, after: QueryShares): Double =
    if (now.cost <= 0.0) 0.0 else 1.0 - after.cost / now.cost
}

/** Columns that queries only look single values up in, and that hardly two rows agree in. */
private object PointLookUps {

  /** Sampled values of an identifier: nearly all of them differ. */
  private val Distinct = 0.9

  /** Most rows of a value. With more, most row groups would hold one, and a filter would skip little. */
  private val RowsPerValue = 8.0

  /**
   * @param counts
   *   by column, of the sample
   * @param sampledShare
   *   share of the table's rows that are in the sample
   * @return
   *   their numbers
   */
  def of(queries: Seq[Query], counts: IndexedSeq[ValueCounts], sampledShare: Double): IndexedSeq[Int] =
    counts.indices.filter { c =>
      // that a value is there, every join by this column asks
      val asked =
        queries.flatMap(_.conjunctions).flatMap(_.conditions.get(c)).filter(_ != Condition.IsNotNull)
      asked.nonEmpty && asked.forall(isPoints) &&
      counts(c).distinct > Distinct * counts(c).values && counts(c).rowsPerValue(sampledShare) <= RowsPerValue
    }

  /** Whether a filter of these columns answers the query: each of its conjunctions names a value of one. */
  def serve(columns: Seq[Int])(query: Query): Boolean =
    query.conjunctions.nonEmpty &&
      query.conjunctions.forall(c => columns.exists(c.conditions.get(_).exists(isPoints)))

  private def isPoints(c: Condition): Boolean =
    !c.orNull && c.intervals.nonEmpty && c.intervals.forall(_.isPoint)
}

/**
 * Columns that a table might be partitioned by: few values, each with files enough, asked by most queries.
 */
private[advise] object PartitionColumns {
  private val MostValues = 100

  /** Share of the log's weight. */
  val MostQueries = 0.5

  /**
   * @param counts
   *   by column, of the sample
   * @param asked
   *   by column, the share of the log's weight that asks of it
   * @param oneFile
   *   the share of the rows that a file holds
   * @return
   *   their numbers
   */
  def of(
      counts: IndexedSeq[ValueCounts],
      asked: IndexedSeq[Double],
      sampledRows: Int,
      oneFile: Double): IndexedSeq[Int] =
    counts.indices.filter { c =>
      val n = counts(c).distinct
      asked(c) >= MostQueries && n > 1 && n <= MostValues && counts(c).counts.min >= oneFile * sampledRows
    }
}

/**
 * How often the values of a sampled column were found.
 *
 * @param values
 *   sampled rows that have a value
 * @param counts
 *   one number for each value that differs
 */
final private[advise] case class ValueCounts(values: Int, counts: IndexedSeq[Int]) {
  def distinct: Int = counts.size

  /**
   * Rows of the table that have the same value, about: of a row's equals as many are in the sample as it has
   * of all rows.
   */
  def rowsPerValue(sampledShare: Double): Double =
    1.0 + 2.0 * (values - distinct) / math.max(1, values) / sampledShare
}

private[advise] object ValueCounts {
  def of(column: SampleColumn): ValueCounts = {
    val sorted = column.sorted
    val starts = (0 until sorted.size).filter(i => i == 0 || sorted(i) != sorted(i - 1))
    ValueCounts(
      sorted.size,
      starts.zip(starts.drop(1) :+ sorted.size).map { case (from, until) => until - from })
  }
}

/**
 * Fits layouts on one half of the sampled rows and queries, and evaluates them on the other half.
 *
 * @param queries
 *   over the sample's columns; empty where look-ups and ranges of every column stand for them
 * @param files
 *   of the layouts
 * @param pagesPerFile
 *   mean number of pages in a file
 * @param sampledShare
 *   share of the table's rows that are in the sample
 */
final private class LayoutEvaluator(
    sample: Sample,
    queries: Seq[Query],
    files: Int,
    pagesPerFile: Double,
    sampledShare: Double) {
  private val (toFit, toJudge) = sample.halves
  private val scales: IndexedSeq[Scale] = toFit.scales
  private val rows = toFit.ranked(scales)
  private val (known, unseen) =
    QueryHalves.of(if (queries.isEmpty) DefaultWorkload.of(rows) else RankQueries.of(queries, scales))
  private val heldOut =
    new HeldOut(toJudge.ranked(scales), unseen, files, pagesPerFile, 1.0 - sampledShare / 2)

  val search: ColumnSearch =
    new ColumnSearch(rows, known, queries.nonEmpty, heldOut, files, pagesPerFile)

  private val boundOf = WorkloadShapes.bound(unseen, rows)

  /** The least that the queries could read of this many files if the columns were independent. */
  val bound: Double = boundOf(files.toDouble).share

  /** The bound of the cost of files and pages. */
  val boundCost: Double = ReadCost.of(bound, boundOf(files * pagesPerFile).share)

  /** What the queries read of the files and pages that are there. */
  def now(files: Seq[Block], pages: Seq[Block]): QueryShares =
    heldOut.read(
      RankBlocks.ofZones(files.toIndexedSeq, scales),
      RankBlocks.ofZones(pages.toIndexedSeq, scales))
}

private[advise] object LayoutEvaluator {

  /** Files of fewer sampled rows would all look narrower than they are. */
  private val LeastRows = 20

  /** One half of the rows fits layouts, and the other half judges them; a sample may have fewer than was asked for. */
  val SampledRowsPerFile: Long = 3L * LeastRows

  /** The number of files that a run makes, or fewer if the sample is too small for that many. */
  def files(wanted: Int, sampledRows: Int): Int = math.max(1, math.min(wanted, sampledRows / LeastRows))
}
