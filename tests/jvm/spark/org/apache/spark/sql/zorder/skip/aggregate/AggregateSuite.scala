package org.apache.spark.sql.zorder.skip.aggregate

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zorder.FirstLineTest
import org.apache.spark.sql.zorder.skip.SkippedScans
import org.apache.spark.sql.zorder.skip.scan.SkippingUsage

/** `min`, `max` and `count` over whole tables, with the index and without. */
class AggregateSuite extends AnyFunSuite with SkippedScans {

  private def table(path: String): Unit = {
    withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
      spark.range(0, 1000, 1, 5).selectExpr(
        "id",
        "cast(id % 100 as byte) b",
        "cast(id - 500 as smallint) sh",
        "if(id div 200 = 2, null, cast(id as int)) n",
        "cast(null as int) nothing",
        "date_add(date'1960-01-01', cast(id as int)) day",
        "timestamp_micros(id * 1000001 - 7) ts",
        "cast(id as decimal(12, 2)) / 3 dec",
        "cast(id as decimal(30, 2)) wide",
        "cast(id as double) d",
        "concat('k', id) s",
        "named_struct('f', id) st",
        "id div 400 part").write.partitionBy("part").parquet(path)
    }
  }

  private val all =
    "count(*) c, count(1) c1, count(n) cn, count(nothing) c0, min(id) a, max(id) z, max(id) - min(id) + 1 w, " +
      "min(b), max(b), min(sh), max(sh), min(n), max(n), min(nothing), max(nothing), min(day), max(day), min(ts), max(ts)"

  test("answers come from the index where it has them exactly, and are those of the rows") {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      table(path)
      index(dir.resolve("t"))
      spark.read.parquet(path).createOrReplaceTempView("t")
      val files = opened {
        val df = withConf("spark.zorder.skipping.enabled" -> "false")(spark.sql("SELECT max(id) FROM t"))
        withConf("spark.zorder.skipping.enabled" -> "false")(df.collect())
        df
      }
      Seq(
        s"SELECT $all FROM t" -> 0L,
        "SELECT count(*) FROM t WHERE part = 1" -> 0L,
        "SELECT count(*), max(x) FROM (SELECT id AS x, part AS p FROM t) WHERE p IN (0, 1)" -> 0L,
        "SELECT count(*) FROM t WHERE part = 7" -> 0L,
        "SELECT count(s), count(d), count(wide) FROM t" -> 0L,
        "SELECT count(*) n FROM t HAVING count(*) > 10 ORDER BY 1 LIMIT 3" -> 0L,
        "SELECT (SELECT max(id) FROM t) m, (SELECT count(*) FROM t) n" -> 0L,
        "SELECT min(d) FROM t" -> files,
        "SELECT max(s) FROM t" -> files,
        "SELECT max(wide) FROM t" -> files,
        "SELECT max(part) FROM t" -> files,
        "SELECT max(id + 1) FROM t" -> files,
        "SELECT max(id), sum(id) FROM t" -> files,
        "SELECT count(DISTINCT id) FROM t" -> files,
        "SELECT count(id) FILTER (WHERE n > 5) FROM t" -> files,
        "SELECT part, max(id) FROM t GROUP BY part" -> files,
        "SELECT max(id) FROM t WHERE spark_partition_id() >= 0" -> files,
        "SELECT count(*) FROM t WHERE id >= 0" -> files,
        "SELECT count(*) FROM (SELECT id FROM t LIMIT 5)" -> -1L).foreach { case (query, most) =>
        val read = opens(spark.sql(query))
        if (most >= 0) assert(read === most, query)
      }
      assert(spark.sql("SELECT count(*) FROM t WHERE part = 1").head().getLong(0) === 400)
    }
  }

  test("files that the index does not know are read, and all others counted once", FirstLineTest) {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      table(path)
      index(dir.resolve("t"))
      spark.sql(s"SELECT * FROM parquet.`$path` WHERE id IN (3, 999)").withColumn("id", expr("id * 10 - 50"))
        .coalesce(1).write.mode("append").partitionBy("part").parquet(path)
      def t(query: String) = {
        spark.read.parquet(path).createOrReplaceTempView("t")
        spark.sql(query)
      }
      def used: Seq[Long] = SkippingUsage.all.filter(u => u.table.endsWith(path) && u.column.contains("id"))
        .flatMap(u => Seq(u.scans, u.considered - u.pruned, u.unknown))
      assert(used === Seq(1, 2, 0))
      t("SELECT max(id), count(*) FROM t").collect()
      assert(used === Seq(2, 4, 2))
      spark.sql("ZORDER EXPLAIN SELECT max(id) FROM t").collect()
      assert(used === Seq(2, 4, 2))
      assert(opens(t(s"SELECT $all FROM t")) === 2)
      assert(opens(t("SELECT count(*), max(x) FROM (SELECT id AS x, part AS p FROM t) WHERE p = 0")) === 1)
      assert(opens(t("SELECT count(*), max(n) FROM t WHERE part = 1")) === 0)
      assert(t("SELECT count(*) FROM t").head().getLong(0) === 1002)
      assert(t("SELECT min(id), max(id) FROM t").head().toString === "[-20,9940]")
      withTable("parted") {
        spark.sql(
          s"CREATE TABLE parted (id BIGINT, n INT, part BIGINT) USING parquet PARTITIONED BY (part) LOCATION '$path'")
        spark.sql("MSCK REPAIR TABLE parted")
        assert(opens(spark.sql("SELECT count(*), min(n), max(id) FROM parted")) === 2)
        assert(opens(spark.sql("SELECT count(*), min(n), max(id) FROM parted WHERE part = 1")) === 0)
        spark.sql("INSERT INTO parted VALUES (77777, 5, 1)")
        assert(opens(spark.sql("SELECT count(*), min(n), max(id) FROM parted WHERE part = 1")) === 1)
      }
    }
  }
}
