package org.apache.spark.sql.zorder.insight.audit.read

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.stats.measure.Spacing
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.clustering.fit.TruncatedBounds
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, ColumnResolver}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index.{ColumnRanges, FileKeys, IndexStore, StatisticsIndex}
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, Footers, PageIndex, StatColumn}
import org.apache.spark.sql.zorder.table.{ClusterTable, ClusteredBy}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import sparkzorder.curve.{Block, Evenly, NormalizedBytes, NormalizedLong, NormalizedValue, Zone}

/**
 * The files of a table with what is known of them: from the statistics index where it has an entry of the
 * very file, and from footers, read in one job, where it has none. Pages are those of an even sample of
 * files.
 */
private[audit] object FileReading {

  /** Page indexes of so many files are read. */
  val SampledFiles = 100

  /** @param notes what to say about where the figures come from */
  final case class Read(files: IndexedSeq[AuditedFile], indexed: Boolean, notes: Seq[String])

  def of(session: ClassicSession, table: ClusterTable, columns: AuditedColumns): Read = {
    val files = table.files().toIndexedSeq
    val index = indexOf(session, table)
    val known = index.fold(Map.empty[String, Block])(entries(_, table, columns, files))
    val sample = Evenly.take(files, SampledFiles)
    val sampled = sample.map(_.path).toSet
    // the footers of the sample are read along with the others': they have the row groups
    val read = footers(session, files.filter(f => !known.contains(f.path) || sampled(f.path)), columns)
    // what has no readable footer has no readable page index
    val paged = sample.filter(f => read.get(f.path).exists(!_.opaque))
    val pages = PageIndex.read(session, paged, columns.stats).map(p => p.file.path -> p).toMap
    val found = files.map(f => audited(f, known.get(f.path), read.get(f.path), pages.get(f.path), columns))
      .filter(f => f.whole.rows > 0 || f.lacksStatistics)
    val encrypted = read.values.count(_.encrypted)
    Read(found, index.isDefined, notes(files.length, known.size, sample.length, encrypted))
  }

  /** Reads bounds of files only, without row groups and pages. */
  def filesOnly(
      session: ClassicSession,
      table: ClusterTable,
      files: IndexedSeq[DataFile],
      columns: AuditedColumns): IndexedSeq[AuditedFile] = {
    val known = indexOf(session, table).fold(Map.empty[String, Block])(entries(_, table, columns, files))
    val read = footers(session, files.filterNot(f => known.contains(f.path)), columns)
    files.map(f => audited(f, known.get(f.path), read.get(f.path), None, columns))
  }

  private def footers(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: AuditedColumns): Map[String, FileFooter] =
    Footers.read(session, files, columns.stats).map(f => f.file.path -> f).toMap

  /** Files without row groups are left out; of an opaque one nothing is known. */
  private def audited(
      file: DataFile,
      known: Option[Block],
      footer: Option[FileFooter],
      pages: Option[FilePages],
      columns: AuditedColumns): AuditedFile = {
    val wanted = columns.stats.indices.map(Option(_))
    val whole = known.orElse(footer.map(_.block(wanted))).get
    val groups = footer.map(_.rowGroupBlocks(wanted).toIndexedSeq)
    AuditedFile(file, whole, groups, pages, footer.exists(_.encrypted))
  }

  private def indexOf(session: ClassicSession, table: ClusterTable): Option[StatisticsIndex] = table match {
    case plain: ParquetTable => IndexStore.of(session, plain.root).newestReadable()
    case _ => None
  }

  /**
   * The files that the index knows, if it has every column, by their paths. Where a NaN may hide, the index
   * has it for an upper bound, and an audit takes the bounds of the footer.
   */
  private[read] def entries(
      index: StatisticsIndex,
      table: ClusterTable,
      columns: AuditedColumns,
      files: IndexedSeq[DataFile]): Map[String, Block] = {
    val ranges = columns.stats.indices.flatMap { c =>
      index.numberOf(columns.columns(c).sql, columns.stats(c).dataType).flatMap(index.rangesAt).map(_.hulls)
    }
    if (ranges.length < columns.stats.length) Map.empty
    else {
      val keys = new FileKeys(table.root)
      files.iterator.flatMap { f =>
        index.files.find(keys.of(new Path(f.path)), f.length, f.modified).toOption
          .filterNot(number => ranges.exists(endsInNaN(_, number))).map { number =>
            val nullFree = ranges.indices.filter(ranges(_).nulls(number) == 0L).toSet
            f.path -> Block(index.files.rows(number), ranges.map(zone(_, number)), nullFree)
          }
      }.toMap
    }
  }

  private def zone(ranges: ColumnRanges, file: Int): Zone = ranges.states(file) match {
    case ColumnRanges.Bounded => Zone.Between(ranges.least(file), ranges.greatest(file))
    case ColumnRanges.OnlyNulls => Zone.OnlyNulls
    case _ => Zone.Unknown
  }

  private def endsInNaN(ranges: ColumnRanges, file: Int): Boolean =
    Normalization.nan(ranges.dataType).exists(n =>
      zone(ranges, file) match {
        case Zone.Between(_, NormalizedLong(max)) => max == n
        case _ => false
      })

  private def notes(files: Int, known: Int, sampled: Int, encrypted: Int): Seq[String] = {
    val hidden =
      if (encrypted == 0) None
      else Some(
        s"Columns of ${HumanReadable.count(encrypted.toLong, "file")} are encrypted: nothing is known of them.")
    val index =
      if (known == 0) None else Some(s"Ranges of $known of $files files come from the statistics index.")
    val pages =
      if (sampled == files) None
      else {
        val levels = if (known == 0) "Pages" else "Row groups and pages"
        Some(s"$levels are those of $sampled files, evenly taken from $files.")
      }
    (hidden ++ index ++ pages).toSeq
  }
}

/**
 * What is known of one file.
 *
 * @param whole
 *   its rows, and a zone per audited column
 * @param rowGroups
 *   None where only the statistics index was asked
 * @param pages
 *   of a file of the sample
 * @param encrypted
 *   whether its footer or some of its columns are, as far as footers were read
 */
final private[audit] case class AuditedFile(
    file: DataFile,
    whole: Block,
    rowGroups: Option[IndexedSeq[Block]],
    pages: Option[FilePages],
    encrypted: Boolean) {

  def lacksStatistics: Boolean = whole.zones.contains(Zone.Unknown)

  /** Whether a bound is so long that page indexes cut it. */
  def hasLongBounds: Boolean = whole.zones.exists {
    case Zone.Between(min, max) => AuditedFile.isLong(min) || AuditedFile.isLong(max)
    case _ => false
  }
}

private[audit] object AuditedFile {
  private def isLong(normalized: NormalizedValue): Boolean = normalized match {
    case NormalizedBytes(bytes) => bytes.length >= TruncatedBounds.PageBytes
    case _ => false
  }
}

/**
 * The columns that an audit is about, and how files are asked for them.
 *
 * @param by
 *   as SQL, the expressions among them that were left out as well
 * @param notes
 *   sentences on what was left out
 */
final private[audit] case class AuditedColumns(
    columns: IndexedSeq[ClusterColumn],
    stats: IndexedSeq[StatColumn],
    by: Seq[String],
    notes: Seq[String]) {
  def names: Seq[String] = columns.map(_.sql)

  def spacings: IndexedSeq[Spacing] = stats.map(s => Spacing.of(s.dataType))
}

private[audit] object AuditedColumns {

  /**
   * @param list
   *   as in `BY (...)`, or None for the columns that the table names itself or was clustered by
   */
  def of(session: ClassicSession, table: ClusterTable, list: Option[String]): AuditedColumns = {
    val named = list.map(ClusteredBy.inList).orElse(ClusteredBy.of(table)).getOrElse(
      refuse("ZORDER_CANNOT_AUDIT.NEVER_CLUSTERED", "table" -> table.name))
    if (named.isEmpty)
      refuse("ZORDER_CANNOT_AUDIT.NO_COLUMNS", "column" -> table.schema.fieldNames.head)
    val all = ColumnResolver.resolve(session, table, table.schema, named)
    val (stored, computed) = all.partition(_.path.isDefined)
    // an expression of the last run has no bounds in files; one that somebody asks for is a mistake
    if (stored.isEmpty || list.isDefined) computed.headOption.foreach(c =>
      refuse("ZORDER_CANNOT_AUDIT.EXPRESSION", "column" -> c.sql))
    AuditedColumns(
      stored.toIndexedSeq,
      stored.map(c => StatColumn.in(table.schema, c.path.get).copy(overlookNaN = true)).toIndexedSeq,
      all.map(_.sql),
      computed.map(c => s"Files keep no bounds of the expression ${c.sql}: it is left out."))
  }
}
