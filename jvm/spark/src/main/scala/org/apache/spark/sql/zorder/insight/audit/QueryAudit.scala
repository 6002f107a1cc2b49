package org.apache.spark.sql.zorder.insight.audit

import scala.util.Try

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.normalized.NormalizedBytesType
import org.apache.spark.sql.zorder.stats.measure.Rounded
import org.apache.spark.sql.zorder.insight.audit.read.{AuditedColumns, FileReading}
import org.apache.spark.sql.zorder.clustering.fit.{BytesSample, LongSample, Sample, SampleColumn}
import org.apache.spark.sql.zorder.clustering.inspect.Probes
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.{ColumnResolver, RunStatistics}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.clustering.draw.{DrawnCondition, DrawnQueries, LogColumns, ResolvedColumn}
import org.apache.spark.sql.zorder.querylog.{ConditionKind, LoggedCondition, LoggedQuery, QueryLog}
import org.apache.spark.sql.zorder.skipping.predicate.MonotoneFunction
import sparkzorder.curve.{Block, Evenly, NormalizedBytes, NormalizedLong, NormalizedValue}

/**
 * What the queries of a log ask of a table, and what they read of it as it is, from metadata alone.
 *
 * @param log
 *   of this table alone
 */
final private[audit] class QueryAudit(session: ClassicSession, table: ClusterTable, log: QueryLog) {
  private lazy val logged = LogColumns.of(session, table.schema, log)
  private lazy val partitions = new PartitionConditions(session, table, logged)
  private lazy val weight = log.queries.map(_.weight).sum

  /** Each shape of query, the one first that a layout could spare most. */
  def rows(): Seq[QueryRow] = {
    val all = table.files().toIndexedSeq
    val columns = withBounds(all.length)
    val files = FileReading.filesOnly(session, table, all, columns)
    val blocks = files.map(f => partitions.addedTo(f.whole, f.file.partition))
    val names = columns.names ++ partitions.names
    val types = columns.stats.map(_.dataType)
    val sample = ZoneSample.of(blocks, types ++ partitions.types)
    val shapes =
      if (blocks.isEmpty) Nil else DrawnQueries.drawing(log, logged, names.map(resolved))(sample).shapes
    val reads = new PartitionedReads(files.map(_.file.partition).zip(blocks), types)
    val each = shapes.map { g =>
      val (share, bound) = reads.shareAndBound(g.queries)
      QueryRow(g.text, g.weight, share, bound)
    }
    each.sortBy(q => (-q.excess, -q.weight, q.query))
  }

  /** The columns that the queries ask, beside those that are audited. */
  def columnShares(columns: AuditedColumns): LoggedColumnShares = {
    // an expression by which the table is clustered serves queries of it, which its columns tell
    val audited = (columns.columns.flatMap(_.path) ++ columns.by.flatMap(pathsIn)).toSet
    // a function of a column is asked of that column: other columns would not serve it
    val reads = log.columns.filter { text =>
      (pathsIn(text) ++ stored.get(text).toSeq.map(_._2)).exists(audited)
    }.toSet
    def isBeside(q: LoggedQuery): Boolean =
      q.asked.nonEmpty && !q.asked.exists(c => reads(c.column)) && !partitions.only(q)
    val beside = log.queries.filter(isBeside).map(_.weight).sum
    LoggedColumnShares(shares, if (weight <= 0.0) 0.0 else beside / weight)
  }

  private def isKnown(c: LoggedCondition): Boolean =
    c.kind != ConditionKind.Other && DrawnCondition.isExact(c)

  /**
   * The log's columns with bounds in files, those that most queries ask first: as many as the driver holds of so many
   * files.
   */
  private def withBounds(files: Int): AuditedColumns = {
    val most = math.max(QueryAudit.LeastAudited, RunStatistics.mostColumns(files))
    // one that is refused leaves the others
    val each = shares.take(most).flatMap { case (name, _) =>
      Try(AuditedColumns.of(session, table, Some(name))).toOption
    }
    AuditedColumns(
      each.flatMap(_.columns).toIndexedSeq,
      each.flatMap(_.stats).toIndexedSeq,
      each.flatMap(_.by),
      each.flatMap(_.notes))
  }

  /** See [[LoggedColumnShares]]. */
  private lazy val shares: Seq[(String, Double)] = {
    def asks(q: LoggedQuery): Set[Seq[String]] =
      // of a function of a column, only values of the log tell which files are read
      q.asked.filter(c => columns.contains(c.column) || isKnown(c))
        .flatMap(c => stored.get(c.column).map(_._2)).toSet
    val each = stored.values.toSeq.distinct.filter { case (_, path) =>
      ParquetZones.bounds(StatColumn.in(table.schema, path).dataType)
    }.map { case (sql, path) => sql -> log.queries.filter(asks(_)(path)).map(_.weight).sum / weight }
    each.filter(_._2 > 0.0).sortBy { case (sql, share) => (-share, sql) }
  }

  /**
   * The name and the path of each column, by its text in the log; none for expressions, partition columns and
   * what is no column of the table.
   */
  private lazy val columns: Map[String, (String, Seq[String])] =
    log.columns.flatMap(text => columnOf(text).map(text -> _)).toMap

  /** [[columns]], and the columns whose order a function keeps, by the function's text. */
  private lazy val stored: Map[String, (String, Seq[String])] = columns ++ log.columns
    .filterNot(columns.contains).flatMap { text =>
      val ordered = logged.byText.get(text).flatMap(r => MonotoneFunction.of(r.expression))
      ordered.flatMap(f => columnOf(f.column.sql)).map(text -> _)
    }

  private def columnOf(sql: String): Option[(String, Seq[String])] =
    Try(ColumnResolver.resolve(session, table, table.schema, Seq(sql)).head).toOption
      .flatMap(c => c.path.map(c.sql -> _))

  private def resolved(text: String): Option[ResolvedColumn] =
    logged.byText.get(text).orElse(ResolvedColumn.of(session, table.schema, text))

  /** The columns that a text reads, an expression of them included. */
  private def pathsIn(text: String): Seq[Seq[String]] =
    resolved(text).fold(Seq.empty[Seq[String]])(_.paths)
}

private[audit] object QueryAudit {

  /** So many columns are read of any number of files. */
  private val LeastAudited = 16

  /** A sentence on the log as a whole. */
  def summary(rows: Seq[QueryRow]): Option[String] = {
    val weight = rows.map(_.weight).sum
    def mean(of: QueryRow => Double) = HumanReadable.percent(rows.map(q => q.weight * of(q)).sum / weight)
    if (weight <= 0.0) None
    else Some(
      s"The queries of the log read ${mean(_.share)} of the rows on average; the least possible is about ${mean(_.bound)}.")
  }
}

/**
 * What queries of one shape read of a table.
 *
 * @param query
 *   their filter without values
 * @param weight
 *   their part of the log
 * @param share
 *   the part of the rows that is in files which their filter does not rule out
 * @param bound
 *   the least share with a layout that is made for them alone
 */
final private[audit] case class QueryRow(query: String, weight: Double, share: Double, bound: Double) {

  /** Worth a look, and something that a layout can mend. */
  def alert: Boolean = share > QueryRow.Much && share > QueryRow.Times * bound

  /** What a layout might spare. */
  def excess: Double = weight * math.max(0.0, share - bound)

  def row: Row =
    Row(query, Rounded(weight), Rounded(share), Rounded(bound), alert, reason)

  private def reason: String =
    if (alert) "A layout made for it could read much less."
    else if (share <= QueryRow.Much) "It reads little."
    else "No layout helps much: the filter holds for many rows, or asks no column by its values."
}

private[zorder] object QueryRow {
  private val Much = 0.3
  private val Times = 1.5

  val schema: StructType = new StructType()
    .add("query", StringType).add("weight", DoubleType).add("share", DoubleType).add("bound", DoubleType)
    .add("alert", BooleanType).add("reason", StringType)
}

/**
 * What the queries of a log ask.
 *
 * @param shares
 *   columns with bounds, each with its part of the log's weight, the heaviest first
 * @param beside
 *   the part of the weight of queries that filter none of the audited columns or of their functions, but
 *   other columns than partitions have
 */
final private[audit] case class LoggedColumnShares(shares: Seq[(String, Double)], beside: Double) {

  /** The columns that a layout would be made by. */
  def worthwhile: Seq[String] =
    shares.filter(_._2 >= LoggedColumnShares.LeastShare).map(_._1).take(LoggedColumnShares.MostColumns)
}

private[audit] object LoggedColumnShares {
  private val LeastShare = 0.1
  private val MostColumns = 4
}

/**
 * Rows as files of these bounds might hold them, where no data is read: some of each of at most 2,500 files.
 */
private[audit] object ZoneSample {
  private val MostFiles = 2500
  private val RowsOfAFile = 4

  /** @param types those of the first columns, which are taken; without any, the sample has no rows */
  def of(files: IndexedSeq[Block], types: IndexedSeq[DataType]): Sample = of(files, types, types.indices)

  /** @param columns the places of those that are taken */
  def of(files: IndexedSeq[Block], types: IndexedSeq[DataType], columns: Seq[Int]): Sample = {
    val some = Evenly.take(files, MostFiles)
    if (columns.isEmpty) Sample(IndexedSeq(column(LongType, IndexedSeq.empty)))
    else Sample(columns.toIndexedSeq.map(c => column(types(c), some.flatMap(values(_, c)))))
  }

  /** Each column begins at another of its values, or rows would lie on the diagonals of the boxes. */
  private def values(block: Block, c: Int): IndexedSeq[Option[NormalizedValue]] = {
    val found = Probes.of(block.zones(c)).toIndexedSeq
    (0 until RowsOfAFile).map(i =>
      if (found.isEmpty) None else Some(found((i * (2 * c + 1) + c) % found.length)))
  }

  private def column(dataType: DataType, normalized: IndexedSeq[Option[NormalizedValue]]): SampleColumn = {
    val isNull = normalized.map(_.isEmpty).toArray
    Normalization.of(dataType) match {
      case Some(_: NormalizedBytesType) =>
        BytesSample(
          normalized.map { case Some(NormalizedBytes(b)) => b; case _ => Array.emptyByteArray }.toArray,
          isNull)
      case _ => LongSample(normalized.map { case Some(NormalizedLong(v)) => v; case _ => 0L }.toArray, isNull)
    }
  }
}
