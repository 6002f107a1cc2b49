package org.apache.spark.sql.zorder.state

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.nio.file.attribute.FileTime
import java.util.regex.Matcher.quoteReplacement

import scala.collection.JavaConverters._

import org.apache.spark.sql.{DataFrame, SparkSession}

/**
 * The directories below `tests/state`: what earlier versions have left on disk. Git keeps neither the times of files nor
 * empty directories, and journals name places, so a fixture has a list of its times and [[Place]] for its own place.
 */
object StateFixture {
  val home: Path = Paths.get("tests/state")

  private val Place = "@DIR@"
  private val Times = "times.txt"
  private val Month = 30L * 24 * 3600 * 1000

  def of(name: String): Path = home.resolve(name)

  def text(file: Path): String = new String(Files.readAllBytes(file), UTF_8)

  def lines(file: Path): Seq[String] = text(file).split('\n').toSeq.filter(_.nonEmpty)

  def write(file: Path, text: String): Unit = {
    Files.createDirectories(file.getParent)
    Files.write(file, text.getBytes(UTF_8))
    ()
  }

  /** A copy of a fixture in `into`, as if it had been written there. */
  def unpack(name: String, into: Path): Unit = {
    val from = of(name)
    lines(from.resolve(Times)).foreach { line =>
      val (time, rel) = (line.takeWhile(_ != ' '), line.dropWhile(_ != ' ').drop(1))
      val to = into.resolve(rel)
      if (time == "dir") Files.createDirectories(to)
      else {
        if (isText(to)) write(to, here(from.resolve(rel), into))
        else {
          Files.createDirectories(to.getParent)
          Files.copy(from.resolve(rel), to)
        }
        Files.setLastModifiedTime(to, FileTime.fromMillis(time.toLong))
      }
    }
  }

  /** The text of a fixture's file, for a copy of the fixture in `place`. */
  def here(file: Path, place: Path): String = text(file).replace(Place, place.toString)

  /** The same text for every place. */
  def anywhere(text: String, place: Path): String = text.replace(place.toString, Place)

  /**
   * Keeps `dir` as a fixture. Its journals become a month old, as nobody touches the journal of a run that may still be
   * at work, and are of another machine.
   */
  def pack(name: String, dir: Path): Unit = {
    val all = Files.walk(dir).iterator.asScala.toSeq.map(p => dir.relativize(p).toString -> p).sortBy(_._1)
    val kept = all.filterNot { case (rel, _) => rel.isEmpty || rel.matches("(.*/)?\\.[^/]*\\.crc") }
    val times = kept.flatMap { case (rel, path) =>
      if (Files.isDirectory(path)) if (Files.list(path).count() == 0) Some(s"dir $rel") else None
      else {
        val to = of(name).resolve(rel)
        if (isText(path)) write(to, aged(anywhere(text(path), dir)))
        else {
          Files.createDirectories(to.getParent)
          Files.copy(path, to)
        }
        val modified = Files.getLastModifiedTime(path).toMillis
        Some(s"${if (rel.endsWith("claim-zorder")) modified - Month else modified} $rel")
      }
    }
    write(of(name).resolve(Times), times.mkString("", "\n", "\n"))
  }

  private def isText(file: Path): Boolean =
    file.getFileName.toString.matches("base|.*\\.(json|image|beat|claim-zorder)")

  private def aged(text: String): String = {
    val mine = "\\d+@[^\"\\s]*@pid:\\[\\d+\\]".r.replaceAllIn(text, quoteReplacement("1@host@pid:[1]"))
    "\"changedMs\":(\\d+)".r.replaceAllIn(mine, m => s""""changedMs":${m.group(1).toLong - Month}""")
  }

  /** The rows of the small tables. */
  def rows(spark: SparkSession, from: Int, until: Int, files: Int): DataFrame =
    spark.range(from.toLong, until.toLong, 1, files).selectExpr("id", "id * 7 % 100 AS v", "id % 2 AS p")

  /** Rows of the columns of the stored layouts `tree-*`, other ones than they were made from. */
  def layoutRows(spark: SparkSession): DataFrame = spark.range(60).selectExpr(
    "id * 37 % 101 a",
    "concat('https://example.org/some/path/', lpad(cast(id * 9973 % 10007 as string), 5, '0')) s",
    "if(id % 5 = 0, null, id * id) n")

  /** A column of each type that has an order, with its name as BY takes it. */
  val types: Seq[(String, String)] = Seq(
    "bo" -> "id % 2 = 0",
    "ti" -> "cast(id % 100 as tinyint)",
    "sm" -> "cast(id * 7 % 300 as smallint)",
    "i" -> "cast(id * 13 % 397 - 100 as int)",
    "l" -> "id * 1000003 % 99991",
    "f" -> "cast(id * 17 % 389 / 3 - 40 as float)",
    "d" -> "cast(id * 19 % 383 / 7 - 20 as double)",
    "d7" -> "cast(id * 23 % 379 / 4 as decimal(7, 2))",
    "d38" -> "cast(id * 29 % 373 / 8 as decimal(38, 10))",
    "s" -> "concat('name ', id * 31 % 367)",
    "long" -> "concat(repeat('x', 100), id * 67 % 307)",
    "b" -> "cast(concat('b', id * 37 % 359) as binary)",
    "dt" -> "date_add(date'1969-06-01', cast(id * 41 % 353 as int))",
    "ts" -> "timestamp_seconds(id * 43 % 349 * 86400)",
    "tn" -> "cast(timestamp_seconds(id * 47 % 347 * 3601) as timestamp_ntz)",
    "ym" -> "make_ym_interval(0, cast(id * 53 % 331 as int))",
    "dti" -> "make_dt_interval(cast(id * 59 % 313 as int))",
    "holes" -> "if(id % 4 = 0, null, id * 61 % 311)",
    "st" -> "named_struct('x', id * 71 % 293, 'y y', if(id % 3 = 0, null, cast(id % 7 as string)))")

  /** As BY takes them, and one expression. */
  val typed: Seq[String] =
    types.map(_._1).filterNot(_ == "st") ++ Seq("st.x", "st.`y y`", "substring(s, 6, 2)")

  def typedRows(spark: SparkSession, rows: Long): DataFrame =
    spark.range(0, rows, 1, 2).selectExpr(types.map { case (name, sql) => s"$sql AS $name" }: _*)

  /** File and key of each row by a layout, as text. */
  def keys(rows: DataFrame, layout: String, columns: Seq[String]): Seq[String] = {
    val arguments = (s"'${layout.replace("\\", "\\\\").replace("'", "\\'")}'" +: columns).mkString(", ")
    rows.selectExpr(s"zorder_file($arguments)", s"zorder_key($arguments)").collect().toSeq
      .map(r => s"${r.getInt(0)} ${r.getLong(1)}")
  }
}
