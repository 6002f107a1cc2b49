package org.apache.spark.sql.zorder.run.inspect

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils

import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.firstLine
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, UnreadableColumnHints}
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.PinnedPartition

/**
 * Whether this Spark can read columns that not every Spark reads: those with rare codecs or encodings, and those
 * that are wider in other files. Spark is asked to read one file of each kind, and those columns alone; of the
 * files that Spark itself writes, none is in doubt, so no job is run for them.
 */
private[run] object TrialRead {

  /** A column in doubt, and what a failure would be owed to: a codec, an encoding, or (empty) its type. */
  final private case class Doubt(column: String, packing: String)

  /** A sentence about the first column that cannot be read. */
  def problem(
      session: ClassicSession,
      table: ClusterTable,
      union: SchemaUnion,
      footers: Seq[FileFooter]): Option[String] = {
    val doubtful = footers.map(f => f -> doubts(f, union)).filter(_._2.nonEmpty)
    val oneOfEach = doubtful.groupBy { case (f, d) => (f.schema, d) }.values
      .map(_.minBy { case (f, _) => (f.file.length, f.file.path) }).toSeq.sortBy(_._1.file.path)
    def failed(footer: FileFooter, of: Set[Doubt]): Option[Throwable] = {
      val columns = StructType(union.schema.filter(f => of.exists(_.column == f.name)))
      failure(session, table, footer, columns)
    }
    oneOfEach.iterator.map { case (footer, doubts) =>
      failed(footer, doubts).map { why =>
        val (culprit, cause) =
          if (doubts.size == 1) (doubts.head, why)
          else
            doubts.toSeq.sortBy(d => (d.column, d.packing)).iterator.map(d =>
              failed(footer, Set(d)).map(d -> _))
              .collectFirst { case Some(found) => found }.getOrElse(doubts.head -> why)
        sentence(footer, culprit, union, cause, session.sessionState.conf.parquetVectorizedReaderEnabled)
      }
    }.collectFirst { case Some(problem) => problem }
  }

  private def doubts(footer: FileFooter, union: SchemaUnion): Set[Doubt] =
    footer.packed.map { case (column, packing) => Doubt(column, packing) } ++
      widened(footer, union).map(Doubt(_, ""))

  private def widened(footer: FileFooter, union: SchemaUnion): Set[String] =
    if (union.widened.isEmpty) Set.empty else union.widened.getOrElse(footer.schema, Set.empty)

  /** Reads the columns of the file. */
  private def failure(
      session: ClassicSession,
      table: ClusterTable,
      footer: FileFooter,
      columns: StructType): Option[Throwable] =
    try {
      val file = PinnedPartition(footer.file.partition, Seq(footer.file))
      val rows = table.rows(session, IndexedSeq(file), columns)
      val wanted = rows.output.filter(a => columns.fieldNames.contains(a.name))
      Shims.ofRows(session, Project(wanted, rows.plan)).queryExecution.toRdd.foreach(_ => ())
      None
    } catch { case NonFatal(e) => Some(e) }

  private def sentence(
      footer: FileFooter,
      doubt: Doubt,
      union: SchemaUnion,
      e: Throwable,
      vectorized: Boolean): String = {
    val file = footer.file.path
    if (doubt.packing.nonEmpty)
      s"Column ${doubt.column} of file $file is packed with ${doubt.packing}, which this Spark cannot read " +
        s"(${firstLine(ExceptionUtils.getThrowables(e).last)}): ${UnreadableColumnHints.otherPacking(doubt.packing, vectorized)}."
    else {
      val here = footer.schema.spark(doubt.column).dataType.catalogString
      val elsewhere = union.schema(doubt.column).dataType.catalogString
      s"Column ${doubt.column} is $here in file $file and $elsewhere in others or in the catalog, and this " +
        "Spark cannot read the one as the other: bring the files to one type first."
    }
  }
}
