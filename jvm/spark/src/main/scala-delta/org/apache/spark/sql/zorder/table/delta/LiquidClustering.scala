package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.delta.{DeltaColumnMapping, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.expr.ColumnPath

/**
 * What Delta's table feature `clustering` asks of a clusterer that is not Delta's own (ADR 59): files carry the name
 * of who has clustered them, and are left to him; the columns are those of the table; files have statistics of them.
 *
 * @param table
 *   as the user named it
 * @param sql
 *   the table in a statement of Delta's
 */
final private[delta] class LiquidClustering(table: String, sql: String, snapshot: Snapshot) {
  private val supported = ClusteredTableUtils.isSupported(snapshot.protocol)

  private lazy val paths: Seq[Seq[String]] =
    if (!supported) Nil
    else
      ClusteredTableUtils.getClusteringColumnsOptional(snapshot).getOrElse(Nil)
        .map(c => named(snapshot.schema, c.physicalName))

  /** The names of a column by those in files. One that the schema has not keeps these, and is found nowhere. */
  private def named(schema: StructType, physical: Seq[String]): Seq[String] = {
    def isIt(field: StructField): Boolean =
      DeltaColumnMapping.getPhysicalName(field).equalsIgnoreCase(physical.head)
    (schema.find(isIt), physical.tail) match {
      case (Some(field), Seq()) => Seq(field.name)
      case (Some(StructField(name, inside: StructType, _, _)), deeper) => name +: named(inside, deeper)
      case _ => physical
    }
  }

  /** The columns of `CLUSTER BY`, as SQL; None without such columns, as after `CLUSTER BY NONE`. */
  def columns: Option[Seq[String]] = Some(paths.map(ColumnPath.sql)).filter(_.nonEmpty)

  /** What files of ours are marked with, whether the table has such columns or not. */
  def provider: Option[String] = if (supported) Some(LiquidClustering.Provider) else None

  /** Another clusterer that has marked a file. */
  def otherClusterer(add: AddFile): Option[String] =
    if (supported) add.clusteringProvider.filterNot(_ == LiquidClustering.Provider) else None

  /** A refusal of a run by columns other than the table's, or by columns that Delta would keep no statistics of. */
  def refusal(asked: Seq[String]): Option[ZOrderException] =
    columns.flatMap { own =>
      if (reclustered(asked).isDefined)
        Some(new ZOrderException(
          "ZORDER_COLUMN_REFUSED.DELTA_NOT_CLUSTERED_BY",
          "table" -> table,
          "own" -> listed(own),
          "columns" -> listed(asked),
          "sql" -> sql))
      else
        paths.find(p => !DeltaColumns.holds(snapshot.statCollectionLogicalSchema, p)).map { p =>
          new ZOrderException(
            "ZORDER_COLUMN_REFUSED.DELTA_LIQUID_WITHOUT_STATISTICS",
            "table" -> table,
            "column" -> ColumnPath.sql(p))
        }
    }

  /** The statement that gives the table these columns. */
  def reclustered(asked: Seq[String]): Option[String] =
    columns.filter(_.toSet != asked.toSet).map(_ => s"ALTER TABLE $sql CLUSTER BY ${listed(asked)}")

  private def listed(columns: Seq[String]): String = columns.mkString("(", ", ", ")")
}

private[delta] object LiquidClustering {

  /** Our name in Delta's log. Delta's own is `liquid`. */
  val Provider = "spark-zorder"
}
