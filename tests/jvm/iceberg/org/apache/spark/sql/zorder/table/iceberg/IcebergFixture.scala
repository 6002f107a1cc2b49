package org.apache.spark.sql.zorder.table.iceberg

import java.io.File
import java.nio.file.{Files, Path => JPath}

import scala.collection.JavaConverters._

import org.apache.iceberg.{FileFormat, FileScanTask, Table}
import org.apache.iceberg.data.{GenericFileWriterFactory, GenericRecord}
import org.apache.iceberg.encryption.EncryptedFiles
import org.apache.iceberg.spark.Spark3Util
import org.scalatest.{BeforeAndAfterEach, TestSuite}

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.zorder.{OwnSession, UncompiledQueries, ZOrderSession}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils

/** A session with Iceberg's extension, a Hadoop catalog `ice` and Iceberg's session catalog, in temp folders. */
private[zorder] trait IcebergFixture
    extends UncompiledQueries
    with OwnSession
    with BeforeAndAfterEach {
  this: TestSuite =>
  protected val icebergExtension = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"

  protected def extensions: Seq[String] = Seq(icebergExtension, ZOrderSession.extension)

  protected lazy val temp: JPath = Files.createTempDirectory("zorder-iceberg")

  override protected def spark: SparkSession = ownSession

  override protected def configured(start: SparkSession.Builder): SparkSession.Builder = {
    val catalog = "spark.sql.catalog"
    start.config("spark.sql.extensions", extensions.mkString(","))
      .config(s"$catalog.ice", "org.apache.iceberg.spark.SparkCatalog").config(s"$catalog.ice.type", "hadoop")
      .config(s"$catalog.ice.warehouse", temp.resolve("ice").toUri.toString)
      .config(s"$catalog.spark_catalog", "org.apache.iceberg.spark.SparkSessionCatalog")
      .config(s"$catalog.spark_catalog.type", "hadoop")
      .config(s"$catalog.spark_catalog.warehouse", temp.resolve("session").toUri.toString)
  }

  override def afterEach(): Unit = {
    CrashPoint.meanwhile = (_: String) => ()
    System.clearProperty(CrashPoint.Property)
    super.afterEach()
  }

  override def afterAll(): Unit = {
    super.afterAll()
    Utils.deleteRecursively(temp.toFile)
  }

  protected def sql(text: String): DataFrame = spark.sql(text)

  /** `ice.db.<name>`, made anew with these columns. */
  protected def create(name: String, columns: String, more: String = ""): String = {
    val full = s"ice.db.$name"
    sql(s"DROP TABLE IF EXISTS $full PURGE")
    sql(s"CREATE TABLE $full ($columns) USING iceberg $more")
    full
  }

  /** For a table of this format version that others change by merge-on-read or copy-on-write. */
  protected def writing(version: Int, mode: String): String =
    s"TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = '$mode', " +
      s"'write.update.mode' = '$mode', 'write.merge.mode' = '$mode')"

  /** Rows in the order of a shuffled id: no column is clustered; `files` files in one snapshot. */
  protected def fill(table: String, rows: Long, files: Int, columns: String*): Unit =
    spark.range(0, rows, 1, files).selectExpr(columns: _*).writeTo(table)
      .option("distribution-mode", "none").append()

  protected def cluster(table: String, by: String, rest: String = "WITH (fileCount = 4, force = true)"): Row =
    sql(s"ZORDER TABLE $table BY ($by) $rest").collect().head

  /** All rows as text, so that a difference shows. */
  protected def content(table: String, columns: String = "*"): Seq[String] =
    spark.table(table).selectExpr(columns).collect().map(show).toSeq.sorted

  private def show(row: Row): String = row.toSeq.map {
    case bytes: Array[Byte] => bytes.mkString("[", " ", "]")
    case nested: Row => show(nested)
    case other => String.valueOf(other)
  }.mkString("{", ", ", "}")

  protected def load(table: String): Table = {
    val loaded = Spark3Util.loadIcebergTable(spark, table)
    loaded.refresh()
    loaded
  }

  /** The data files of the newest snapshot. */
  protected def tasks(table: String): Seq[FileScanTask] = {
    val planned = load(table).newScan().includeColumnStats().planFiles()
    try planned.asScala.toList
    finally planned.close()
  }

  protected def filesOf(table: String): Set[String] = tasks(table).map(_.file.location).toSet

  /** Parquet files under a table's directory, whether a snapshot has them or not. */
  protected def filesOnDisk(table: String): Set[String] = allOnDisk(table).filter(_.endsWith(".parquet"))

  /** Files of deletion vectors there. */
  protected def vectorsOnDisk(table: String): Set[String] = allOnDisk(table).filter(_.endsWith(".puffin"))

  /** Those of the newest snapshot. */
  protected def vectorsOf(table: String): Set[String] =
    tasks(table).flatMap(_.deletes.asScala).map(_.location.split('/').last).toSet

  private def allOnDisk(table: String): Set[String] =
    below(dataOf(table)).map(_.getName).filterNot(_.startsWith(".")).toSet

  private def dataOf(table: String): File = new File(new java.net.URI(load(table).location + "/data").getPath)

  private def below(f: File): Seq[File] = if (f.isDirectory) f.listFiles.toSeq.flatMap(below) else Seq(f)

  /** Makes files two days old: younger ones that no snapshot has may be those of a writer at work. */
  protected def age(directory: File): Unit =
    below(directory).foreach(_.setLastModified(System.currentTimeMillis - 2L * 24 * 3600 * 1000))

  /** Removes all that only earlier snapshots or dead runs have. */
  protected def vacuumAll(table: String): Unit = {
    age(dataOf(table))
    sql(s"ZORDER VACUUM $table RETAIN 0 HOURS").collect()
    ()
  }

  protected def lastSummary(table: String): Map[String, String] =
    load(table).currentSnapshot.summary.asScala.toMap

  /** Commits an equality delete of all rows with these values of `b`, as other engines do. */
  protected def deleteEqual(t: String, values: Int*): Unit = {
    val table = load(t)
    val schema = table.schema.select("b")
    val factory = new GenericFileWriterFactory.Builder(table).equalityFieldIds(
      Array(schema.findField("b").fieldId)).equalityDeleteRowSchema(schema)
      .deleteFileFormat(FileFormat.PARQUET).build()
    val out = EncryptedFiles.plainAsEncryptedOutput(
      table.io.newOutputFile(s"${table.location}/data/equality-delete-${values.mkString("-")}.parquet"))
    val writer = factory.newEqualityDeleteWriter(out, table.spec, null)
    val record = GenericRecord.create(schema)
    values.foreach { b =>
      record.setField("b", b)
      writer.write(record)
    }
    writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile).commit()
    sql(s"REFRESH TABLE $t")
  }
}
