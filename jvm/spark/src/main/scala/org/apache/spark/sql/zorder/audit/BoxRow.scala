package org.apache.spark.sql.zorder.audit

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.audit.measure.{RankScale, RankedColumn}
import org.apache.spark.sql.zorder.audit.read.{AuditedColumns, AuditedFile}
import org.apache.spark.sql.zorder.workload.predicate.ValueText
import sparkzorder.curve.{Block, Word, Zone}

/** The ranges of files and row groups, for pictures: `clustering_boxes`. */
private[zorder] object BoxRow {
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
    def text(word: Word): String = ValueText.of(word, columns.stats(c).dataType).orNull
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
