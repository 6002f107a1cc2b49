package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.LongTest

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{col, input_file_name, lit}
import sparkzorder.SameOnAllLines

/** `ORDER BY ... LIMIT` over real files, with skipping and without. */
class TopRowsSuite extends AnyFunSuite with SkippedScans {

  private val queries = Seq(
    "SELECT * FROM t ORDER BY ts DESC LIMIT 100" -> 1,
    "SELECT id FROM t ORDER BY ts DESC LIMIT 100" -> 1,
    "SELECT id + 1 x FROM (SELECT id, ts AS at FROM t) ORDER BY at DESC, x LIMIT 100" -> 1,
    "SELECT * FROM t ORDER BY ts DESC, r LIMIT 1000 OFFSET 500" -> 2,
    "SELECT * FROM t ORDER BY n LIMIT 10" -> 1,
    "SELECT * FROM t ORDER BY n DESC NULLS FIRST LIMIT 10" -> 1,
    "SELECT * FROM t WHERE n IS NOT NULL ORDER BY n LIMIT 10" -> 1,
    "SELECT * FROM t WHERE id BETWEEN 1000 AND 5999 ORDER BY ts DESC LIMIT 10" -> 1,
    "SELECT * FROM t WHERE r = 1 ORDER BY ts DESC LIMIT 10" -> 10,
    "SELECT * FROM t WHERE id >= 3000 AND r > 0 ORDER BY ts LIMIT 10" -> 7,
    "SELECT * FROM t ORDER BY abs(id) LIMIT 5" -> 10)

  private val furtherQueries = Seq(
    "SELECT * FROM t ORDER BY ts LIMIT 100" -> 1,
    "SELECT * FROM t ORDER BY ts DESC LIMIT 1000" -> 1,
    "SELECT * FROM t ORDER BY ts DESC LIMIT 1001" -> 2,
    "SELECT * FROM t ORDER BY id LIMIT 100000" -> 10,
    "SELECT * FROM t ORDER BY n LIMIT 1001" -> 2,
    "SELECT * FROM t ORDER BY n NULLS LAST LIMIT 1001" -> 2,
    "SELECT * FROM t ORDER BY n DESC LIMIT 6000" -> 6,
    "SELECT * FROM t WHERE id < 5500 ORDER BY ts DESC LIMIT 10" -> 2,
    "SELECT * FROM t WHERE id >= 3000 AND r >= 0 ORDER BY ts LIMIT 10" -> 1,
    "SELECT * FROM t WHERE spark_partition_id() >= 0 ORDER BY ts LIMIT 10" -> 10,
    "SELECT * FROM t ORDER BY w DESC LIMIT 5" -> 1,
    "SELECT * FROM t ORDER BY s DESC LIMIT 5" -> 1,
    "SELECT max(id) FROM (SELECT id FROM t ORDER BY ts LIMIT 5)" -> 1,
    "SELECT * FROM t a JOIN (SELECT id FROM t ORDER BY ts DESC LIMIT 5) b ON a.id = b.id WHERE a.r < 2" -> 2,
    "SELECT * FROM t WHERE id IN (SELECT id FROM t ORDER BY ts DESC LIMIT 5)" -> 2,
    "SELECT * FROM t WHERE id = (SELECT id FROM t ORDER BY ts DESC LIMIT 1)" -> 11,
    "SELECT * FROM (SELECT * FROM t ORDER BY ts LIMIT 5) UNION ALL (SELECT * FROM t ORDER BY ts DESC LIMIT 5)" ->
      2)

  private def table(dir: Path): Unit = {
    val path = dir.resolve("t").toString
    withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
      spark.range(0, 10000, 1, 10).selectExpr(
        "id",
        "timestamp_seconds(id) ts",
        "if(id div 1000 = 4, null, id) n",
        "if(id % 1000 = 7, double('NaN'), cast(id as double)) d",
        "concat(repeat('x', 100), lpad(cast(id as string), 6, '0')) s",
        "cast(id as decimal(25, 3)) w",
        "id % 3 r").write.parquet(path)
    }
    index(dir.resolve("t"))
    spark.read.parquet(path).createOrReplaceTempView("t")
  }

  private def check(queries: Seq[(String, Int)]): Unit =
    queries.foreach { case (query, files) => assert(opens(spark.sql(query)) === files, query) }

  test("the newest rows of a table in time order are in one file", SameOnAllLines) {
    withTempDir { dir =>
      table(dir)
      check(queries)
      val rows = spark.sql("ZORDER EXPLAIN SELECT * FROM t ORDER BY ts DESC LIMIT 100").collect()
      assert(rows.length === 2)
      assert(rows.head.getAs[Long]("kept") === 1)
      assert(rows.last.getAs[String]("filter") === "zorder_top_rows(ts DESC NULLS LAST, 100)")
      assert(rows.last.getAs[String]("pruned_by") === "top-k (9)")
    }
  }

  test("a condition that another one guards is not evaluated before it, compiled in parts or not at all") {
    withTempDir { dir =>
      table(dir)
      val query = "SELECT * FROM t WHERE r <> 0 AND 100 div r > 60 ORDER BY ts DESC LIMIT 10"
      for ((wholeStage, mode) <-
          Seq("false" -> "CODEGEN_ONLY", "false" -> "NO_CODEGEN", "true" -> "FALLBACK"))
        withConf(
          "spark.sql.ansi.enabled" -> "true",
          "spark.sql.codegen.wholeStage" -> wholeStage,
          "spark.sql.codegen.factoryMode" -> mode) {
          val asked = spark.sql(query)
          assert(asked.queryExecution.optimizedPlan.toString.contains("zorder_top_rows"))
          assert(asked.collect().map(_.getAs[Long]("id")).toSeq === (9970L to 9997L by 3).reverse)
        }
    }
  }

  test("inside LATERAL and correlated subqueries Spark puts constants for columns: the answer stays") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 1000, 1, 10).selectExpr("id", "id % 10 a", "cast(id % 10 as string) s")
        .write.parquet(path.toString)
      index(path)
      spark.read.parquet(path.toString).createOrReplaceTempView("t")
      // one file has rows enough where all of them pass, and ten of each file pass the filters below
      assert(opens(spark.sql("SELECT id FROM t WHERE a >= 0 ORDER BY id LIMIT 30")) === 1)
      for (filter <- Seq("a = 5", "s = '5'", "a <=> 5", "a IN (5)", "a = 5 AND id >= 0")) {
        val top = s"SELECT id FROM t WHERE $filter ORDER BY id LIMIT 30"
        assert(opens(spark.sql(s"SELECT count(*) FROM (SELECT 1 x) o, LATERAL ($top) e")) === 10, filter)
        opens(spark.sql(
          s"SELECT o.id, (SELECT count(*) FROM ($top) z WHERE z.id = o.id) n FROM t o WHERE o.id < 400"))
      }
    }
  }

  test("queries of further shapes open what they need", LongTest) {
    withTempDir { dir =>
      table(dir)
      check(furtherQueries)
      // NaN is greatest: files that may hide one are all read
      assert(opens(spark.sql("SELECT * FROM t ORDER BY d DESC LIMIT 10")) >= 10)
      withConf("spark.sql.files.ignoreMissingFiles" -> "true") {
        assert(opens(spark.sql("SELECT * FROM t ORDER BY ts DESC LIMIT 100")) === 10)
      }
      withConf("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN") {
        assert(opens(spark.sql("SELECT * FROM t ORDER BY ts DESC LIMIT 100")) === 1)
      }
    }
  }

  /** Four files in each of two partitions. */
  private def parted(path: Path): Unit = {
    spark.range(0, 8000, 1, 8).selectExpr("id", "id div 4000 part").write.partitionBy("part")
      .parquet(path.toString)
    val _ = index(path)
  }

  test("partitions that a filter leaves out do not count, nor does an order by them", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      parted(dir.resolve("t"))
      def t = spark.read.parquet(path)
      assert(opens(t.orderBy(col("id").desc).limit(10)) === 1)
      assert(opens(t.where("part = 0").orderBy(col("id").desc).limit(10)) === 1)
      assert(opens(t.where("part = 0 AND id < 2000").orderBy(col("id").desc).limit(10)) === 1)
      assert(opens(t.where("part = 0 OR id < 2000").orderBy(col("id").desc).limit(10)) === 8)
      assert(opens(t.orderBy(col("part").desc, col("id")).limit(10)) === 8)
      // Spark moves no filter below a column that is not deterministic, so the listing does not know of it
      val named = t.withColumn("f", input_file_name())
      assert(opens(named.where("part = 1").orderBy("id").limit(10)) === 8)
      assert(opens(named.where("id >= 4000").orderBy("id").limit(10)) === 5)
      assert(opens(named.orderBy("id").limit(10)) === 1)
      withTable("parted") {
        spark.sql(
          s"CREATE TABLE parted (id BIGINT, part BIGINT) USING parquet PARTITIONED BY (part) LOCATION '$path'")
        spark.sql("MSCK REPAIR TABLE parted")
        assert(opens(spark.sql("SELECT * FROM parted ORDER BY id DESC LIMIT 10")) === 1)
        assert(opens(spark.sql("SELECT * FROM parted WHERE part = 0 ORDER BY id DESC LIMIT 10")) === 1)
      }
    }
  }

  test("files that are new or changed since do not count", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      parted(dir.resolve("t"))
      def t = spark.read.parquet(path)
      spark.range(9000, 9005, 1, 1).selectExpr(
        "id",
        "1L part").write.mode("append").partitionBy("part").parquet(path)
      assert(opens(t.orderBy(col("id").desc).limit(10)) === 2)
      val newest = java.nio.file.Files.list(dir.resolve("t").resolve("part=1")).sorted().toArray
        .map(_.asInstanceOf[Path]).filter(_.toString.endsWith(".parquet"))
      newest.foreach(f => f.toFile.setLastModified(System.currentTimeMillis() - 1800000))
      assert(opens(t.orderBy(col("id").desc).limit(10)) === 6)
    }
  }

  test("30 queries at random give the same rows with skipping and without, ties included", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      val random = new scala.util.Random(17)
      (0 until 12).foreach { i =>
        val columns: Seq[Column] = Seq("a", "b", "c").map { c =>
          val value = (lit(random.nextInt(20)) + col("id") % (1 + random.nextInt(4))).cast("int")
          (if (random.nextInt(4) == 0) org.apache.spark.sql.functions.when(col("id") % 3 =!= 0, value)
           else value).as(c)
        }
        spark.range(0, 1L + random.nextInt(9), 1, 1).select(columns :+ lit(i).as("file"): _*)
          .write.mode("append").parquet(path)
      }
      index(dir.resolve("t"))
      var skipped = 0L
      (0 until 30).foreach { n =>
        val order = Seq("a", "b", "c")(random.nextInt(3)) + Seq("", " DESC")(random.nextInt(2)) +
          Seq("", " NULLS FIRST", " NULLS LAST")(random.nextInt(3))
        val filter = Seq("", "WHERE a >= 5", "WHERE b IS NOT NULL", "WHERE a < 15 AND c > 2")(n % 4)
        val offset = if (random.nextInt(3) == 0) s" OFFSET ${random.nextInt(5)}" else ""
        val key = order.take(1)
        // which of equal rows is taken is left open: the keys are compared
        val query = s"SELECT $key FROM q $filter ORDER BY $order LIMIT ${1 + random.nextInt(12)}$offset"
        skipped += 12 - opens {
          spark.read.parquet(path).createOrReplaceTempView("q")
          spark.sql(query)
        }
      }
      assert(skipped > 75)
    }
  }
}
