package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.zorder.SharedTables
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.ShortRun
import sparkzorder.mark.SameOnAllLines

/** What a query skips and why not more, told without running it. */
@SameOnAllLines
class ExplainSuite extends AnyFunSuite with SkippedScans with SharedTables {

  /** Ten files of a thousand ids each; `n` is -1 in every file beside its own range. */
  private def ids(path: Path): Unit = spark.range(0, 10000, 1, 10).selectExpr(
    "id",
    "if(id % 1000 < 200, -1, id) n",
    "concat('k', lpad(cast(id as string), 6, '0')) s").write
    .option("parquet.page.row.count.limit", "100").parquet(path.toString)

  private def explain(query: String): Seq[Row] = spark.sql(s"ZORDER EXPLAIN $query").collect().toSeq

  /** Ten files and an index that has no s. */
  private lazy val table: Path = {
    val path = shared.resolve("t")
    ids(path)
    index(path, "id", "n")
    path
  }

  /** The lines of whole scans; those of their filters follow them. */
  private def wholes(rows: Seq[Row]): Seq[Row] = rows.filter(r => r.isNullAt(r.fieldIndex("filter")))

  /** Of a query that has run. */
  private def line(rows: Seq[Row], filter: String): Row =
    rows.find(_.getAs[String]("filter") == filter).getOrElse(fail(s"no $filter in ${rows.mkString("\n")}"))

  private def reason(rows: Seq[Row], filter: String): String = line(rows, filter).getAs[String]("reason")

  private lazy val fourFilters: Seq[Row] = explain(
    s"SELECT * FROM parquet.`$table` WHERE id < 3000 AND n = 2500 AND upper(s) = 'K002500' AND s > 'k'")

  test("a query is explained without being run") {
    val before = SkippedScans.usage.map(_.scans).sum
    explain(s"SELECT * FROM parquet.`$table` WHERE id < 3000")
    assert(SkippedScans.usage.map(_.scans).sum === before, "the query was run")
  }

  test("the first line is the whole scan: its table, and the files that are considered and kept") {
    val whole = fourFilters.head
    assert(wholes(fourFilters) === Seq(whole) && whole.getAs[String]("table").endsWith("/t"))
    assert(whole.getAs[Long]("considered") === 10 && whole.getAs[Long]("kept") === 1)
    assert(whole.getAs[String]("reason") === "")
  }

  test("a sentence says how many files of the table the query opens") {
    val whole = fourFilters.head
    assert(whole.getAs[Long]("files") === 10)
    assert(
      whole.getAs[String]("summary") === s"The query opens 1 of 10 files of ${whole.getAs[String]("table")}.")
    assert(fourFilters.tail.forall(_.getAs[String]("summary") == null))
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 100, 1, 2).selectExpr(
        "id",
        "id % 4 part").write.partitionBy("part").parquet(path.toString)
      index(path)
      val query = s"SELECT * FROM parquet.`$path` WHERE part = 1 AND id < 20"
      val some = explain(query).head
      assert(some.getAs[Long]("files") === 8 && some.getAs[Long]("considered") === 2)
      assert(some.getAs[String]("summary").endsWith(
        "/t: partition pruning keeps 2 of them, spark-zorder 1."))
      val two = wholes(explain(s"$query UNION ALL SELECT * FROM parquet.`$path`"))
      assert(two.map(_.getAs[String]("summary").takeWhile(_ != ',').take(26)) === Seq(
        "Scan 1 opens 1 of 8 files ",
        "Scan 2 opens 8 of 8 files "))
    }
  }

  test(
    "that a column is not NULL is told only where no other filter names it, or where it leaves out files") {
    def filters(query: String): Seq[String] =
      explain(query).map(_.getAs[String]("filter")).filter(f => f != null && f.contains("IS NOT NULL"))
    assert(filters(s"SELECT * FROM parquet.`$table` WHERE id < 3000 AND n = 2500") === Nil)
    assert(filters(s"SELECT * FROM parquet.`$table` WHERE id < 3000 AND n IS NOT NULL") ===
      Seq("(n IS NOT NULL)"))
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 4000, 1, 4).selectExpr("id", "if(id < 1000, null, id) n").write.parquet(path.toString)
      index(path)
      val rows = explain(s"SELECT * FROM parquet.`$path` WHERE n < 2000")
      assert(rows.tail.map(_.getAs[Long]("pruned_further")) === Seq(1, 2))
      assert(line(rows, "(n IS NOT NULL)").getAs[Long]("kept") === 3)
    }
  }

  test("each filter has the files that it prunes alone and beyond those before it, and by what") {
    val id = line(fourFilters, "(id < 3000)")
    assert((id.getAs[Long]("pruned"), id.getAs[String]("pruned_by")) === ((7L, "range (7)")))
    val n = line(fourFilters, "(n = 2500)")
    assert((n.getAs[Long]("pruned"), n.getAs[String]("pruned_by")) === ((9L, "range (2), range set (7)")))
    assert(n.getAs[Long]("pruned_further") <= 3L && n.getAs[Long]("kept") === 1)
  }

  test("each filter has a reason why it does not prune more") {
    assert(reason(fourFilters, "(id < 3000)") === "the ranges of 3 files meet it")
    assert(reason(fourFilters, "(upper(s) = 'K002500')") === "function does not keep order: upper(s)")
    assert(reason(fourFilters, "(s > 'k')") === "column is not in the index: s")
    assert(reason(explain(s"SELECT * FROM parquet.`$table` WHERE n > -5"), "(n > -5)") ===
      "the range of every file meets it")
  }

  test("what is kept is what a scan opens, whatever the filter") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path)
      spark.range(3).selectExpr("id", "id n", "'x' s").coalesce(1).write.mode("append").parquet(path.toString)
      Seq(
        "id = 4711",
        "id = 4711 OR s = 'k000005'",
        "NOT (id >= 1000)",
        "n = -1 AND s LIKE 'k0047%'",
        "id < n",
        "true",
        "id > (SELECT 5)",
        "rand() > 2").foreach { where =>
        val query = s"SELECT * FROM parquet.`$path` WHERE $where"
        val told = wholes(explain(query))
        val df = spark.sql(query)
        df.collect()
        assert(told.map(_.getAs[Long]("kept")).sum === opened(df), where)
      }
      val rows = explain(s"SELECT * FROM parquet.`$path` WHERE id = 4711")
      assert(rows.head.getAs[String](
        "reason") === "stale entry: 1 file is new or changed: run ZORDER REFRESH INDEX")
    }
  }

  test("every scan of a query is explained, also in subqueries and of tables that have no index") {
    withTempDir { dir =>
      val (a, b) = (table, dir.resolve("b"))
      spark.range(10).write.parquet(b.toString)
      val scans = wholes(explain(
        s"SELECT * FROM parquet.`$a` x JOIN parquet.`$b` y ON x.id = y.id " +
          s"WHERE x.id > (SELECT max(id) FROM parquet.`$a` WHERE n = 2500) OR x.n IN (SELECT id FROM parquet.`$b`)"))
      assert(scans.length === 4)
      assert(
        scans.count(_.getAs[String]("reason") == "no statistics index: make one with ZORDER INDEX") === 2)
    }
  }

  test("a session that skips nothing is told so") {
    withConf("spark.zorder.skipping.enabled" -> "false") {
      val off = explain(s"SELECT * FROM parquet.`$table` WHERE id = 3")
      assert(off.map(_.getAs[String]("reason")) === Seq("spark.zorder.skipping.enabled is false"))
      assert(off.head.getAs[Long]("kept") === 10)
    }
  }

  test("the query of a statement is explained, and the statement changes nothing") {
    withTable("made") {
      val made = explain(s"CREATE TABLE made USING parquet AS SELECT * FROM parquet.`$table` WHERE id = 3")
      assert(wholes(made).map(_.getAs[Long]("kept")) === Seq(1L))
      assert(!spark.catalog.tableExists("made"))
    }
  }

  test("what a cache does not hold yet is read from files") {
    val cached = spark.read.parquet(table.toString).cache()
    try {
      cached.createOrReplaceTempView("cached_ids")
      val query = "SELECT * FROM cached_ids WHERE id = 3"
      assert(wholes(explain(query)).map(_.getAs[Any]("kept")) === Seq(10L))
      cached.count()
      assert(explain(query).map(_.getAs[String]("reason")) === Seq("cached: no file is read"))
    } finally { val _ = cached.unpersist(blocking = true) }
  }

  test("partitions that a join leaves out are not known: at most") {
    withTempDir { dir =>
      val (fact, dim) = (dir.resolve("fact"), dir.resolve("dim"))
      spark.range(0, 1000, 1, 1).selectExpr(
        "id",
        "id % 8 day").write.partitionBy("day").parquet(fact.toString)
      spark.range(0, 8, 1, 1).selectExpr("id d", "concat('n', id) name").write.parquet(dim.toString)
      val join = explain(s"SELECT * FROM parquet.`$fact` f JOIN parquet.`$dim` d ON f.day = d.d " +
        "WHERE d.name = 'n3' AND f.id >= 0")
      assert(wholes(join).length === 2)
      val (one, other) = (wholes(join).head, wholes(join).last)
      assert(one.getAs[String]("summary").startsWith("Scan 1 opens at most 8 of 8 files of "), one)
      assert(one.getAs[String]("reason").contains("leave out partitions when the query runs"), one)
      // the keys of the dimension are read once, though they stand in the plan twice
      assert(other.getAs[String]("summary").startsWith("Scan 2 opens 1 of 1 file of "), other)
    }
  }

  test("a query without a scan has one sentence") {
    assert(explain("SELECT 1").map(_.getAs[String]("summary")) === Seq(
      "The query opens no file: an index or the optimizer has the answer, or it reads no table of files."))
  }

  test("why a column prunes nothing: INT96, another type, defaults, partitions, functions of users") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withConf("spark.sql.parquet.outputTimestampType" -> "INT96") {
        spark.range(0, 100, 1, 2).selectExpr(
          "id",
          "cast(id as int) i",
          "timestamp_seconds(id * 86400) at",
          "id % 2 part").write.partitionBy("part").parquet(path.toString)
      }
      index(path)
      val at = spark.sql(s"ZORDER DESCRIBE INDEX '$path'").where("column = 'at'").head()
      assert(
        at.getAs[String](
          "note") === "unknown in 4 of 4 files: timestamps that are stored as INT96 have no bounds; " +
          "ZORDER TABLE WITH (timestampType = 'micros') writes some")
      withTable("explained") {
        spark.sql(
          "CREATE TABLE explained (id BIGINT, i BIGINT, at TIMESTAMP, part BIGINT) USING parquet " +
            s"PARTITIONED BY (part) LOCATION '$path'")
        spark.sql("MSCK REPAIR TABLE explained")
        spark.sql("ALTER TABLE explained ADD COLUMN x BIGINT DEFAULT 5")
        val session = spark
        session.udf.register("twice", (n: Long) => n * 2)
        def why(where: String, filter: String): String =
          reason(explain(s"SELECT * FROM explained WHERE $where"), filter)
        assert(why("at = timestamp_seconds(86400)", "(at = TIMESTAMP '1970-01-02 00:00:00')")
          === "no statistics: INT96, which has none; ZORDER TABLE WITH (timestampType = 'micros') writes some " +
          "(at in 4 files)")
        assert(why("i = 3", "(i = 3)") === "type differs: i is BIGINT here, INT in the index")
        assert(why("x = 5", "(x = 5)") === "column is not in the index: x")
        val udf = explain("SELECT * FROM explained WHERE twice(id) = 4").map(_.getAs[String]("reason"))
        assert(udf.exists(r => r.startsWith("user-defined function: ") && r.contains("twice(")))
        assert(why("id > i", "(id > i)") === "not a comparison of one column with constants: (id > i)")
        val parts = explain("SELECT * FROM explained WHERE part = 1 AND id = 3")
        assert(parts.head.getAs[Long]("considered") === 2)
        assert(parts.head.getAs[String]("table") === "spark_catalog.default.explained")
        assert(parts.head.isNullAt(parts.head.fieldIndex("files")))
        assert(parts.head.getAs[String]("summary") ===
          "The query opens 1 of the 2 files of spark_catalog.default.explained that Spark has planned.")
      }
    }
  }

  private def logged(): Unit = spark.sql(
    s"SELECT * FROM zorder_query_log('SELECT * FROM parquet.`$table` WHERE id = 3', " +
      s"'SELECT * FROM parquet.`$table` WHERE id BETWEEN 3 AND 4000', " +
      s"""'SELECT * FROM parquet.`$table` WHERE s = "k1"', """ +
      s"""'SELECT * FROM parquet.`$table` WHERE id = 7 OR upper(s) = "k1"')""")
    .createOrReplaceTempView("queries")

  test("a query log: what each query opens, the worst first") {
    logged()
    val rows = spark.sql("ZORDER EXPLAIN LOG queries").collect().toSeq
    assert(rows.map(_.getAs[Long]("kept")) === Seq(10, 10, 5, 1))
    assert(rows.map(reason(_)).take(2).sorted === Seq(
      "column is not in the index: s",
      "function does not keep order: upper(s)"))
    assert(rows.last.getAs[String]("filter") === "id = ?")
  }

  test("a table of a log that cannot be listed hides no other") {
    logged()
    val one = spark.table("queries").limit(1)
    val elsewhere = one.withColumn("table", lit("nosuch://host/t"))
    one.unionByName(elsewhere).createOrReplaceTempView("two")
    val rows = spark.sql("ZORDER EXPLAIN LOG two").collect()
    assert(rows.map(_.isNullAt(4)).toSeq === Seq(false, true))
    assert(reason(rows.last).contains("nosuch"), reason(rows.last))
  }

  test("a query log without values is told that it has none") {
    logged()
    spark.table("queries").selectExpr(
      "table",
      "time",
      "query",
      "weight",
      "transform(boxes, b -> transform(b, c -> named_struct('column', c.column, 'kind', c.kind))) boxes")
      .createOrReplaceTempView("bare")
    val bare = spark.sql("ZORDER EXPLAIN LOG bare").collect().map(reason(_))
    assert(bare.forall(_.startsWith("the log has no values")))
  }

  test("ZORDER EXPLAIN without a query is refused") {
    val refused = intercept[ZOrderException](spark.sql("ZORDER EXPLAIN"))
    assert(refused.getMessage.contains("it ends after ZORDER EXPLAIN"))
  }

  test("what skipping has done so far, by table and column") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path, "id", "n")
      spark.sql(s"SELECT * FROM parquet.`$path` WHERE id = 3 AND s > ''").collect()
      spark.sql(s"SELECT * FROM parquet.`$path` WHERE id < 5000 AND n > 0").collect()
      val usage = spark.sql(s"SELECT * FROM zorder_skipping_usage() WHERE table LIKE '%$path'").collect()
      assert(usage.map(_.getAs[String]("column")).toSeq === Seq(null, "id", "n"))
      assert(usage.map(_.getAs[Long]("scans")).toSeq === Seq(2, 2, 1))
      assert(usage.map(_.getAs[Long]("considered")).toSeq === Seq(20, 20, 10))
      assert(usage.map(_.getAs[Long]("pruned")).toSeq === Seq(14, 14, 5))
      assert(usage.forall(r => r.getAs[Long]("unknown") == 0 && r.getAs[Double]("ms") > 0))
      intercept[Exception](spark.sql("SELECT * FROM zorder_skipping_usage(1)"))
    }
  }

  test("functions and casts that keep order skip files as their columns do") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withConf(
        "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS",
        "spark.sql.session.timeZone" -> "America/Sao_Paulo") {
        // ten files of a hundred days each, from 2018 on, when clocks still changed at midnight
        spark.range(0, 24000, 1, 10).selectExpr(
          "id",
          "cast(id as int) i",
          "timestamp'2018-01-01 00:00:00' + make_dt_interval(0, cast(id as int)) ts",
          "date_add(date'2018-01-01', cast(id div 24 as int)) d",
          "timestamp_ntz'2018-01-01 00:00:00' + make_dt_interval(0, cast(id as int)) n",
          "cast(id as decimal(20, 2)) w").write.parquet(path.toString)
        index(path)
        val all = Seq(
          "to_date(ts) = date'2018-11-04'" -> 1,
          "cast(ts as date) BETWEEN date'2018-02-17' AND date'2018-02-18'" -> 1,
          "to_date(ts) IN (date'2018-01-05', date'2020-09-20')" -> 2,
          "year(ts) = 2019" -> 5,
          "year(ts) < 2018" -> 0,
          "year(d) = 2020" -> 3,
          "date_trunc('MONTH', ts) = timestamp'2019-03-01 00:00:00'" -> 1,
          "trunc(d, 'MM') = date'2019-03-01'" -> 1,
          "trunc(ts, 'YEAR') >= date'2020-01-01'" -> 3,
          "cast(id as double) = 4711.0D" -> 1,
          "cast(id as double) = 4711.5D" -> 0,
          "cast(i as bigint) = 4711L" -> 1,
          "i > 1e9" -> 0,
          "cast(d as timestamp) < timestamp'2018-01-02 00:00:00'" -> 1,
          "d = timestamp'2018-11-04 01:00:00'" -> 1,
          // a moment after an hour that was left out
          "n = timestamp'2018-11-04 01:30:00'" -> 1,
          "n >= timestamp'2020-01-01 00:00:00'" -> 3,
          "date_trunc('MONTH', n) = timestamp'2019-03-01 00:00:00'" -> 1,
          "d IN ('2018-01-05', '2020-09-20')" -> 2,
          "d LIKE '2018-01-1%'" -> 1,
          "i IN ('4711', '17')" -> 2,
          "w = 4711.5D" -> 1,
          "w < 2400.0D" -> 1,
          "month(ts) = 3" -> 10)
        val cases = if (ShortRun.is) all.grouped(3).map(_.head).toSeq else all
        val count = cases.zipWithIndex.map { case ((where, _), i) => s"count_if($where) c$i" }.mkString(", ")
        val counts = spark.sql(s"SELECT $count FROM parquet.`$path`").head()
        cases.zipWithIndex.foreach { case ((where, files), i) =>
          val query = spark.sql(s"SELECT id FROM parquet.`$path` WHERE $where")
          assert(query.collect().length === counts.getLong(i), where)
          val read = opened(query)
          assert(read <= files, where)
          assert(
            explain(s"SELECT id FROM parquet.`$path` WHERE $where").head.getAs[Long]("kept") === read,
            where)
        }
      }
    }
  }

  test("Bloom filters and the first rows of an order are told apart from ranges") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 4000, 1, 4).selectExpr("id", "hash(id) h").write.parquet(path.toString)
      indexWith(path, "bloom = 'h', bloomBudget = '90%'")
      def check(query: String, cause: String): Unit = {
        val df = spark.sql(query)
        df.collect()
        val rows = explain(query)
        assert(rows.head.getAs[Long]("kept") === opened(df), query)
        assert(rows.head.getAs[String]("pruned_by").contains(cause), rows.mkString("\n"))
      }
      val value = spark.sql(s"SELECT h FROM parquet.`$path` WHERE id = 17").head().getInt(0)
      check(s"SELECT * FROM parquet.`$path` WHERE h = $value", "Bloom")
      check(s"SELECT * FROM parquet.`$path` ORDER BY id DESC LIMIT 5", "top-k")
    }
  }
}
