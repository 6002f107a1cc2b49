package org.apache.spark.sql.zorder.table

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => JPath}
import java.util.UUID
import java.util.concurrent.CountDownLatch

import scala.collection.JavaConverters._
import scala.concurrent.{blocking, Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt

import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.{BeforeAndAfterAll, Suite}

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.StatementRows
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice, ParquetTable}
import org.apache.spark.sql.zorder.table.parquet.journal.Journal
import org.apache.spark.sql.zorder.table.resolve.{Maintenance, TableResolver}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** A rewrite that waits for its commit. */
private[zorder] final case class Staged(table: ParquetTable, journal: Journal, request: CommitRequest) {

  /** As a run does it: the session is refreshed afterwards. */
  def commit(): Unit = {
    val before = table.root
    table.commit(journal, request)
    val ref =
      if (table.name.contains("/")) TableRef.Location(table.name)
      else TableRef.Name(table.name.split('.').toSeq)
    SessionRefresh(table.session, ref, Seq(before, table.root))
  }
}

/** A session, temp directories, and a rewrite that merges all files of each partition into one. */
private[zorder] trait TableFixture extends BeforeAndAfterAll with StatementRows { this: Suite =>

  lazy val temp: JPath = Files.createTempDirectory("zorder-table")

  lazy val spark: SparkSession = {
    SparkSession.getActiveSession.foreach(_.stop())
    val session = SparkSession.builder().master("local[2]").appName(getClass.getSimpleName)
      .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
      // forty rows: compiling a query costs more than running it
      .config("spark.sql.codegen.wholeStage", "false").config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
      .config("spark.sql.warehouse.dir", temp.resolve("warehouse").toUri.toString)
      .config("spark.zorder.commit.waitSeconds", "0.3")
      .getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session
  }
  def classic: Shims.ClassicSession = Shims.classic(spark)
  lazy val fs: FileSystem = new Path(temp.toUri).getFileSystem(spark.sessionState.newHadoopConf())

  override def afterAll(): Unit = {
    System.clearProperty(CrashPoint.Property)
    spark.stop()
    delete(temp.toFile)
    super.afterAll()
  }

  def delete(file: File): Unit = {
    Option(file.listFiles).toSeq.flatten.foreach(delete)
    file.delete()
    ()
  }

  def dir(name: String): String = temp.resolve(s"${name}_${UUID.randomUUID.toString.take(8)}").toString

  /** `files` files with ids from..until-1; `p` = id % 2 for partitioned ones. */
  def rows(from: Int, until: Int, files: Int = 1): DataFrame =
    spark.range(from.toLong, until.toLong, 1, files).selectExpr("id", "id * 7 % 100 AS v", "id % 2 AS p")

  def plain(name: String, n: Int = 40, files: Int = 4): String = {
    val path = dir(name)
    rows(0, n, files).write.parquet(path)
    path
  }

  def partitioned(name: String, n: Int = 40): String = {
    val path = dir(name)
    rows(0, n, 2).write.partitionBy("p").parquet(path)
    path
  }

  /** A table of the catalog with forty rows: `external` or `managed`, and `partitioned`, as its kind says. */
  def saved(table: String, kind: String): Unit = {
    val writer = rows(0, 40, 2).write.format("parquet")
    val parted = if (kind.endsWith("partitioned")) writer.partitionBy("p") else writer
    (if (kind.startsWith("external")) parted.option("path", dir(table)) else parted).saveAsTable(table)
  }

  /** Agrees that the files of a table of the catalog move. */
  def moves(table: String): Unit = {
    spark.sql(s"ALTER TABLE $table SET TBLPROPERTIES ('zorder.location' = 'move')")
    ()
  }

  def ids(path: String): Seq[Long] =
    spark.read.parquet(path).select("id").collect().map(_.getLong(0)).toSeq.sorted

  def tableIds(table: String): Seq[Long] =
    spark.table(table).select("id").collect().map(_.getLong(0)).toSeq.sorted

  def open(path: String): ParquetTable = TableResolver.openParquet(classic, TableRef.Location(path), Nil)
  def openName(name: String): ParquetTable =
    TableResolver.openParquet(classic, TableRef.Name(name.split('.').toSeq), Nil)

  def record(runId: String, files: Seq[RecordedFile] = Nil, rewritten: Seq[DataFile] = Nil): RunRecord =
    RunRecord(
      0,
      runId,
      1000L,
      2000L,
      Operation.Optimize,
      "OPTIMIZE t ZORDER BY (id, v)",
      Seq("id", "v"),
      "zorder",
      Map("" -> "abcd1234"),
      files,
      rewritten,
      "{}")

  /** What a run stages for these inputs: one file a partition. */
  def stage(table: ParquetTable, inputs: Seq[DataFile], runId: String): Staged = {
    val journal = table.prepare(runId)
    val partitions = table.partitionSchema.fieldNames.toSeq
    val dataSchema = StructType(table.schema.filterNot(f => partitions.contains(f.name)))
    val data = inputs.groupBy(_.partition).toSeq.map { case (partition, files) =>
      val part = spark.read.schema(dataSchema).parquet(files.map(_.path): _*)
      partition.split('/').filter(_.nonEmpty).foldLeft(part) { (df, kv) =>
        val k = kv.takeWhile(_ != '=')
        df.withColumn(k, lit(kv.drop(k.length + 1)).cast(table.schema(k).dataType))
      }
    }.reduce(_ union _).coalesce(1)
    val writer = data.write.mode("append")
    (if (partitions.isEmpty) writer else writer.partitionBy(partitions: _*)).parquet(journal.staging.toString)
    val layouts = Map("abcd1234" -> "{\"layout\":1}")
    Staged(table, journal, CommitRequest(record(runId, rewritten = inputs), layouts))
  }

  def rewrite(table: ParquetTable, inputs: Seq[DataFile], runId: String = "r1"): Unit =
    stage(table, inputs, runId).commit()

  /** The rows of `ZORDER VACUUM`, with the names that the statement gives their columns. */
  def vacuumed(
      ref: TableRef,
      hours: Option[Double] = Some(0.0),
      dryRun: Boolean = false,
      late: Option[LateChoice] = None): Seq[Row] =
    Maintenance.vacuum(classic, ref, hours, dryRun, late).map(named(_, Maintenance.vacuumSchema))

  def rolledBack(ref: TableRef): Row =
    named(Maintenance.rollback(classic, ref), Maintenance.rollbackSchema)

  def removed(ref: TableRef, home: Option[HomeChoice] = None): Row =
    named(Maintenance.remove(classic, ref, home), Maintenance.removeSchema)

  /** What a statement has before Spark gives its rows their names. */
  def named(row: Row, schema: StructType): Row = new GenericRowWithSchema(row.toSeq.toArray, schema)

  /** How many files of its rows a vacuum has carried over. */
  def carriedOver(rows: Seq[Row]): Long = rows.map(_.getAs[Long]("files_carried_over")).sum

  def rewriteAll(table: ParquetTable, runId: String = "r1"): Unit = rewrite(table, table.files(), runId)

  /** Parquet files below everything in the warehouse that has the table's name in its own. */
  def onDisk(name: String): Set[String] =
    listed(temp.resolve("warehouse").toString).filter(_.getName.stripPrefix(".").split('.').head == name)
      .flatMap(d => ParquetNames.below(d.getPath)).map(_.split('/').last).toSet

  def listed(path: String): Seq[File] = Option(new File(path).listFiles).toSeq.flatten.sortBy(_.getName)

  /** Every name beside and of the table; ours begin with a dot. */
  def traces(path: String): Seq[String] = {
    val file = new File(path)
    listed(file.getParent).map(_.getName)
      .filter(n => n.startsWith(s".${file.getName}.") && !n.endsWith(".crc"))
  }

  def write(path: String, text: String): Unit = {
    Files.createDirectories(new File(path).toPath.getParent)
    Files.write(new File(path).toPath, text.getBytes(UTF_8))
    ()
  }

  def crashAt(point: String)(body: => Unit): Boolean = {
    System.setProperty(CrashPoint.Property, point)
    try { body; false }
    catch { case _: CrashPoint.Crash => true }
    finally System.clearProperty(CrashPoint.Property)
  }

  /** Several sessions that do the same at the same time. */
  def atOnce(sessions: Int)(body: => Unit): Unit = {
    val together = new CountDownLatch(sessions)
    val all = Seq.fill(sessions)(Future(blocking {
      together.countDown()
      together.await()
      body
    }))
    all.foreach(Await.result(_, 60.seconds))
  }

  def refused(body: => Any): String =
    try { body; throw new AssertionError("not refused") }
    catch { case e: ZOrderException => e.getMessage }

  def copyFile(from: String, to: String): Unit = {
    Files.createDirectories(new File(to).toPath.getParent)
    Files.copy(new File(from).toPath, new File(to).toPath)
    ()
  }

  def modes(path: String): String =
    Files.getPosixFilePermissions(new File(path).toPath).asScala.map(_.toString).toSeq.sorted.mkString(",")
}
