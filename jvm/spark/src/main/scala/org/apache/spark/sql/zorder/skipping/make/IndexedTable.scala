package org.apache.spark.sql.zorder.skipping.make

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index.{FileKeys, StatisticsIndex}
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatIndexing}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.parquet.read.ParquetRows

/**
 * A table as its index sees it. Files of plain Parquet may be written over, and have columns by the names of
 * the table. Those of a format never change, and the table may call their columns otherwise.
 */
final private[make] class IndexedTable private (val table: ClusterTable, format: Option[FormatIndexing]) {

  def name: String = table.name
  def root: Path = table.root

  /** Whether the format keeps ranges of columns, so that an index need not have them. */
  def keepsRanges: Boolean = format.isDefined

  /** The columns that files hold. */
  lazy val dataSchema: StructType = format.fold {
    val partitioning = table.partitionSchema.fieldNames.toSet
    StructType(table.schema.filterNot(f => partitioning(f.name)))
  }(_.schema)

  /** The other columns, whose values are those of a partition. */
  lazy val partitionSchema: StructType =
    if (format.isEmpty) table.partitionSchema
    else StructType(table.schema.filterNot(f => dataSchema.fieldNames.contains(f.name)))

  /**
   * Settings of the session that files of a format have to be read with. Names are compared as queries do it.
   */
  def settings: Map[String, String] =
    if (format.isEmpty) Map.empty else table.settings - SQLConf.CASE_SENSITIVE.key

  /**
   * The files as the index knows them. Times of files that never change tell nothing, and the bounds of
   * timestamps that a format keeps may be those of the rows that deletes have left.
   */
  def files(): Seq[DataFile] = format.fold(table.files()) { f =>
    table.files().map(file => file.copy(modified = f.generation(file), timestamps = Map.empty))
  }

  /** Whether no other file can have the name of this one, by which the index knows it. */
  lazy val isForEver: String => Boolean =
    if (format.isDefined) (_: String) => true
    else table.state.outlines().flatMap(_.files.map(_.path)).toSet

  lazy val keys: FileKeys = new FileKeys(root)

  /** All rows of these files, as queries see them. Files may lack a column that others require. */
  def rows(session: ClassicSession, partitions: IndexedSeq[PinnedPartition]): InputRelation =
    format.fold(table.rows(session, partitions, dataSchema.asNullable))(_.rows(session, partitions))

  /** No rows at all, with the table's columns. */
  def noRows(session: ClassicSession): InputRelation =
    ParquetRows(session, root, IndexedSeq.empty, dataSchema.asNullable, partitionSchema)

  /** What files have under the names of the columns that an index tells of; empty for plain Parquet. */
  def identities(index: StatisticsIndex): Map[String, String] = format.fold(Map.empty[String, String]) { f =>
    val told = index.topLevel
    f.identities.filter { case (name, _) => told(name) }
  }
}

private[make] object IndexedTable {

  /** None for a table that can have no index. */
  def of(table: ClusterTable): Option[IndexedTable] = table match {
    case plain: ParquetTable => Some(new IndexedTable(plain, None))
    case other => other.indexing.map(format => new IndexedTable(other, Some(format)))
  }
}
