package org.apache.spark.sql.zorder.store

import java.util.UUID

import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.Suite

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.zorder.OwnSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** A session whose `s3a:` paths are on the S3 server, and whose warehouse is on the local disk. */
private[store] trait StoreFixture extends OwnSession { this: Suite =>

  /** Settings beside those of S3A. */
  protected def settings: Map[String, String] = Map.empty

  protected def spark: SparkSession = ownSession

  override protected def configured(start: SparkSession.Builder): SparkSession.Builder =
    (StoreFixture.s3a ++ settings).foldLeft(start) { case (b, (key, value)) => b.config(key, value) }

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.setLogLevel("ERROR")
  }

  /** An external table of four files, or of four in each of two partitions; its rows are the ids below 4000. */
  protected def withTable[A](partitioned: Boolean)(body: (String, String) => A): A = {
    val name = if (partitioned) "parted" else "flat"
    val at = place(name)
    val columns = if (partitioned) Seq("p") else Nil
    numbers(0, 4000).write.partitionBy(columns: _*).parquet(at)
    sql(s"CREATE TABLE $name (id BIGINT, a INT, b BIGINT, p BIGINT) USING parquet " +
      (if (partitioned) "PARTITIONED BY (p) " else "") + s"LOCATION '$at'")
    if (partitioned) sql(s"MSCK REPAIR TABLE $name")
    try body(name, at)
    finally sql(s"DROP TABLE $name")
  }

  protected def append(table: String, from: Long, until: Long): Unit =
    numbers(from, until, files = 1).write.insertInto(table)

  protected def cluster(table: String): Row =
    one(s"ZORDER TABLE $table BY (a, b) WITH (fileCount = 4, force = true, location = 'move')")

  protected def fs: FileSystem =
    new Path(s"s3a://${S3Server.Bucket}/").getFileSystem(Shims.classic(spark).sessionState.newHadoopConf())

  /** A place that nobody has used. */
  protected def place(name: String): String =
    s"s3a://${S3Server.Bucket}/${name}_${UUID.randomUUID.toString.take(8)}/$name"

  protected def numbers(from: Long, until: Long, files: Int = 4): DataFrame =
    spark.range(from, until, 1, files).selectExpr(
      "id",
      "cast(pmod(xxhash64(id, 1), 1000) as int) a",
      "pmod(xxhash64(id, 2), 1000000) b",
      "id % 2 AS p")

  protected def sql(text: String): DataFrame = spark.sql(text)

  protected def one(statement: String): Row = {
    val rows = sql(statement).collect()
    assert(rows.length == 1, rows.mkString(", "))
    rows.head
  }

  protected def done(row: Row): Row = {
    assert(row.getAs[String]("status") == "DONE", row.getAs[String]("reason"))
    row
  }

  protected def ids(table: String): Seq[Long] =
    spark.table(table).select("id").collect().map(_.getLong(0)).toSeq.sorted

  protected def refused(statement: String): String =
    try throw new AssertionError(s"not refused: ${sql(statement).collect().mkString}")
    catch { case e: ZOrderException => e.getMessage }

  /** All objects in the directory that `at` lies in, by their paths below that. */
  protected def beside(at: String): Seq[String] = {
    val parent = new Path(at).getParent
    val found = fs.listFiles(parent, true)
    Iterator.continually(found).takeWhile(_.hasNext)
      .map(_.next().getPath.toString.stripPrefix(s"$parent/")).toList.sorted
  }

  /** The requests that `body` makes. */
  protected def requests(body: => Any): Seq[Request] = {
    val before = S3Server.requests().size
    body
    S3Server.requests().drop(before)
  }

  protected def crashAt(point: String)(body: => Any): Boolean = {
    System.setProperty(CrashPoint.Property, point)
    try { body; false }
    catch { case _: CrashPoint.Crash => true }
    finally { System.clearProperty(CrashPoint.Property); () }
  }
}

private[store] object StoreFixture {

  /** Requests that change something. */
  val writing: Set[String] =
    Set("PutObject", "CopyObject", "DeleteObject", "DeleteObjects", "CreateMultipartUpload", "UploadPart")

  /** What docs/guide/operations.md recommends, and what a server without bulk deletes and buckets in its host name needs. */
  def s3a: Map[String, String] = Map(
    "endpoint" -> S3Server.endpoint,
    "path.style.access" -> "true",
    "access.key" -> S3Server.AccessKey,
    "secret.key" -> S3Server.SecretKey,
    "connection.ssl.enabled" -> "false",
    "aws.credentials.provider" -> "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "multiobjectdelete.enable" -> "false",
    "directory.marker.retention" -> "keep",
    "change.detection.mode" -> "none").map { case (key, value) => s"spark.hadoop.fs.s3a.$key" -> value }
}
