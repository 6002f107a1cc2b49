package org.apache.spark.sql.zorder.skip

import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.{ColumnPath, WordTypes}
import org.apache.spark.sql.zorder.skip.index.IndexedColumn
import org.apache.spark.sql.zorder.stats.{ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import sparkzorder.curve.Zone

/** Which columns of a table an index is of. */
private[skip] object IndexedColumns {

  /** An index of all columns stops here: a wide table names those that it wants. */
  val Most = 64

  /**
   * The columns that are named, or as many as can have ranges, in the order of the table.
   *
   * @param schema
   *   of the table, partition columns left out
   */
  def of(table: String, schema: StructType, named: Seq[Seq[String]], same: (String, String) => Boolean)
      : IndexedSeq[(IndexedColumn, StatColumn)] = {
    val all = leaves(schema, Nil)
    val usable = all.filter { case (_, dataType) => skippable(dataType) }
    val chosen =
      if (named.isEmpty) usable.take(Most)
      else
        named.map { path =>
          val found = all.find { case (p, _) =>
            p.length == path.length && p.zip(path).forall(x => same(x._1, x._2))
          }
          found match {
            case None =>
              val name = ColumnPath.sql(path)
              refuse(
                s"$table has no column $name to index.${NearestName.hint(name, all.map(c => ColumnPath.sql(c._1)))}")
            case Some((p, dataType)) if !skippable(dataType) =>
              refuse(
                s"Files keep no bounds of ${ColumnPath.sql(p)} (${dataType.sql}) that a query could skip by; " +
                  "leave it out.")
            case Some(column) => column
          }
        }.distinct
    chosen.map { case (path, dataType) => column(schema, path, dataType) }.toIndexedSeq
  }

  /** Those of an earlier index that the table still has, of the same type. */
  def still(
      schema: StructType,
      columns: IndexedSeq[IndexedColumn]): IndexedSeq[(IndexedColumn, StatColumn)] = {
    val there = leaves(schema, Nil).toSet
    columns.filter(c => there(c.path -> c.dataType)).map { c =>
      val (now, stats) = column(schema, c.path, c.dataType)
      (now.copy(values = c.values), stats)
    }
  }

  /** The columns with others added whose values are wanted, too. */
  def withValues(
      columns: IndexedSeq[(IndexedColumn, StatColumn)],
      valued: IndexedSeq[(IndexedColumn, StatColumn)]): IndexedSeq[(IndexedColumn, StatColumn)] = {
    val wanted = valued.map(_._1).toSet
    (columns ++ valued).distinct.map { case (c, stats) => (c.copy(values = wanted(c)), stats) }
  }

  def column(
      schema: StructType,
      path: Seq[String],
      dataType: DataType): (IndexedColumn, StatColumn) = {
    val stats = StatColumn.in(schema, path)
    IndexedColumn(ColumnPath.sql(path), path, dataType, stats.absent == Zone.OnlyNulls) -> stats
  }

  /** Columns and fields that are no structs. */
  def leaves(schema: StructType, above: Seq[String]): Seq[(Seq[String], DataType)] =
    schema.fields.toSeq.flatMap { f =>
      f.dataType match {
        case s: StructType => leaves(s, above :+ f.name)
        case other => Seq((above :+ f.name) -> other)
      }
    }

  /** The columns that files hold. */
  def dataSchema(table: ClusterTable): StructType = {
    val partitioning = table.partitionSchema.fieldNames.toSet
    StructType(table.schema.filterNot(f => partitioning(f.name)))
  }

  /** Whether the column was added with a value for the rows that were there. */
  def hasDefault(f: StructField): Boolean =
    f.metadata.contains(ResolveDefaultColumns.EXISTS_DEFAULT_COLUMN_METADATA_KEY)

  private def skippable(dataType: DataType): Boolean =
    WordTypes.of(dataType).isDefined && ParquetZones.bounds(dataType)
}
