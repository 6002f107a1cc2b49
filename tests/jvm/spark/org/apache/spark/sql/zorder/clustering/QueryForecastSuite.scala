package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.querylog.{LoggedCondition, LoggedQuery}
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Runs with a query log: what they forecast is what is measured afterwards, and the log decides. */
@SameOnAllLines
class QueryForecastSuite extends AnyFunSuite with RunFixture {
  private val rows = 200000L

  /** Values spread over 0 .. 1. */
  private val spread = (0 until 12).map(i => (i * 0.618034 + 0.1) % 1.0)

  private def at(x: Double, n: Long): Long = (x * n).toLong

  private def url(x: Double): String = f"https://example.org/a/long/common/prefix/of/it/${at(x, 1000000)}%07d"

  private val independent = spread.flatMap { x =>
    val (a, b) = (at(x, 1000), at((x * 7) % 1.0, 1000000))
    Seq(s"small = $a", s"wide BETWEEN $b AND ${b + 50000}", s"small BETWEEN $a AND ${a + 200} AND wide < $b")
  }
  private val skewed = spread.flatMap { x =>
    val a = at(x * x, 1000000)
    Seq(s"eight = ${at(x, 8)}", s"skewed BETWEEN $a AND ${a + 3000}", s"eight IN (1, 5) AND skewed > $a")
  }
  private val holes = spread.flatMap { x =>
    val a = at(x, 1000000)
    Seq(
      s"url = '${url(x)}'",
      s"holes < $a",
      s"holes IS NULL AND url > '${url(x)}'",
      s"holes = $a OR url < '${url(0.1)}'")
  }

  private def off(row: Row, level: String): Double = {
    val each = list(row, "queries").map { q =>
      val shares = q.getAs[Row](level)
      math.abs(shares.getAs[Double]("forecast") / shares.getAs[Double]("measured") - 1.0)
    }
    each.sum / each.length
  }

  test("a NaN takes the bounds away from its row group and from all pages in it, as is forecast") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).selectExpr("IF(id % 50 = 0, double('NaN'), double(b)) AS x", "a AS y").repartition(4)
        .write.parquet(path.toString)
      val row = done(zorder(path, "BY (x, y) WITH (fileCount = 16, pageRowLimit = 500)"))
      // those of the greatest values, beside those that a look-up finds
      assert(share(row, 0, "files", "measured") > 0.35)
      for (c <- 0 to 1; (level, most) <- Seq("files" -> 0.02, "row_groups" -> 0.02, "pages" -> 0.04)) {
        val off = share(row, c, level, "forecast") - share(row, c, level, "measured")
        assert(math.abs(off) < most, s"$level of $c")
      }
    }
  }

  test("a partition of one row, of which no rows are held out, and a query of partitions alone") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr(
        "id",
        "a",
        "b",
        "int(id = 0) AS p").write.partitionBy("p").parquet(path.toString)
      logOf("asked", path, Seq("p = 1", "a = 7"))
      val row = done(keepsRows(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, queryLog = 'asked')")))
      assert(list(row, "queries").length === 2)
    }
  }

  test(
    "the forecast of queries, columns and the shuffle is within 10 % of what is measured",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      TableOfKinds(spark, rows).repartition(4).write.parquet(path.toString)
      val cases = Seq("small, wide" -> independent, "eight, skewed" -> skewed, "holes, url" -> holes)
      for ((by, filters) <- cases) {
        logOf("asked", path, filters)
        val options = "WITH (fileCount = 16, pageRowLimit = 2000, queryLog = 'asked')"
        val copy = dir.resolve(by.take(5))
        val (row, watch) = JobWatch(spark)(done(zorder(path, s"BY ($by) $options INTO '$copy'")))
        val queries = list(row, "queries")
        assert(queries.length === filters.length / spread.length, queries)
        assert(math.abs(queries.map(_.getAs[Double]("weight")).sum - 1.0) < 1e-9)
        info(Seq(
          "files",
          "row_groups",
          "pages").map(l => f"$l off by ${off(row, l)}%.3f").mkString(s"$by: ", ", ", ""))
        for (level <- Seq("files", "row_groups", "pages")) {
          assert(off(row, level) <= 0.1, s"$by $level\n${queries.mkString("\n")}")
          queries.foreach { q =>
            val s = q.getAs[Row](level)
            assert(s.getAs[Double]("measured") >= 0.98 * s.getAs[Double]("bound"), q)
          }
        }
        assert(queries.forall(_.getAs[Row]("files").getAs[Double]("now") > 0.9))
        for (c <- 0 to 1; level <- Seq("files", "pages")) {
          val (told, found) = (share(row, c, level, "forecast"), share(row, c, level, "measured"))
          assert(math.abs(told / found - 1) < 0.1, s"$by $c $level: $told, $found")
        }
        val (told, found) = (metric[Long](row, "bytesToShuffle"), watch.shuffleBytes)
        info(s"$told bytes of shuffle told, $found written")
        assert(told < 2 * found && found < 2 * told, s"$by: $told told, $found written")
        assert(metric[Long](row, "bytesToRead") > metric[Long](row, "inputBytes"))
        assert(metric[Long](row, "localDiskBytes") >= told)
      }
    }
  }

  test("a dry run shows the queries of the log by their shapes, and measures nothing", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      TableOfKinds(spark, rows / 5).repartition(4).write.parquet(path.toString)
      logOf("asked", path, independent)
      val text = zorder(path, "BY (small, wide) WITH (fileCount = 16, queryLog = 'asked') DRY RUN")
      assert(queries(text).toSet === Set(
        "small = ?",
        "wide BETWEEN ? AND ?",
        "small BETWEEN ? AND ? AND wide <= ?"))
      assert(list(text, "queries").map(_.getAs[Row]("files")).forall(f =>
        f.isNullAt(f.fieldIndex("measured"))))
      assert(metric[Long](text, "bytesToShuffle") > 0)
    }
  }

  test("the alternatives: the table as it is, every layout that was compared, the bound") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).repartition(4).write.parquet(path.toString)
      def lines(curve: String, pageRows: Int = 500) =
        list(
          zorder(path, s"BY (a, b) $curve WITH (fileCount = 16, pageRowLimit = $pageRows) DRY RUN"),
          "alternatives")
      def layout(line: Row): String = line.getAs[String]("layout")
      def files(line: Row): Double = line.getAs[Double]("files")
      def pages(line: Row): Double = line.getAs[Double]("pages")
      val auto = lines("")
      assert(layout(auto.head) === "now" && layout(auto.last) === "bound")
      assert(Set(
        "zorder",
        "lexical",
        "lexical by column 2",
        "kd-tree").subsetOf(auto.map(layout).toSet))
      val best = auto.drop(1).dropRight(1).map(files).min
      assert(files(auto.head) > 0.9 && best < 0.4 && files(auto.last) <= 1.05 * best, auto)
      assert(auto.forall(l => pages(l) <= 1.02 * files(l)), auto)
      assert(lines("USING CURVE zorder").map(layout) === Seq("now", "zorder", "bound"))
      // a file of 2,500 rows has two pages then, not one and a quarter
      val whole = lines("", pageRows = 2000)
      assert(layout(whole.last) === "bound", whole)
      assert(whole.forall(l => files(l) >= files(whole.last) && pages(l) >= pages(whole.last)), whole)
    }
  }

  test("a log that leaves its values out, and one about other tables") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).repartition(4).write.parquet(path.toString)
      def log(table: Option[String]) = {
        val boxes = Seq(Seq(LoggedCondition("a", "equal"), LoggedCondition("d", "range", width = Some(0.1))))
        val all = Seq(LoggedQuery(table, None, "q", 3.0, boxes))
        spark.createDataFrame(spark.sparkContext.parallelize(all.map(LoggedQuery.row)), LoggedQuery.schema)
          .createOrReplaceTempView("masked")
      }
      log(None)
      val options = "WITH (fileCount = 16, pageRowLimit = 500, queryLog = 'masked')"
      val row = done(zorder(path, s"BY (a, d) $options INTO '${dir.resolve("c")}'"))
      assert(queries(row) === Seq("a = ? AND d BETWEEN ? AND ?"))
      assert(off(row, "files") < 0.1 && off(row, "pages") < 0.1, list(row, "queries"))
      log(Some("default.somewhere_else"))
      val other = zorder(path, s"BY (a, d) $options DRY RUN")
      assert(list(other, "queries").isEmpty && reason(other).contains("has no query on"))
      // its catalog cannot be loaded, and need not be
      log(Some("gone.db.t"))
      withConf("spark.sql.catalog.gone" -> "no.such.Catalog") {
        val gone = zorder(path, s"BY (a, d) $options DRY RUN")
        assert(list(gone, "queries").isEmpty && reason(gone).contains("has no query on"))
      }
      refused(
        path,
        s"ZORDER TABLE '$path' BY (a) WITH (queryLog = 'no_such_log')",
        "no_such_log",
        "cannot be read")
    }
  }

  test("the log decides how a layout is cut") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).repartition(4).write.parquet(path.toString)
      logOf("one_sided", path, spread.map(x => s"a = ${at(x, 1000)}") ++ Seq("b = 17"))
      val row = done(zorder(path, "BY (a, b) WITH (fileCount = 16, queryLog = 'one_sided')"))
      assert(share(row, 0, "files", "measured") < 0.15 && share(row, 1, "files", "measured") > 0.5)
    }
  }

  test(
    "a new log of a table that is in layout by record: nothing to do, and how to ask what it would gain",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).repartition(4).write.parquet(path.toString)
      done(zorder(path, "BY (a, b) WITH (fileCount = 16)"))
      logOf("later", path, spread.map(x => s"a = ${at(x, 1000)}"))
      val asked = "BY (a, b) WITH (fileCount = 16, queryLog = 'later')"
      val row = zorder(path, asked)
      assert(status(row) === "NOTHING_TO_DO")
      assert(
        reason(row).contains("The query log was not used: FULL with DRY RUN shows"),
        reason(row))
      assert(!reason(zorder(path, "BY (a, b) WITH (fileCount = 16)")).contains("log"))
      val told = zorder(path, s"FULL $asked DRY RUN")
      assert(status(told) === "DRY_RUN" && list(told, "queries").nonEmpty, reason(told))
    }
  }
}
