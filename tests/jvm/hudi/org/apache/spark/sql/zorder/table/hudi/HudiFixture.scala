package org.apache.spark.sql.zorder.table.hudi

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.hadoop.fs.HadoopFSUtils
import org.scalatest.{BeforeAndAfterEach, TestSuite}

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, CatalogTable, CatalogTableType}
import org.apache.spark.sql.types.{BinaryType, StructField}
import org.apache.spark.sql.zorder.{OwnSession, ZOrderSession}
import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** A session with Hudi installed beside us, and what Hudi says of its tables. */
trait HudiFixture extends RunFixture with OwnSession with BeforeAndAfterEach { this: TestSuite =>

  /** Ours is listed last, as the guide says. */
  protected def extensions: String = s"${HudiFixture.extension},${ZOrderSession.extension}"

  override protected def spark: SparkSession = ownSession

  override protected def configured(start: SparkSession.Builder): SparkSession.Builder =
    HudiFixture.configured(start, extensions)

  override def afterEach(): Unit = {
    CrashPoint.meanwhile = _ => ()
    System.clearProperty(CrashPoint.Property)
    super.afterEach()
  }

  override def read(path: Path): DataFrame = spark.read.format("hudi").load(path.toString)

  /** What Hudi needs to know of the tests' tables: `id` is the key, few tasks write. */
  protected val options: Map[String, String] = Map(
    "hoodie.table.name" -> "t",
    "hoodie.datasource.write.recordkey.field" -> "id",
    "hoodie.bulkinsert.shuffle.parallelism" -> "6",
    "hoodie.finalize.write.parallelism" -> "2",
    "hoodie.markers.delete.parallelism" -> "2",
    "hoodie.insert.shuffle.parallelism" -> "2",
    "hoodie.upsert.shuffle.parallelism" -> "2",
    "hoodie.delete.shuffle.parallelism" -> "2",
    // a web server for each write
    "hoodie.embed.timeline.server" -> "false")

  /** Writes rows as Hudi does, and makes the table if there is none. */
  protected def write(df: DataFrame, path: Path, operation: String, more: (String, String)*): Unit =
    df.write.format("hudi").options(options ++ more).option("hoodie.datasource.write.operation", operation)
      .mode("append").save(path.toString)

  /** The rows `a`, `b`, ... of RunFixture as a Hudi table of six files. */
  protected def hudi(path: Path, n: Long = 20000, more: Map[String, String] = Map.empty): Unit =
    write(numbers(n).repartition(6), path, "bulk_insert", more.toSeq: _*)

  /** Puts a table into the catalog; CREATE TABLE ... USING hudi would need Hive's classes. */
  protected def register(name: String, path: Path, properties: (String, String)*): Unit =
    spark.sessionState.catalog.createTable(
      CatalogTable(
        TableIdentifier(name, Some("default")),
        CatalogTableType.EXTERNAL,
        CatalogStorageFormat.empty.copy(locationUri = Some(path.toUri)),
        if (Files.exists(path)) read(path).schema else numbers(1).schema,
        provider = Some("hudi"),
        properties = Map("primaryKey" -> "id") ++ properties),
      ignoreIfExists = false)

  protected def metaClient(path: Path): HoodieTableMetaClient =
    HoodieTableMetaClient.builder().setBasePath(path.toString)
      .setConf(HadoopFSUtils.getStorageConfWithCopy(spark.sessionState.newHadoopConf())).build()

  /** Instants of the timeline, oldest first: action and state. */
  protected def timeline(path: Path): Seq[(String, String)] =
    metaClient(path).getActiveTimeline.getInstants.asScala.map(i => (i.getAction, i.getState.name))

  protected def pending(path: Path): Int =
    metaClient(path).getActiveTimeline.filterPendingClusteringTimeline.countInstants

  /** The files that a reader of the table opens. */
  protected def filesRead(path: Path): Set[String] =
    read(path).select("_hoodie_file_name").distinct().collect().map(_.getString(0)).toSet

  protected def files(path: Path): Int = filesRead(path).size

  /** Base files on disk, whether a reader sees them or not. */
  protected def filesOnDisk(path: Path): Set[String] = {
    val all = Files.walk(path)
    try all.iterator.asScala.filterNot(_.toString.contains("/.hoodie/")).map(_.getFileName.toString)
        .filter(n => n.endsWith(".parquet") && !n.startsWith(".")).toSet
    finally all.close()
  }

  /** Rows without the name of their file, which a rewrite changes. */
  protected def rows(path: Path): Seq[String] = {
    val columns = read(path).schema.filter(_.name != "_hoodie_file_name").map {
      case StructField(name, BinaryType, _, _) => s"hex($name)"
      case other => other.name
    }
    read(path).selectExpr(columns: _*).collect().map(_.toString).sorted.toSeq
  }

  /** Runs `body` and checks that the table's rows, keys and commit times stay what they were. */
  protected def keeps(path: Path)(body: => Row): Row = {
    val before = rows(path)
    val out = body
    assert(rows(path) === before)
    out
  }
}

object HudiFixture {
  val extension = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"

  def configured(start: SparkSession.Builder, extensions: String): SparkSession.Builder =
    start.config("spark.sql.extensions", extensions)
      .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
      .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
      .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
      .config("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")
      .config("hoodie.finalize.write.parallelism", "2").config("hoodie.markers.delete.parallelism", "2")
      .config("hoodie.rollback.parallelism", "2").config("hoodie.clean.parallelism", "2")
}
