package org.apache.spark.sql.zorder.insight.audit

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.measure.{
  Depths,
  LevelNumbers,
  Numbers,
  RankScale,
  RankedColumn,
  Rounded
}
import org.apache.spark.sql.zorder.insight.audit.read.{AuditedColumns, AuditedFile}
import org.apache.spark.sql.zorder.skipping.predicate.ValueText
import sparkzorder.curve.{Block, NormalizedValue, Zone}

/** The columns of `clustering_information`, and a result as a row of them. */
private[zorder] object AuditRow {
  private val histogram = MapType(StringType, LongType)

  private val level: StructType = new StructType()
    .add("level", StringType).add("name", StringType)
    .add("total_count", LongType).add("constant_count", LongType)
    .add("average_overlaps", DoubleType).add("average_depth", DoubleType)
    .add("p95_depth", LongType).add("max_depth", LongType).add("depth_histogram", histogram)
    .add("look_up_share", DoubleType).add("range_share", DoubleType)
    .add("look_up_bound", DoubleType).add("range_bound", DoubleType)
    .add("efficiency", DoubleType).add("error", DoubleType).add("sampled_files", LongType)

  val schema: StructType = new StructType()
    .add("partition", StringType).add("verdict", StringType).add("reason", StringType)
    .add("statement", StringType).add("cluster_by_keys", StringType).add("curve", StringType)
    .add("notes", ArrayType(StringType))
    .add("total_file_count", LongType).add("total_constant_file_count", LongType)
    .add("average_overlaps", DoubleType).add("average_depth", DoubleType)
    .add("p95_depth", LongType).add("max_depth", LongType).add("file_depth_histogram", histogram)
    .add("depth_error", DoubleType).add("total_rows", LongType).add("total_bytes", LongType)
    .add("files_without_statistics", LongType).add("files_with_truncated_statistics", LongType)
    .add("files_since_last_run", LongType).add("bytes_since_last_run", LongType)
    .add("avoidable_files", LongType).add("avoidable_bytes", LongType)
    .add("levels", ArrayType(level))

  /**
   * @param keys
   *   names of the audited columns
   * @param curve
   *   of the last run, if it clustered by these columns
   */
  def of(result: AuditResult, keys: Seq[String], curve: Option[String], notes: Seq[String]): Row = {
    val files = result.files
    val depths = result.levels.headOption.fold(Depths.none)(_.joint.depths)
    Row(
      result.partition.orNull,
      result.finding.kind.text,
      result.finding.reason,
      result.statement.orNull,
      keys.mkString("(", ", ", ")"),
      curve.orNull,
      notes,
      files.length.toLong,
      depths.constant,
      rounded(depths.averageOverlaps),
      rounded(depths.average),
      long(depths.p95),
      long(depths.max),
      map(depths),
      Rounded(depths.error),
      files.map(_.whole.rows).sum,
      files.map(_.file.length).sum,
      files.count(_.lacksStatistics).toLong,
      files.count(_.hasLongBounds).toLong,
      long(result.sinceLastRun.map(_.length.toLong)),
      long(result.sinceLastRun.map(_.map(_.file.length).sum)),
      result.avoidable.length.toLong,
      result.avoidable.map(_.file.length).sum,
      result.levels.flatMap(levelRows(_, keys)))
  }

  private def levelRows(numbers: LevelNumbers, keys: Seq[String]): Seq[Row] =
    levelRow(numbers, None, numbers.joint) +:
      keys.indices.map(c => levelRow(numbers, Some(keys(c)), numbers.columns(c)))

  private def levelRow(numbers: LevelNumbers, name: Option[String], of: Numbers): Row = {
    val d = of.depths
    val r = of.reads
    def share(x: Double): java.lang.Double = if (r.rows == 0.0) null else Rounded(x)
    Row(
      numbers.level,
      name.orNull,
      d.blocks,
      d.constant,
      rounded(d.averageOverlaps),
      rounded(d.average),
      long(d.p95),
      long(d.max),
      map(d),
      share(r.lookUp),
      share(r.range),
      if (r.rows == 0.0) null else rounded(r.leastLookUp),
      if (r.rows == 0.0) null else rounded(r.leastRange),
      rounded(r.efficiency),
      Rounded(d.error),
      numbers.sampled)
  }

  // Scala's ListMap keeps the order of the buckets
  private def map(d: Depths): Map[String, Long] =
    scala.collection.immutable.ListMap(d.histogram: _*)

  private def rounded(x: Option[Double]): java.lang.Double = x.fold[java.lang.Double](null)(v => Rounded(v))

  private def long(x: Option[Long]): java.lang.Long = x.fold[java.lang.Long](null)(v => v)
}

/**
 * One row of the result: the table, or a partition of it.
 *
 * @param levels
 *   that of files first
 * @param sinceLastRun
 *   files that came after the last run; None for a table that was never clustered
 */
final private[audit] case class AuditResult(
    partition: Option[String],
    finding: Finding,
    statement: Option[String],
    levels: IndexedSeq[LevelNumbers],
    files: IndexedSeq[AuditedFile],
    avoidable: IndexedSeq[AuditedFile],
    sinceLastRun: Option[IndexedSeq[AuditedFile]])

private[audit] object AuditResult {

  /** One result a level of the whole table: the sum over its partitions. */
  def levels(scopes: IndexedSeq[Scope]): IndexedSeq[LevelNumbers] = {
    val all = scopes.flatMap(_.levels)
    all.map(_.level).distinct.map(level => all.filter(_.level == level).reduce(_ ++ _))
  }
}

/** The ranges of files and row groups, for pictures: `clustering_boxes`. */
private[zorder] object BlockRangesRow {
  private val range: StructType = new StructType()
    .add("name", StringType).add("low", StringType).add("high", StringType)
    .add("low_rank", LongType).add("high_rank", LongType).add("may_hold_null", BooleanType)

  val schema: StructType = new StructType()
    .add("partition", StringType).add("path", StringType).add("row_group", IntegerType)
    .add("row_count", LongType).add("bytes", LongType).add("ranges", ArrayType(range))

  /** Each file, then its row groups if they are known. */
  def all(files: IndexedSeq[AuditedFile], columns: AuditedColumns): Seq[Row] = {
    val blocks = files.flatMap(f => f.whole +: f.rowGroups.getOrElse(IndexedSeq.empty))
    val ranked = columns.stats.indices.map { c =>
      val zones = blocks.map(_.zones(c))
      RankedColumn.of(zones, RankScale.of(zones, columns.spacings(c)))
    }
    var place = -1
    def ranges(block: Block): Seq[Row] = {
      place += 1
      columns.stats.indices.map(c => ofRange(columns, block, c, ranked(c), place))
    }
    files.flatMap { f =>
      val own = row(f, None, f.whole, f.file.length, ranges(f.whole))
      own +: f.rowGroups.getOrElse(IndexedSeq.empty).zipWithIndex.map { case (g, i) =>
        row(f, Some(i), g, null, ranges(g))
      }
    }
  }

  private def row(
      f: AuditedFile,
      group: Option[Int],
      block: Block,
      bytes: java.lang.Long,
      ranges: Seq[Row]): Row =
    Row(f.file.partition, f.file.path, group.fold[Integer](null)(g => g), block.rows, bytes, ranges)

  private def ofRange(
      columns: AuditedColumns,
      block: Block,
      c: Int,
      ranked: RankedColumn,
      place: Int): Row = {
    def text(normalized: NormalizedValue): String = ValueText.of(normalized, columns.stats(c).dataType).orNull
    val (low, high) = block.zones(c) match {
      case Zone.Between(min, max) => (text(min), text(max))
      case _ => (null, null)
    }
    def rank(r: Int): java.lang.Long = if (ranked.isKnown(place)) Long.box(r.toLong) else null
    Row(
      columns.names(c),
      low,
      high,
      rank(ranked.low(place)),
      rank(ranked.high(place)),
      block.mayHoldNull(c))
  }
}
