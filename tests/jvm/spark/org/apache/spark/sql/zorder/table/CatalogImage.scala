package org.apache.spark.sql.zorder.table

import java.io.File
import java.net.URI
import java.nio.file.{Files, StandardCopyOption}
import java.util.Properties

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog._
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * What a metastore would still know of a Parquet table after a crash, in a file: the catalog of these
 * tests dies with its JVM.
 */
object CatalogImage {

  def write(spark: SparkSession, table: String, file: File): Unit = {
    val meta = catalog(spark).getTable("default", table)
    val image = new Properties
    image.setProperty("table", table)
    image.setProperty("created", meta.createTime.toString)
    image.setProperty("location", meta.location.toString)
    image.setProperty("schema", meta.schema.json)
    image.setProperty("type", meta.tableType.name)
    image.setProperty("partitioned", meta.partitionColumnNames.mkString)
    meta.properties.foreach { case (key, value) => image.setProperty(s"property.$key", value) }
    val partitions =
      if (meta.partitionColumnNames.isEmpty) Nil else catalog(spark).listPartitions("default", table)
    partitions.foreach { p =>
      image.setProperty(s"partition.${p.spec.head._2}", p.location.toString)
    }
    val half = new File(s"${file.getPath}.half").toPath
    val out = Files.newOutputStream(half)
    try image.store(out, null)
    finally out.close()
    Files.move(half, file.toPath, StandardCopyOption.REPLACE_EXISTING)
    ()
  }

  /** The table in the catalog of another JVM. */
  def create(spark: SparkSession, file: File): Unit = {
    val image = read(file)
    catalog(spark).createTable(tableOf(image), ignoreIfExists = false)
    if (image("partitioned").nonEmpty)
      catalog(spark).createPartitions("default", image("table"), partitionsOf(image), ignoreIfExists = false)
  }

  /** Brings a table that is in the catalog to where the other JVM left it. */
  def alter(spark: SparkSession, file: File): Unit = {
    val image = read(file)
    catalog(spark).alterTable(tableOf(image))
    catalog(spark).alterPartitions("default", image("table"), partitionsOf(image))
    spark.sessionState.catalog.refreshTable(TableIdentifier(image("table"), Some("default")))
  }

  private def tableOf(image: Map[String, String]): CatalogTable = CatalogTable(
    TableIdentifier(image("table"), Some("default")),
    if (image("type") == CatalogTableType.MANAGED.name) CatalogTableType.MANAGED
    else CatalogTableType.EXTERNAL,
    storageAt(image("location")),
    DataType.fromJson(image("schema")).asInstanceOf[StructType],
    provider = Some("parquet"),
    partitionColumnNames = Seq(image("partitioned")).filter(_.nonEmpty),
    createTime = image("created").toLong,
    properties = below(image, "property."),
    tracksPartitionsInCatalog = image("partitioned").nonEmpty)

  private def partitionsOf(image: Map[String, String]): Seq[CatalogTablePartition] =
    below(image, "partition.").toSeq.map { case (value, location) =>
      CatalogTablePartition(Map(image("partitioned") -> value), storageAt(location))
    }

  private def storageAt(location: String): CatalogStorageFormat =
    CatalogStorageFormat.empty.copy(locationUri = Some(new URI(location)))

  private def below(image: Map[String, String], prefix: String): Map[String, String] =
    image.collect { case (key, value) if key.startsWith(prefix) => key.stripPrefix(prefix) -> value }

  private def catalog(spark: SparkSession): ExternalCatalog = spark.sharedState.externalCatalog

  private def read(file: File): Map[String, String] = {
    val image = new Properties
    val in = Files.newInputStream(file.toPath)
    try image.load(in)
    finally in.close()
    image.asScala.toMap
  }
}
