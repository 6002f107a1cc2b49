package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}
import java.security.MessageDigest
import java.util.Locale

import scala.collection.JavaConverters._

import org.scalatest.{Assertions, Suite}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{count, input_file_name, lit, max, min}
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ZOrderException

/** Small tables, statements on them, and what is in their directories. */
trait RunFixture extends ZOrderSession with Assertions { this: Suite =>

  /** `n` rows in no order of a and b, but in the order of id. */
  def numbers(n: Long): DataFrame = spark.range(0, n, 1, 4).selectExpr(
    "id",
    "cast(pmod(xxhash64(id, 1), 1000) as int) a",
    "pmod(xxhash64(id, 2), 1000000) b",
    "concat('customer/', lpad(cast(pmod(xxhash64(id, 3), 5000) as string), 8, '0')) s",
    "date_add(date'2020-01-01', cast(pmod(xxhash64(id, 4), 900) as int)) d")

  def zorder(path: Path, rest: String): Row = one(s"ZORDER TABLE '$path' $rest")

  def one(statement: String): Row = {
    val rows = spark.sql(statement).collect()
    assert(rows.length === 1)
    rows.head
  }

  def status(row: Row): String = row.getAs[String]("status")
  def reason(row: Row): String = row.getAs[String]("reason")
  def metric[T](row: Row, name: String): T = row.getAs[Row]("metrics").getAs[T](name)

  /** A share of the result row: of files, row_groups or pages; now, forecast, measured or bound. */
  def share(row: Row, column: Int, level: String, what: String): Double =
    row.getSeq[Row](row.fieldIndex("columns"))(column).getAs[Row](level).getAs[Double](what)

  /** The rows of a list of the result: columns, queries, others, alternatives. */
  def list(row: Row, name: String): Seq[Row] = row.getSeq[Row](row.fieldIndex(name))

  /** A view that is the query log of these filters on the table at `path`. */
  def logOf(view: String, path: Path, filters: Seq[String]): Unit = {
    read(path).createOrReplaceTempView("asked_table")
    val texts =
      filters.map(f => "\"SELECT * FROM asked_table WHERE " + f + "\"").mkString("array(", ", ", ")")
    spark.sql(s"SELECT * FROM zorder_query_log($texts)").createOrReplaceTempView(view)
  }

  def done(row: Row): Row = {
    assert(status(row) === "DONE", reason(row))
    row
  }

  def read(path: Path): DataFrame = spark.read.option("mergeSchema", "true").parquet(path.toString)

  def sameRows(before: DataFrame, after: DataFrame): Unit = {
    def types(df: DataFrame) = df.schema.map(f => (f.name, f.dataType.asNullable)).toSet
    assert(types(after) === types(before))
    val columns = before.columns.toSeq.map(c => "`" + c.replace("`", "``") + "`")
    val (x, y) = (before.selectExpr(columns: _*), after.selectExpr(columns: _*))
    assert(x.count() === y.count())
    assert(x.exceptAll(y).isEmpty && y.exceptAll(x).isEmpty)
  }

  /** Runs `body` and checks that the rows of the table at `path` stay what they were. */
  def keepsRows[T](path: Path)(body: => T): T = {
    val before = spark.createDataFrame(read(path).collect().toSeq.asJava, read(path).schema)
    val out = body
    sameRows(before, read(path))
    out
  }

  /** Every file under `root` and beside it, with its bytes' digest. */
  def listing(root: Path): Map[String, String] = {
    val all = Files.walk(root.getParent)
    try all.iterator.asScala.filter(Files.isRegularFile(_)).map { f =>
        val digest = MessageDigest.getInstance("MD5").digest(Files.readAllBytes(f))
        root.getParent.relativize(f).toString -> digest.map(b => f"$b%02x").mkString
      }.toMap
    finally all.close()
  }

  /** The data files of a table, by names relative to its root. */
  def dataFiles(root: Path): Map[String, String] = {
    val prefix = s"${root.getFileName}/"
    listing(root).collect {
      case (f, md5) if f.startsWith(prefix) && f.endsWith(".parquet") => f.drop(prefix.length) -> md5
    }
  }

  /** The share of the rows in files that a look-up on `column` reads, by a query that knows nothing of us. */
  def shareRead(table: DataFrame, column: String): Double = {
    val rows = table.selectExpr(s"$column AS v").withColumn("f", input_file_name())
    val files = rows.groupBy("f").agg(count(lit(1)).as("n"), min("v").as("lo"), max("v").as("hi"))
    val values = rows.where("v IS NOT NULL").groupBy("v").agg(count(lit(1)).as("m"))
    val joined = values.crossJoin(files).where("v >= lo AND v <= hi").selectExpr("coalesce(sum(n * m), 0L)")
    joined.head().getLong(0).toDouble / (rows.where("v IS NOT NULL").count().toDouble * rows.count())
  }

  /** A statement that must be refused with one sentence and change nothing. */
  def refused(root: Path, statement: String, words: String*): Unit = {
    val before = listing(root)
    val message = intercept[ZOrderException](spark.sql(statement).collect()).getMessage
    words.foreach(w => assert(message.toLowerCase(Locale.ROOT).contains(w.toLowerCase(Locale.ROOT)), message))
    assert(!message.trim.contains('\n'), message)
    assert(listing(root) === before)
  }
}
