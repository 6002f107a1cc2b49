package org.apache.spark.sql.zorder.insight.audit

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.measure.{LevelBlocks, Rounded}
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.clustering.select.{ColumnBounds, FileMatch, WhereCondition}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, Footers, PageIndex, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import sparkzorder.curve.Block

/**
 * What a query with this filter reads of a table, by the statistics that Parquet's own readers use: no file
 * is opened for more than its footer and page indexes.
 *
 * @param filter
 *   a condition on columns of one row, as behind WHERE
 */
final private[audit] class FilterAudit(session: ClassicSession, table: ClusterTable, filter: String) {
  private val partitioning = table.partitionSchema.fieldNames.toSeq
  private val where =
    WhereCondition.resolve(session, table.name, table.schema, partitioning, filter).inferred
  private val names: Map[String, Int] = where.paths.map(ColumnPath.sql).zipWithIndex.toMap
  private val columns = where.paths.map(StatColumn.in(table.schema, _)).toIndexedSeq
  private val all = columns.indices
  private val wanted = all.map(Option(_))

  /** One row for each level, from files to pages. */
  def rows(): Seq[Row] = {
    val files = table.files()
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val inFile = where.inEach(files, table, zone)
    def mayMatch(f: FileFooter)(block: Block): Boolean =
      new FileMatch(bounds(block)).mayMatch(inFile(f.file.path))

    val footers = Footers.read(session, files, columns)
    val read = footers.filter(f => mayMatch(f)(f.block(wanted)))
    val groups = read.map(f => f -> f.rowGroupBlocks(wanted).map(b => b -> mayMatch(f)(b)))
    val ofGroups = groups.flatMap(_._2).filter(_._2).map(_._1.rows)
    // a file of which nothing is known is read whole
    val (opaque, plain) = groups.filter(_._2.exists(_._2)).partition(_._1.opaque)
    val pages =
      if (columns.isEmpty) Nil
      else PageIndex.read(session, plain.map(_._1.file), columns).zip(plain).map {
        case (pages, (f, blocks)) =>
          OpenedPages.of(pages, all, blocks.map { case (b, met) => b.rows -> met }, mayMatch(f))
      }
    val whollyRead = if (columns.isEmpty) ofGroups.sum else opaque.map(_._1.rows).sum
    val rows = footers.map(_.rows).sum
    Seq(
      row(LevelBlocks.File, files.length.toLong, read.length.toLong, rows, read.map(_.rows).sum),
      row(
        LevelBlocks.RowGroup,
        footers.map(f => if (f.opaque) 1L else f.rowGroups.length.toLong).sum,
        ofGroups.length.toLong,
        rows,
        ofGroups.sum),
      row(
        LevelBlocks.Page,
        pages.map(_.considered).sum,
        pages.map(_.read).sum,
        rows,
        pages.map(_.rows).sum + whollyRead)
    )
  }

  private def row(level: String, considered: Long, read: Long, rows: Long, rowsRead: Long): Row =
    Row(level, considered, read, rows, rowsRead, if (rows == 0) null else Rounded(rowsRead.toDouble / rows))

  private def bounds(block: Block)(sql: String): ColumnBounds = names.get(sql) match {
    case Some(c) => ColumnBounds.of(block, c)
    case None => ColumnBounds.Unknown
  }
}

private[zorder] object FilterAudit {
  val schema: StructType = new StructType()
    .add("level", StringType).add("total_count", LongType).add("read_count", LongType)
    .add("total_rows", LongType).add("read_rows", LongType).add("share", DoubleType)
}

/**
 * The pages of one file that are read.
 *
 * @param considered
 *   the pages of the columns of the filter
 * @param rows
 *   in which no page of any of these columns is ruled out
 */
final private case class OpenedPages(considered: Long, read: Long, rows: Long)

private object OpenedPages {

  /**
   * @param columns
   *   numbers of the columns that the filter names
   * @param groups
   *   rows of each row group, and whether it is read at all
   */
  def of(
      pages: FilePages,
      columns: IndexedSeq[Int],
      groups: Seq[(Long, Boolean)],
      mayMatch: Block => Boolean): OpenedPages = {
    val ends = groups.map(_._1).scanLeft(0L)(_ + _).tail.toArray
    val isRead = groups.map(_._2).toArray
    var group = 0
    var at = 0L
    // rows that are read, from and until
    val read = pages.runs(columns.map(Some(_))).flatMap { run =>
      val from = at
      at += run.rows
      // a row group begins a page of every column
      while (group + 1 < ends.length && ends(group) <= from) group += 1
      if (isRead(group) && mayMatch(run)) Some(from -> at) else None
    }.toArray
    val opened = columns.map(c => count(pages.columns(c).map(_.rows), read))
    OpenedPages(columns.map(pages.columns(_).length.toLong).sum, opened.sum, read.map(r => r._2 - r._1).sum)
  }

  /** The pages of these lengths that hold a row of the ascending ranges. */
  private def count(pages: Seq[Long], ranges: Array[(Long, Long)]): Long = {
    var next = 0
    pages.scanLeft(0L)(_ + _).sliding(2).count {
      case Seq(from, until) =>
        while (next < ranges.length && ranges(next)._2 <= from) next += 1
        next < ranges.length && ranges(next)._1 < until
      case _ => false
    }.toLong
  }
}
