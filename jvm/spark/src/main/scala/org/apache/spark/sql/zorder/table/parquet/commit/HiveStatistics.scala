package org.apache.spark.sql.zorder.table.parquet.commit

import scala.util.Try

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogStatistics,
  CatalogTable,
  CatalogTablePartition,
  ExternalCatalogWithListener,
  SessionCatalog
}

/**
 * Sizes in a Hive metastore: those of Spark, and Hive's own ones, which Spark shows where it has none. What is written back
 * becomes Spark's, and hides Hive's from then on, also after Hive has renewed them.
 */
private[parquet] object HiveStatistics {
  private val HiveCatalog = "org.apache.spark.sql.hive.HiveExternalCatalog"
  private val SparkSize = "spark.sql.statistics.totalSize"

  /** Whether the sizes that Spark shows of a table are Hive's. */
  def areOf(catalog: SessionCatalog, ident: TableIdentifier): Boolean = {
    val external = catalog.externalCatalog match {
      case listening: ExternalCatalogWithListener => listening.unwrapped
      case other => other
    }
    external.getClass.getName == HiveCatalog && {
      val database = ident.database.getOrElse(catalog.getCurrentDatabase)
      // of spark-hive, whose classes may not be there, and of which a vendor may have made another one; Spark's own
      // properties are in the raw table alone
      Try(external.getClass.getMethod("getRawTable", classOf[String], classOf[String])
        .invoke(external, database, ident.table)).toOption.exists {
        case table: CatalogTable => !table.properties.contains(SparkSize)
        case _ => false
      }
    }
  }

  /**
   * A partition as it can be written back. Where Spark's sizes are the same as Hive's, nothing is lost if Hive's are left
   * alone.
   */
  def without(p: CatalogTablePartition): CatalogTablePartition =
    p.copy(stats = p.stats.filterNot(isIn(_, p.parameters)))

  /** Whether these are what Spark makes of Hive's parameters. */
  private def isIn(s: CatalogStatistics, parameters: Map[String, String]): Boolean =
    s.colStats.isEmpty &&
      Seq("totalSize", "rawDataSize").flatMap(parameters.get).contains(s.sizeInBytes.toString) &&
      s.rowCount.map(_.toString) == parameters.get("numRows").filterNot(n => n == "0" || n == "-1")
}
