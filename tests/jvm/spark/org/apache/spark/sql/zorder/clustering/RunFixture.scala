package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}
import java.security.MessageDigest
import java.util.Locale

import scala.collection.JavaConverters._

import org.scalatest.TestSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.UncompiledQueries
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** Small tables, statements on them, and what is in their directories. */
trait RunFixture extends UncompiledQueries { this: TestSuite =>

  /** `n` rows in no order of a and b, but in the order of id. */
  def numbers(n: Long): DataFrame = spark.range(0, n, 1, 4).selectExpr(
    "id",
    "cast(pmod(xxhash64(id, 1), 1000) as int) a",
    "pmod(xxhash64(id, 2), 1000000) b",
    "concat('customer/', lpad(cast(pmod(xxhash64(id, 3), 5000) as string), 8, '0')) s",
    "date_add(date'2020-01-01', cast(pmod(xxhash64(id, 4), 900) as int)) d")

  def zorder(path: Path, rest: String): Row = one(s"ZORDER TABLE '$path' $rest")

  def metric[T](row: Row, name: String): T = row.getAs[Row]("metrics").getAs[T](name)

  /** A share of the result row: of files, row_groups or pages; now, forecast, measured or bound. */
  def share(row: Row, column: Int, level: String, what: String): Double =
    row.getSeq[Row](row.fieldIndex("columns"))(column).getAs[Row](level).getAs[Double](what)

  /** The rows of a list of the result: columns, queries, others, alternatives. */
  def list(row: Row, name: String): Seq[Row] = row.getSeq[Row](row.fieldIndex(name))

  /** The queries of the result as the log has them, and the names of columns of the result. */
  def queries(row: Row): Seq[String] = list(row, "queries").map(_.getAs[String]("query"))
  def names(row: Row, name: String): Seq[String] = list(row, name).map(_.getAs[String]("name"))

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

  def sameRows(before: DataFrame, after: DataFrame): Unit = same(content(before), content(after))

  /** Runs `body` and checks that the rows of the table at `path` stay what they were. */
  def keepsRows[T](path: Path)(body: => T): T = {
    val before = content(read(path))
    val out = body
    same(before, content(read(path)))
    out
  }

  /** Names and types of the columns, and the rows as sorted texts. */
  private case class Content(columns: Set[(String, DataType)], rows: Seq[String])

  /** By one scan; nothing is compiled to compare rows. */
  private def content(df: DataFrame): Content = {
    val columns = df.columns.toSeq.sorted.map(c => "`" + c.replace("`", "``") + "`")
    val rows = df.selectExpr(columns: _*).collect().map(text(_)).sorted.toSeq
    Content(df.schema.map(f => (f.name, f.dataType.asNullable)).toSet, rows)
  }

  private def same(before: Content, after: Content): Unit = {
    assert(after.columns === before.columns)
    assert(after.rows.length === before.rows.length)
    assert(before.rows.zip(after.rows).find { case (x, y) => x != y } === None)
  }

  private def text(value: Any): String = value match {
    case row: Row => row.toSeq.map(text).mkString("{", ", ", "}")
    case bytes: Array[Byte] => bytes.mkString("[", " ", "]")
    case all: scala.collection.Seq[_] => all.map(text).mkString("[", ", ", "]")
    case all: scala.collection.Map[_, _] =>
      all.toSeq.map { case (k, v) => s"${text(k)}: ${text(v)}" }.sorted.mkString("<", ", ", ">")
    case other => String.valueOf(other)
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

  /** The share of the rows in files that a look-up on `column` reads, by the rows, which know nothing of us. */
  def shareRead(table: DataFrame, column: String): Double = {
    val rows = table.selectExpr(s"$column AS v", "input_file_name() AS f").collect().toSeq
    def values(in: Seq[Row]): Seq[Comparable[Any]] =
      in.filterNot(_.isNullAt(0)).map(_.getAs[Comparable[Any]]("v"))
    val files = rows.groupBy(_.getAs[String]("f")).values.toSeq.map(in => (in.length, values(in)))
      .collect { case (n, held) if held.nonEmpty => (n.toDouble, held.reduce(least), held.reduce(greatest)) }
    val read = values(rows).groupBy(identity).iterator.map { case (v, equal) =>
      val hit = files.filter { case (_, lo, hi) => v.compareTo(lo) >= 0 && v.compareTo(hi) <= 0 }
      hit.map(_._1).sum * equal.length
    }.sum
    read / (values(rows).length.toDouble * rows.length)
  }

  private def least(x: Comparable[Any], y: Comparable[Any]): Comparable[Any] =
    if (x.compareTo(y) <= 0) x else y
  private def greatest(x: Comparable[Any], y: Comparable[Any]): Comparable[Any] =
    if (x.compareTo(y) >= 0) x else y

  /** Lets somebody else do something, once, when a run comes to a place. */
  def meanwhile[A](place: String)(other: => Any)(body: => A): A = {
    CrashPoint.meanwhile = p => if (p == place) { CrashPoint.meanwhile = _ => (); other; () }
    try body
    finally CrashPoint.meanwhile = _ => ()
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
