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
import org.apache.spark.sql.zorder.clustering.request.ColumnResolver
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.clustering.draw.{DrawnQueries, ResolvedColumn}
import org.apache.spark.sql.zorder.querylog.{LoggedQuery, QueryLog}
import sparkzorder.curve.{Block, NormalizedBytes, Evenly, NormalizedLong, NormalizedValue}

/** What the queries of a log read of a table as it is, from metadata alone. */
private[audit] object QueryAudit {

  /** More columns than these no layout is made for. */
  private val MostColumns = 16

  /**
   * Each shape of query, the one first that a layout could spare most.
   *
   * @param log
   *   of this table alone
   */
  def rows(session: ClassicSession, table: ClusterTable, log: QueryLog): Seq[QueryRow] = {
    val columns = asked(session, table, log)
    val partitions = new PartitionConditions(session, table, log)
    val files = FileReading.filesOnly(session, table, columns)
    val blocks = files.map(f => partitions.addedTo(f.whole, f.file.partition))
    val names = columns.names ++ partitions.names
    val types = columns.stats.map(_.dataType)
    val sample = ZoneSample.of(blocks, types ++ partitions.types)
    val shapes =
      if (blocks.isEmpty) Nil else DrawnQueries.of(session, table.schema, log, names, sample).shapes
    val reads = new PartitionedReads(files.map(_.file.partition).zip(blocks), types)
    val each = shapes.map { g =>
      val (share, bound) = reads.shareAndBound(g.queries)
      QueryRow(g.text, g.weight, share, bound)
    }
    each.sortBy(q => (-q.excess, -q.weight, q.query))
  }

  /** A sentence on the log as a whole. */
  def summary(rows: Seq[QueryRow]): Option[String] = {
    val weight = rows.map(_.weight).sum
    def mean(of: QueryRow => Double) = HumanReadable.percent(rows.map(q => q.weight * of(q)).sum / weight)
    if (weight <= 0.0) None
    else Some(
      s"The queries of the log read ${mean(_.share)} of the rows on average; the least possible is about ${mean(_.bound)}.")
  }

  /** The log's columns with bounds in files, those that most queries ask first. */
  private def asked(session: ClassicSession, table: ClusterTable, log: QueryLog): AuditedColumns = {
    val names =
      LoggedColumnShares.of(session, table, AuditedColumns.none, log).shares.map(_._1).take(MostColumns)
    if (names.isEmpty) AuditedColumns.none
    else Try(AuditedColumns.of(session, table, Some(names.mkString(", ")))).getOrElse(AuditedColumns.none)
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
 *   the part of the weight of queries that filter none of the audited columns or of their functions, but other columns
 *   than partitions have
 */
final private[audit] case class LoggedColumnShares(shares: Seq[(String, Double)], beside: Double) {

  /** The columns that a layout would be made by. */
  def worthwhile: Seq[String] =
    shares.filter(_._2 >= LoggedColumnShares.LeastShare).map(_._1).take(LoggedColumnShares.MostColumns)
}

private[audit] object LoggedColumnShares {
  private val LeastShare = 0.1
  private val MostColumns = 4

  /** @param log of this table alone */
  def of(
      session: ClassicSession,
      table: ClusterTable,
      columns: AuditedColumns,
      log: QueryLog): LoggedColumnShares = {
    val all = log.queries.map(_.weight).sum
    val partitions = new PartitionConditions(session, table, log)
    val texts = log.queries.flatMap(_.boxes).flatten.map(_.column).distinct
    val paths = texts.flatMap(t => resolved(session, table, t).map(t -> _)).toMap
    def asks(q: LoggedQuery): Set[Seq[String]] =
      q.boxes.flatten.flatMap(c => paths.get(c.column).map(_._2)).toSet
    // an expression by which the table is clustered serves queries of it, which its columns tell
    val audited = (columns.columns.flatMap(_.path) ++ columns.by.flatMap(readBy(session, table, _))).toSet
    // a function of a column is asked of that column: other columns would not serve it
    val reads = texts.filter { t =>
      (readBy(session, table, t) ++ paths.get(t).toSeq.map(_._2)).exists(audited)
    }.toSet
    def serves(q: LoggedQuery): Boolean = q.boxes.flatten.exists(c => reads(c.column))
    val beside = log.queries.filter(q => !serves(q) && !partitions.only(q)).map(_.weight).sum
    val each = paths.values.toSeq.distinct.filter { case (_, path) =>
      ParquetZones.bounds(StatColumn.in(table.schema, path).dataType)
    }.map { case (sql, path) => sql -> log.queries.filter(asks(_)(path)).map(_.weight).sum / all }
    LoggedColumnShares(
      each.sortBy { case (sql, part) => (-part, sql) },
      if (all <= 0.0) 0.0 else beside / all)
  }

  /** The columns that a text of the log reads, an expression of them included. */
  private def readBy(session: ClassicSession, table: ClusterTable, text: String): Seq[Seq[String]] =
    ResolvedColumn.of(session, table.schema, text).fold(Seq.empty[Seq[String]])(_.paths)

  /** None for expressions, partition columns and what is no column of the table. */
  private def resolved(
      session: ClassicSession,
      table: ClusterTable,
      text: String): Option[(String, Seq[String])] =
    Try(ColumnResolver.resolve(session, table, table.schema, Seq(text)).head).toOption
      .flatMap(c => c.path.map(c.sql -> _))
}

/** Rows as files of these bounds might hold them, where no data is read: some of each of at most 2,500 files. */
private[audit] object ZoneSample {
  private val MostFiles = 2500
  private val RowsOfAFile = 4

  /** @param types those of the first columns, which are taken; without any, the sample has no rows */
  def of(files: IndexedSeq[Block], types: IndexedSeq[DataType]): Sample = {
    val some = Evenly.some(files, MostFiles)
    if (types.isEmpty) Sample(IndexedSeq(column(LongType, IndexedSeq.empty)))
    else Sample(types.indices.map(c => column(types(c), some.flatMap(values(_, c)))))
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
