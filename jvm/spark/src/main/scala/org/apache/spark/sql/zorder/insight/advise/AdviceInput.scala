package org.apache.spark.sql.zorder.insight.advise

import scala.util.Try

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.clustering.fit.{BytesSample, LongSample, Sample, SampleColumn}
import org.apache.spark.sql.zorder.clustering.forecast.Sampling
import org.apache.spark.sql.zorder.clustering.inspect.Inspection
import org.apache.spark.sql.zorder.clustering.plan.{FilePlan, SizedPartition}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.{
  ClusterColumn,
  ColumnResolver,
  Progress,
  RunStatistics
}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, Footers, PageIndex, StatColumn}
import org.apache.spark.sql.zorder.stats.measure.{ColumnReads, RankedColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.clustering.draw.DrawnQueries
import org.apache.spark.sql.zorder.querylog.QueryLog
import sparkzorder.curve.{Block, Zone}
import sparkzorder.curve.cost.Query

/**
 * The sampled rows that the advice on a table is based on, and the queries on them.
 *
 * @param judged
 *   the partition; the whole table where it has none
 * @param columns
 *   numbers among the considered columns: those with more than one value in the sample
 * @param sample
 *   of these columns
 * @param sampledShare
 *   share of the partition's rows
 * @param queries
 *   of the log, over these columns; empty without one
 * @param freeText
 *   names of columns that are left out, since they are not looked up
 */
final private[advise] case class AdviceInput(
    judged: SizedPartition,
    rows: Long,
    columns: IndexedSeq[Int],
    sample: Sample,
    sampledShare: Double,
    queries: Seq[Query],
    freeText: Seq[String],
    private val footers: Seq[FileFooter],
    private val pages: Seq[FilePages]) {

  /** Restricts the input to some of its columns and queries. */
  def of(chosen: IndexedSeq[Int], keep: Query => Boolean): AdviceInput = copy(
    columns = chosen.map(columns(_)),
    sample = sample.select(chosen),
    queries = queries.filter(keep).map(_.over(chosen)))

  /** The files as they are, with the zones of these columns. */
  def files: Seq[Block] = footers.map(_.block(columns.map(Some(_))))

  /** Rows as the pages of these columns part them, of a part of the files. */
  def pageBlocks: Seq[Block] = pages.flatMap(_.runs(columns.map(Some(_))))
}

private[advise] object AdviceInput {
  private val SampledRows = 50000L
  private val MostSampledRows = 400000L

  /** Page indexes of this many files represent the pages of the table. */
  private val PageIndexFiles = 200

  /** @param pinned the session to read in */
  def apply(
      pinned: ClassicSession,
      user: ClassicSession,
      table: ClusterTable,
      considered: ScreenedCandidates,
      plan: FilePlan,
      log: Option[QueryLog],
      progress: Progress): AdviceInput = {
    val input = considered.input
    val judged = plan.partitions.maxBy(p => input.rows(p.partition))
    val one = plan.copy(partitions = IndexedSeq(judged))
    val rows = input.rows(judged.partition)
    val source = input.relation(one)
    val names = considered.columns.map(_.sql)
    val columns =
      ColumnResolver.on(user, table.name, source.plan, table.constantColumns, names)
    val sampled = progress.step("sample") {
      val wanted = judged.files * LayoutEvaluator.SampledRowsPerFile
      val most = math.max(SampledRows, math.min(MostSampledRows, wanted))
      val sampled = Sampling.withinMemory(most, columns, input.footersOf(one), input.statistics)
      Sampling.about(sampled, pinned, source, columns, one, IndexedSeq(rows))
    }(_.summary)
    val sample = sampled.partitions.head
    val pages = progress.step("pages") {
      PageIndex.ofSome(pinned, judged.partition.files, considered.statColumns, PageIndexFiles)
    }(p => s"page indexes of ${HumanReadable.count(p.length.toLong, "file")}")
    val all = AdviceInput(
      judged,
      rows,
      names.indices,
      sample,
      sampled.share,
      log.fold(Seq.empty[Query])(DrawnQueries.of(user, table.schema, _, names, sample).queries),
      freeText = Nil,
      input.footersOf(one),
      pages)
    val varying = names.indices.filter { c =>
      val counts = ValueCounts.of(sample.columns(c))
      counts.distinct > 1 || counts.distinct == 1 && counts.values < sample.rows
    }
    if (log.isDefined) all.of(varying, _ => true)
    else {
      val (texts, others) = varying.partition(c => FreeText.is(sample.columns(c)))
      all.of(mostDistinct(sample, others), _ => true).copy(freeText = texts.map(names(_)))
    }
  }

  private def mostDistinct(sample: Sample, columns: IndexedSeq[Int]): IndexedSeq[Int] =
    columns.sortBy(c => -ValueCounts.of(sample.columns(c)).distinct).take(CandidateColumns.MostAsked).sorted
}

/**
 * Comments, descriptions, documents, and long ids such as UUIDs: texts that tell nearly every row from the others, of
 * several words or long. A log may ask for them, but advice without a log does not guess so: nobody asks for ranges of
 * them, and of ids a Bloom filter finds one.
 */
private[advise] object FreeText {
  private val Half = 0.5
  private val Spaces = 2
  private val Long = 32

  def is(column: SampleColumn): Boolean = column match {
    case BytesSample(normalized, isNull) =>
      val values = normalized.indices.filterNot(isNull(_)).map(normalized(_))
      val wordy = values.count(v => v.length >= Long || v.count(_ == ' '.toByte) >= Spaces)
      values.nonEmpty && wordy > Half * values.size && ValueCounts.of(column).distinct > Half * values.size
    case _ => false
  }
}

/**
 * The columns that a table might be clustered by.
 *
 * @param columns
 *   with a log, the columns in its queries' filters, the most frequent first; else every column that has an
 *   order
 * @param asked
 *   share of the log's weight that asks of a column; empty without a log
 * @param partitions
 *   the same for the table's partition columns
 */
final private[advise] case class CandidateColumns(
    columns: Seq[ClusterColumn],
    asked: Map[String, Double],
    partitions: Seq[(String, Double)])

private[advise] object CandidateColumns {

  /** The number of columns of a log to consider. */
  val MostAsked = 8

  /** Without a log, the statistics of this many columns are read. */
  private val MostScreened = 64

  def of(session: ClassicSession, table: ClusterTable, log: Option[QueryLog]): CandidateColumns =
    log.fold(CandidateColumns(ordered(session, table), Map.empty, Nil))(asked(session, table, _))

  private def asked(session: ClassicSession, table: ClusterTable, log: QueryLog): CandidateColumns = {
    val weights = DrawnQueries.of(session, table.schema, log, Nil, NoRows).others
    val same = session.sessionState.conf.resolver
    val (partitions, data) =
      weights.partition { case (name, _) =>
        table.constantColumns.exists(p => same(ColumnPath.sql(Seq(p)), name))
      }
    val known = data.flatMap { case (name, weight) => column(session, table, name).map(_ -> weight) }
    CandidateColumns(
      known.map(_._1).take(MostAsked),
      known.map { case (c, w) => c.sql -> w }.toMap,
      partitions)
  }

  /**
   * Expressions have no statistics to compare with, and what is no column of the table cannot be clustered
   * by.
   */
  private def column(session: ClassicSession, table: ClusterTable, name: String): Option[ClusterColumn] =
    Try(ColumnResolver.resolve(session, table, table.schema, Seq(name)).head).toOption.filter(_.path.nonEmpty)

  /** The first columns that have an order. */
  def ordered(session: ClassicSession, table: ClusterTable): Seq[ClusterColumn] = {
    val data = table.schema.filterNot(f => table.constantColumns.contains(f.name))
    val names = ColumnResolver.orderedPaths(data).map(ColumnPath.sql)
    names.take(MostScreened).flatMap(column(session, table, _))
  }

  /** A sample without rows, to ask a log for its columns. */
  private val NoRows = Sample(IndexedSeq(LongSample(Array.emptyLongArray, Array.emptyBooleanArray)))
}

/**
 * The candidate columns that have useful statistics, by the footers.
 *
 * @param input
 *   its statistics are those of the kept columns
 * @param passedOver
 *   columns without statistics or with a single value
 * @param inOrder
 *   columns in whose order the files of the largest partition lie, candidates or not
 */
final private[advise] case class ScreenedCandidates(
    input: Inspection,
    columns: Seq[ClusterColumn],
    statColumns: Seq[StatColumn],
    passedOver: Seq[String],
    inOrder: Seq[String])

private[advise] object ScreenedCandidates {

  /**
   * @param session
   *   the pinned one
   * @param others
   *   columns whose order a layout would give up
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   the sentence with which a run would refuse these files
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      files: Seq[DataFile],
      candidates: Seq[ClusterColumn],
      others: Seq[ClusterColumn],
      options: RunOptions): ScreenedCandidates = {
    // of very many files, the driver holds statistics of a few columns alone
    val screened = candidates.take(math.max(1, RunStatistics.mostColumns(files.length)))
    val watched = screened ++ beside(screened, others, files.length)
    val stats = RunStatistics.ofClustering(table.schema, watched).columns
    val footers = Footers.read(session, files, stats)
    val useful = screened.indices.filter(c => tellsApart(footers.map(_.zone(c))))
    val columns = useful.map(screened(_))
    val narrowed = footers.map(keep(_, useful))
    val input =
      Inspection(
        session,
        table,
        narrowed,
        RunStatistics.ofClustering(table.schema, columns),
        options)
    if (input.isEmpty) refuse("ZORDER_CANNOT_ADVISE.NO_ROWS", "table" -> table.name)
    val largest = footers.groupBy(_.file.partition).values.maxBy(_.map(_.rows).sum)
    val inOrder = watched.indices.filter(c => isInOrder(largest, c)).map(watched(_).sql)
    ScreenedCandidates(
      input,
      columns,
      useful.map(stats(_)),
      screened.diff(columns).map(_.sql),
      inOrder)
  }

  /** The others, of as many files as there are: no more of them than the driver holds statistics of. */
  def beside(
      candidates: Seq[ClusterColumn],
      others: Seq[ClusterColumn],
      files: Int): Seq[ClusterColumn] =
    others.filterNot(o => candidates.exists(_.sql == o.sql))
      .take(math.max(0, RunStatistics.mostColumns(files) - candidates.length))

  /** A look-up of this column opens about one file. */
  private def isInOrder(footers: Seq[FileFooter], column: Int): Boolean = {
    val ranked = RankedColumn.of(footers.map(_.zone(column)).toIndexedSeq)
    val rows = footers.map(_.rows).toArray
    footers.length >= FewestInOrder && ranked.scale.size > 1 &&
    new ColumnReads(ranked, rows, ranked, rows).lookUpShare.exists(_ * footers.length <= OneFile)
  }

  /** Fewer files are in some order by chance. */
  private val FewestInOrder = 4
  private val OneFile = 1.5

  /** Some file is known to hold other values than another, or more than one itself. */
  private def tellsApart(zones: Seq[Zone]): Boolean = {
    val known = zones.collect { case z: Zone.Between => z }
    known.exists(z => z.min != z.max) || known.distinct.size > 1
  }

  private def keep(footer: FileFooter, columns: Seq[Int]): FileFooter =
    footer.copy(rowGroups = footer.rowGroups.map { g =>
      g.copy(
        zones = columns.map(g.zones(_)).toIndexedSeq,
        nullFree = columns.indices.filter(i => g.nullFree(columns(i))).toSet)
    })
}
