package org.apache.spark.sql.zorder.clustering

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.ListingFileSystem
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Tables that grow after they were clustered. */
@SameOnAllLines
class IncrementSuite extends AnyFunSuite with RunFixture {
  private val run = "BY (a, b)"
  private val rows = 40000L

  private def clustered(path: Path, files: Int = 16): Unit = {
    numbers(rows).repartition(4).write.parquet(path.toString)
    done(zorder(path, s"$run WITH (fileCount = $files, pageRowLimit = 500)"))
    ()
  }

  private def more(from: Long, n: Long): DataFrame =
    numbers(from + n).where(s"id >= $from")

  private def append(path: Path, df: DataFrame): Unit =
    df.coalesce(1).write.mode("append").parquet(path.toString)

  test("nothing new: the directory is listed once, nothing is read, nothing is written") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      val before = listing(path)
      val (row, watch) = JobWatch(spark)(zorder(path, run))
      assert(status(row) === "NOTHING_TO_DO" && watch.reads.isEmpty && listing(path) === before)
      withConf(ListingFileSystem.settings: _*) {
        val listed = ListingFileSystem.during(zorder(path, run))
        assert(listed.count(_ == path.toString) === 1, listed)
      }
    }
  }

  test("1 % that falls into few cells: these and the new file are written, the others stay as they are") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path, 64)
      val before = dataFiles(path)
      // one corner of the plane, three times over: about 400 rows
      val corner = numbers(rows).where("a < 60 AND b < 60000").crossJoin(spark.range(3).toDF("copy"))
      append(path, corner.selectExpr("id + 1000000 * (copy + 1) AS id", "a", "b", "s", "d"))
      val dry = zorder(path, s"$run DRY RUN")
      assert(status(dry) === "DRY_RUN" && reason(dry).contains("fell into"), reason(dry))
      val (row, watch) = JobWatch(spark)(done(keepsRows(path)(zorder(path, run))))
      assert(
        reason(row).contains("were merged there") && reason(row).contains("writeBudget is 5.0"),
        reason(row))
      val after = dataFiles(path)
      val same = before.toSet.intersect(after.toSet).size
      assert(same >= 62 && after.size === 64, s"$same files stayed")
      val written =
        row.getAs[Row]("metrics").getAs[Row]("filesAdded")
      val touched =
        row.getAs[Row]("metrics").getAs[Row]("filesRemoved")
      assert(written.getAs[Long]("totalSize") <= 3 * touched.getAs[Long]("totalSize"))
      assert(
        watch.reads.map(_._1.split(": ").last).filter(_.nonEmpty) === Seq("sample", "rewrite"),
        watch.jobs)
      for (c <- Seq("a", "b"))
        assert(math.abs(share(row, "ab".indexOf(c), "files", "measured") - shareRead(read(path), c)) < 0.05)
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
    }
  }

  test("1 % over all cells: files of their own in layout order; the budget says when all is written anew") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      val before = dataFiles(path)
      append(path, more(rows, 400))
      val row = done(keepsRows(path)(zorder(path, run)))
      assert(
        reason(row).contains("belong to many cells") && reason(row).contains("4 files of their own"),
        reason(row))
      assert(before.toSet.subsetOf(dataFiles(path).toSet) && dataFiles(path).size === 20)
      assert(metric[Long](row, "rows") === 400)
      for (c <- 0 to 1) {
        assert(share(row, c, "files", "measured") < share(row, c, "files", "now") + 0.001)
        assert(math.abs(share(row, c, "files", "forecast") - share(row, c, "files", "measured")) < 0.02)
      }
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
      // a quarter of the table lies across the cells in the end: now writing all anew is within the budget
      append(path, more(rows + 400, 14000))
      val anew = done(keepsRows(path)(zorder(path, run)))
      assert(metric[Long](anew, "rows") === rows + 14400, reason(anew))
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
    }
  }

  test("a few new rows in many files: no more jobs than there have to be") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path, 64)
      append(path, more(rows, 400))
      val (row, watch) = keepsRows(path)(JobWatch(spark)(done(zorder(path, run))))
      assert(metric[Long](row, "rows") === 400, reason(row))
      watch.startedAtMost(4)
    }
  }

  test("a number of files that the rows do not give is asked for once") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).selectExpr("id", "a", "b", "if(id < 3, 0, 1) p").coalesce(1).write.partitionBy("p")
        .parquet(path.toString)
      val asked = s"$run WITH (fileCount = 8, force = true)"
      val first = done(zorder(path, asked))
      assert(metric[Long](first, "numFilesAdded") === 3 + 8)
      assert(status(zorder(path, asked)) === "NOTHING_TO_DO")
      assert(status(zorder(path, s"$run WITH (fileCount = 2, force = true)")) === "DONE")
    }
  }

  test("the worst files alone are no reason for a new layout of the partition") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path, 8)
      append(path, more(rows, rows + 10000))
      val row = done(keepsRows(path)(zorder(path, s"$run WITH (worstFiles = 0.5)")))
      assert(row.getAs[String]("layout_chosen").contains("stored layout"), reason(row))
    }
  }

  private def inState(path: Path, dir: String): Seq[Path] = {
    val all = Files.list(path.resolve("_zorder").resolve(dir))
    try all.iterator.asScala.toVector
    finally all.close()
  }

  /** Gives the table's only layout the id that earlier versions gave it: the first eight digits. */
  private def withShortId(path: Path): String = {
    // the sums of the old texts
    val sums = Seq("layouts", "runs").flatMap(inState(path, _)).filter(_.toString.endsWith(".crc"))
    sums.foreach(f => Files.delete(f))
    val layout = inState(path, "layouts").head
    val id = layout.getFileName.toString.stripSuffix(".json")
    val short = id.take(8)
    Files.move(layout, layout.resolveSibling(s"$short.json"))
    inState(path, "runs").foreach { record =>
      val text = new String(Files.readAllBytes(record), UTF_8)
      assert(text.contains(id))
      Files.write(record, text.replace(id, short).getBytes(UTF_8))
    }
    short
  }

  test("a table whose layout has the shorter id of an earlier version grows in it, and the id stays") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      val short = withShortId(path)
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
      val before = dataFiles(path)
      append(path, more(rows, 400))
      val row = done(keepsRows(path)(zorder(path, run)))
      assert(reason(row).contains("4 files of their own"), reason(row))
      assert(before.toSet.subsetOf(dataFiles(path).toSet) && dataFiles(path).size === 20)
      assert(row.getAs[String]("layout_chosen").endsWith(s"stored layout $short"))
      // all files are known, by the records of both runs
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
      val layouts = inState(path, "layouts").map(_.getFileName.toString).filter(_.endsWith(".json"))
      assert(layouts === Seq(s"$short.json"))
      val file = s"zorder_file('path:$path#$short', a, b)"
      assert(read(path).selectExpr(file).distinct().count() === 16)
    }
  }

  test("rounds of days that overlap: all is written anew before the table has doubled", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def rounds(from: Int, until: Int): DataFrame = spark.range(from * 10000L, until * 10000L).selectExpr(
        "id",
        "int(id DIV 10000 * 2 + pmod(hash(id), 7)) AS a",
        "pmod(hash(id, 1), 1000000) AS b")
      rounds(0, 16).coalesce(1).write.parquet(path.toString)
      val size = dataFiles(path).keys.toSeq.map(f => java.nio.file.Files.size(path.resolve(f))).sum / 16
      val by = s"$run WITH (targetFileSize = '$size')"
      done(zorder(path, by))
      // each round reads little more of the old days, and of all rows by one column; by both, of its own days, much more
      val anew = (16 until 32).find { n =>
        append(path, rounds(n, n + 1))
        metric[Long](done(zorder(path, by)), "rows") === (n + 1) * 10000L
      }
      assert(anew.exists(_ < 26), anew)
    }
  }

  /** Rows of these days with values of `b` that lie anywhere. */
  private def days(from: Int, until: Int, first: Long, n: Long): DataFrame =
    spark.range(first, first + n).selectExpr(
      "id",
      s"int($from + pmod(hash(id), ${until - from})) AS a",
      "pmod(hash(id, 1), 1000000) AS b",
      "sha1(string(id)) AS s")

  /** `BY (a, b)` into files of a 64th of this file. */
  private def in64Files(file: Path): String =
    s"$run WITH (targetFileSize = '${java.nio.file.Files.size(file) / 64}')"

  /** The mean widths of the ranges that the files have of `a` and `b`. */
  private def widths(files: Seq[Path]): (Double, Double) = {
    val each =
      files.map(f => spark.read.parquet(f.toString).selectExpr("max(a) - min(a)", "max(b) - min(b)").head())
    def mean(of: Row => Number): Double = each.map(of(_).doubleValue).sum / each.length
    (mean(_.getAs[Number](0)), mean(_.getAs[Number](1)))
  }

  test(
    "rows beyond the last values of the layout are cut by both columns, by a layout fitted on them alone") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      append(path, days(0, 100, 0, 90000))
      val by = in64Files(path.resolve(dataFiles(path).keys.head))
      done(zorder(path, by))
      val before = dataFiles(path).keySet
      append(path, days(100, 150, 90000, 22500))
      val row = done(keepsRows(path)(zorder(path, by)))
      assert(reason(row).contains(
        "would become twice as large as files of a new layout, or larger; by a layout fitted on them alone they are 8 files"))
      val late = (dataFiles(path).keySet -- before).toSeq.map(path.resolve(_))
      val (a, b) = widths(late)
      assert(late.length === 8 && a < 0.6 * 50 && b < 0.6 * 1000000, (a, b))
      for (c <- 0 to 1)
        assert(math.abs(share(row, c, "files", "forecast") - share(row, c, "files", "measured")) < 0.02)
      // the partition keeps its layout
      assert(path.resolve("_zorder/layouts").toFile.list().count(!_.startsWith(".")) === 1)
      assert(status(zorder(path, by)) === "NOTHING_TO_DO")
      append(path, days(140, 160, 112500, 12000))
      done(keepsRows(path)(zorder(path, by)))
    }
  }

  test("rows beyond the last value of the only column become as many files as they fill, not one") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      append(path, days(0, 100, 0, 90000).withColumn("a", col("a") * 1000 + col("id") % 1000))
      val by = in64Files(path.resolve(dataFiles(path).keys.head)).replace("(a, b)", "(a)")
      done(zorder(path, by))
      val before = dataFiles(path).keySet
      append(path, days(100, 150, 90000, 22500).withColumn("a", col("a") * 1000 + col("id") % 1000))
      val row = done(keepsRows(path)(zorder(path, by)))
      // a fifth of the 64 files
      assert(reason(row).contains("by a layout fitted on them alone they are 12 files"), reason(row))
      assert((dataFiles(path).keySet -- before).size === 12)
      assert(status(zorder(path, by)) === "NOTHING_TO_DO")
    }
  }

  test("rows in the order of time, of which a new layout gains nothing, are taken in by an outgrown one") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // in files as small as those of the layout, in the order that a new one would have
      def add(from: Long, files: Int): Unit =
        spark.range(from, from + files * 1000L, 1, files).selectExpr("id AS ts", "sha1(string(id)) AS s")
          .write.mode("append").parquet(path.toString)
      val by = "BY (ts) WITH (fileCount = 16)"
      add(0, 8)
      done(zorder(path, by))
      for (round <- 0 until 2) {
        add(8000 + round * 6000L, 6)
        assert(reason(zorder(path, s"$by DRY RUN")).contains("of their own"))
        done(keepsRows(path)(zorder(path, by)))
        assert(status(zorder(path, by)) === "NOTHING_TO_DO")
      }
      val layouts = inState(path, "layouts").filterNot(_.getFileName.toString.startsWith("."))
      assert(layouts.length === 1)
    }
  }

  test("of many partitions, the first are told of") {
    val each = (1 to 12).map(i => s"$i.")
    assert(IncrementPlanner.summary(each.take(5)) == "1. 2. 3. 4. 5.")
    assert(IncrementPlanner.summary(each) == "1. 2. 3. 4. 5. And 7 more partitions.")
    assert(IncrementPlanner.layouts(Seq("a", "b")) == "stored layout a, b")
    assert(IncrementPlanner.layouts(each) == "12 stored layouts")
  }

  test("the stored layouts of a partitioned table are those of its partitions, also after a run over one") {
    withTempDir { dir =>
      val path = dir.resolve("t#1")
      def rows(from: Long, n: Long, p: String) = more(from, n).selectExpr("id", "a", "b", s"$p AS p")
      rows(0, 8000, "id % 2").coalesce(1).write.partitionBy("p").parquet(path.toString)
      done(zorder(path, s"$run WITH (fileCount = 4)"))
      rows(8000, 4000, "1").coalesce(1).write.mode("append").partitionBy("p").parquet(path.toString)
      done(zorder(path, s"FULL WHERE p = 1 $run WITH (fileCount = 8)"))
      def files(choice: String): Long =
        read(path).selectExpr(s"zorder_file('path:$path$choice', a, b)").distinct().count()
      assert(intercept[ZOrderException](files("")).condition === "ZORDER_CHOICE_NEEDED.LAYOUT_OF_A_PARTITION")
      assert(files("#p=0") === 4 && files("#p=1") === 8)
      assert(intercept[ZOrderException](files("#p=2")).condition === "ZORDER_LAYOUT_NOT_FOUND.NO_SUCH_ID")
    }
  }

  test("late rows of two partitions, of other days in each, are cut by a layout for each", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def both(from: Int, until: Int, first: Long, n: Long): Unit = {
        def part(p: Int, shift: Int) =
          days(from + shift, until + shift, first + p * 1000000L, n).selectExpr("*", s"$p AS p")
        part(
          1,
          0).union(part(2, 1000)).coalesce(1).write.mode("append").partitionBy("p").parquet(path.toString)
      }
      both(0, 100, 0, 90000)
      val by = in64Files(path.resolve(dataFiles(path).keys.head))
      done(zorder(path, by))
      val before = dataFiles(path).keySet
      both(100, 150, 90000, 22500)
      val row = done(keepsRows(path)(zorder(path, by)))
      assert(reason(row).split("by a layout fitted on them alone").length === 3, reason(row))
      val late = (dataFiles(path).keySet -- before).toSeq.map(path.resolve(_))
      val (a, b) = widths(late)
      assert(late.length === 16 && a < 0.6 * 50 && b < 0.6 * 1000000, (a, b))
      for (c <- 0 to 1)
        assert(math.abs(share(row, c, "files", "forecast") - share(row, c, "files", "measured")) < 0.02)
      assert(status(zorder(path, by)) === "NOTHING_TO_DO")
    }
  }

  test(
    "late rows beside a partition that is merged: a layout of their own, unless it spreads one value",
    LongTest) {
    for (heavy <- Seq(false, true)) withTempDir { dir =>
      val path = dir.resolve("t")
      def add(df: DataFrame, p: Int): Unit =
        df.selectExpr(
          "*",
          s"$p AS p").coalesce(1).write.mode("append").partitionBy("p").parquet(path.toString)
      for (p <- 1 to 2) add(days(0, 100, p * 1000000L, 90000), p)
      val by = in64Files(path.resolve(dataFiles(path).keys.head))
      done(zorder(path, by))
      val late = days(100, 150, 1090000, 22500)
      add(
        if (heavy) late.selectExpr("id", "IF(id % 2 = 0, 120, a) AS a", "IF(id % 2 = 0, 7, b) AS b", "s")
        else late,
        1)
      add(days(0, 100, 2090000, 45000).where("a < 24 AND b < 240000"), 2)
      val row = done(keepsRows(path)(zorder(path, by)))
      assert(reason(row).contains("were merged there"), reason(row))
      assert(reason(row).contains("by a layout fitted on them alone") === !heavy, reason(row))
      assert(status(zorder(path, by)) === "NOTHING_TO_DO")
    }
  }

  test("files across the cells are cut by their pages, too", LongTest) {
    def pagesRead(byPages: Boolean): Double = withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      append(path, more(rows, 8000))
      withConf("spark.zorder.pages.enabled" -> byPages.toString) {
        val row = done(keepsRows(path)(zorder(path, s"$run WITH (pageRowLimit = 250)")))
        assert(reason(row).contains("files of their own"), reason(row))
        def read(what: String) = (0 to 1).map(share(row, _, "pages", what)).sum / 2
        info(s"pages $byPages: forecast ${read("forecast")}, measured ${read("measured")}")
        assert(math.abs(read("forecast") / read("measured") - 1) < 0.08)
        read("measured")
      }
    }
    assert(pagesRead(byPages = true) < 0.98 * pagesRead(byPages = false))
  }

  test("rows across the cells are merged with those of the next append, and no row is lost") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      val before = dataFiles(path).toSet
      append(path, more(rows, 2000))
      val first = done(keepsRows(path)(zorder(path, run)))
      assert(reason(first).contains("they are 8 files of their own"), reason(first))
      val own = dataFiles(path).toSet -- before
      append(path, more(rows + 2000, 2000))
      val row = done(keepsRows(path)(zorder(path, run)))
      assert(
        reason(row).contains("with 8 files") && reason(
          row).contains("of earlier runs, 8 files of their own"),
        reason(row))
      val after = dataFiles(path).toSet
      assert(before.subsetOf(after) && after.size === 24 && after.intersect(own).isEmpty)
      assert(metric[Long](row, "rows") === 4000)
      for (c <- 0 to 1)
        assert(math.abs(share(row, c, "files", "forecast") - share(row, c, "files", "measured")) < 0.03)
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
    }
  }

  test("a budget of 1000 merges whatever comes; a row that is new is found by every look-up", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      append(path, more(rows, 400))
      val row = done(keepsRows(path)(zorder(path, s"$run WITH (writeBudget = 1000)")))
      assert(reason(row).contains("16 of 16 cells") && dataFiles(path).size === 16, reason(row))
      assert(read(path).where(s"id = ${rows + 7}").count() === 1)
    }
  }

  test("partitions: the untouched stay, the grown grow, new ones are clustered, in one statement", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def part(df: DataFrame, p: Int) =
        df.selectExpr(
          "*",
          s"$p AS p").coalesce(1).write.mode("append").partitionBy("p").parquet(path.toString)
      part(numbers(16000), 1)
      part(numbers(16000), 2)
      val options = "WITH (targetFileSize = 64k)"
      done(zorder(path, s"$run $options"))
      val before = dataFiles(path)
      part(numbers(4000).where("a < 30"), 2)
      part(numbers(16000), 3)
      val row = done(keepsRows(path)(zorder(path, s"$run $options")))
      val after = dataFiles(path)
      def of(files: Map[String, String], p: Int) = files.filter(_._1.startsWith(s"p=$p/")).toSet
      assert(of(after, 1) === of(before, 1))
      assert(of(after, 2) !== of(before, 2))
      assert(of(after, 2).intersect(of(before, 2)).nonEmpty && of(after, 3).size > 1, reason(row))
      assert(status(zorder(path, s"$run $options")) === "NOTHING_TO_DO")
    }
  }

  test("WHERE never refits a stored layout; other columns do", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      clustered(path)
      val id = spark.sql(s"SELECT * FROM zorder_history('$path')").head().getAs[String]("report")
      append(path, more(rows, 4000))
      val row = done(keepsRows(path)(zorder(path, s"WHERE id >= $rows $run")))
      assert(row.getAs[String]("layout_chosen").contains("stored layout"), id)
      assert(metric[Long](row, "rows") === 4000)
      val other = zorder(path, "BY (b, a) WITH (fileCount = 16, force = true)")
      assert(metric[Long](done(other), "rows") === rows + 4000)
    }
  }
}
