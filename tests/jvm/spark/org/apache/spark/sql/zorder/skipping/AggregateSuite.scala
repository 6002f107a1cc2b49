package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.zorder.skipping.scan.SkippingUsage
import org.apache.spark.sql.zorder.table.ListingFileSystem
import sparkzorder.{SameOnAllLines, Steps}

/** `min`, `max` and `count` over whole tables, with the index and without. */
class AggregateSuite extends AnyFunSuite with SkippedScans with Steps {

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

  test("an aggregate over a stream of files is Spark's own, whatever the files are called") {
    withTempDir { dir =>
      val path = Files.createDirectories(dir.resolve("t"))
      (0 until 3).foreach { n =>
        val at = dir.resolve(s"from $n")
        spark.range(n * 300L, n * 300L + 300, 1, 1).write.parquet(at.toString)
        val file = Files.list(at).filter(_.toString.endsWith(".parquet")).findFirst.get
        Files.copy(file, path.resolve(s"region=$n.parquet")): Unit
      }
      index(path)
      val query =
        spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", "1").parquet(path.toString)
          .selectExpr("count(*) n", "max(id) most").writeStream.format("memory").queryName("streamed")
          .outputMode("complete").trigger(Trigger.AvailableNow()).start()
      query.awaitTermination()
      assert(spark.table("streamed").head() === Row(900L, 899L))
    }
  }

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

  test("files that the index does not know are read, and all others counted once", SameOnAllLines) {
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
      step("the usage counts them as unknown, once a query and not for EXPLAIN") {
        assert(used === Seq(1, 2, 0))
        t("SELECT max(id), count(*) FROM t").collect()
        assert(used === Seq(2, 4, 2))
        val explained = spark.sql("ZORDER EXPLAIN SELECT max(id) FROM t").head()
        assert(used === Seq(2, 4, 2))
        assert(
          Seq("considered", "pruned", "kept").map(explained.getAs[Long](_)) === Seq(7, 5, 2),
          explained)
        val said = explained.getAs[String]("reason")
        assert(said.contains("the index itself answers") && said.contains("ZORDER REFRESH INDEX"), said)
      }
      step("by the path") {
        assert(opens(t(s"SELECT $all FROM t")) === 2)
        assert(opens(t("SELECT count(*), max(x) FROM (SELECT id AS x, part AS p FROM t) WHERE p = 0")) === 1)
        assert(opens(t("SELECT count(*), max(n) FROM t WHERE part = 1")) === 0)
        assert(t("SELECT count(*) FROM t").head().getLong(0) === 1002)
        assert(t("SELECT min(id), max(id) FROM t").head().toString === "[-20,9940]")
      }
      step("in the catalog")(withTable("parted") {
        spark.sql(
          s"CREATE TABLE parted (id BIGINT, n INT, part BIGINT) USING parquet PARTITIONED BY (part) LOCATION '$path'")
        spark.sql("MSCK REPAIR TABLE parted")
        assert(opens(spark.sql("SELECT count(*), min(n), max(id) FROM parted")) === 2)
        assert(opens(spark.sql("SELECT count(*), min(n), max(id) FROM parted WHERE part = 1")) === 0)
        spark.sql("INSERT INTO parted VALUES (77777, 5, 1)")
        assert(opens(spark.sql("SELECT count(*), min(n), max(id) FROM parted WHERE part = 1")) === 1)
      })
    }
  }

  test("a statement may spell names of columns and partitions in another case", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      table(path)
      index(dir.resolve("t"))
      spark.read.parquet(path).createOrReplaceTempView("t")
      Seq(
        "SELECT count(*), min(ID), max(Id) FROM t WHERE PART = 1",
        "SELECT count(*) FROM t WHERE Part >= 1 AND PART < 7",
        "SELECT count(*), max(X) FROM (SELECT ID AS x, PART AS p FROM t) WHERE P IN (0, 2)").foreach(q =>
        assert(opens(spark.sql(q)) === 0, q))
      assert(spark.read.parquet(path).where("PART = 2").count() === 200)
    }
  }

  test(
    "a statement may spell columns with a default in another case, as filters, orders and keys too",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("d")
      spark.range(0, 10, 1, 1).selectExpr("id").write.parquet(path.toString)
      spark.range(100, 102, 1, 1).selectExpr("id", "id - 99 x").write.mode("append").parquet(path.toString)
      withConf("spark.sql.parquet.mergeSchema" -> "true")(index(path))
      withTable("defaulted", "keys") {
        spark.sql(s"CREATE TABLE defaulted (id BIGINT) USING parquet LOCATION '$path'")
        spark.sql("ALTER TABLE defaulted ADD COLUMN x BIGINT DEFAULT 5")
        spark.sql("CREATE TABLE keys USING parquet AS SELECT 5L x")
        for (x <- Seq("x", "X")) {
          assert(spark.sql(s"SELECT max($x), count($x) FROM defaulted").head().toString === "[5,12]")
          assert(spark.sql(s"SELECT id FROM defaulted WHERE $x = 5").count() === 10)
          assert(spark.sql(s"SELECT $x FROM defaulted ORDER BY $x DESC LIMIT 1").head().getLong(0) === 5)
          assert(spark.sql(s"SELECT * FROM defaulted JOIN keys ON defaulted.$x = keys.x").count() === 10)
        }
      }
    }
  }

  test("what another program has written over since the session listed the files is counted as it is now") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withTable("held", "parted") {
        spark.range(0, 30, 1, 3).write.parquet(path.toString)
        index(path)
        spark.sql(s"CREATE TABLE held (id BIGINT) USING parquet LOCATION '$path'")
        assert(opens(spark.table("held").where("id = 25")) === 1)
        def file(n: Int): Path =
          Files.list(path).iterator.asScala.filter(_.toString.endsWith(".parquet")).toSeq.sorted.apply(n)
        val other = dir.resolve("other")
        spark.range(5000, 5010, 1, 1).write.parquet(other.toString)
        spark.range(7000, 7001, 1, 1).write.parquet(dir.resolve("late").toString)
        Files.copy(only(other), file(0), StandardCopyOption.REPLACE_EXISTING)
        Files.delete(path.resolve(s".${file(0).getFileName}.crc"))
        // what a session has not listed is no part of its table, with an index and without
        Files.copy(only(dir.resolve("late")), path.resolve("zlate.parquet"))
        assert(opens(spark.sql("SELECT count(*), min(id), max(id) FROM held")) === 1)
        assert(spark.sql("SELECT count(*), min(id), max(id) FROM held").head().toString === "[30,10,5009]")
        // its ten rows of before are no first rows any more
        def first(order: String) =
          spark.sql(s"SELECT id FROM held ORDER BY id $order LIMIT 10").collect().map(_.getLong(0)).toSeq
        assert(first("") === (10L until 20) && first("NULLS LAST") === (10L until 20))
        Files.delete(file(1))
        assert(intercept[Exception](
          spark.sql("SELECT max(id) FROM held").collect()).toString.contains("REFRESH TABLE"))
        spark.sql("REFRESH TABLE held")
        assert(opens(spark.sql("SELECT count(*), min(id), max(id) FROM held")) === 2)
        assert(spark.sql("SELECT max(id) FROM held").head().getLong(0) === 7000)
      }
    }
  }

  test("a file that Spark cannot read as the column's type is counted by nobody", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withTable("mixed_types") {
        for (c <- Seq("cast(id as int) c", "concat('k', id) c"))
          spark.range(0, 4, 1, 1).selectExpr(c).write.mode("append").parquet(path.toString)
        spark.sql(s"CREATE TABLE mixed_types (c INT) USING parquet LOCATION '$path'")
        aged(path)
        assert(status(one("ZORDER INDEX mixed_types")) === "INDEXED")
        def failure: String = {
          val e = intercept[Exception](spark.sql("SELECT count(c) FROM mixed_types").collect())
          Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toList.last.getClass.getName
        }
        assert(failure === withoutSkipping(failure))
      }
    }
  }

  test("a file that spells a column or its struct twice is counted and skipped by nobody", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withTable("spelled") {
        spark.range(0, 4, 1, 1).selectExpr("id a", "named_struct('f', id) s").write.parquet(path.toString)
        withConf("spark.sql.caseSensitive" -> "true")(
          spark.range(0, 4, 1, 1)
            .selectExpr("id a", "id A", "named_struct('f', id) s", "named_struct('g', id) S")
            .write.mode("append").parquet(path.toString))
        spark.sql(s"CREATE TABLE spelled (a BIGINT, s STRUCT<f: BIGINT>) USING parquet LOCATION '$path'")
        aged(path)
        assert(status(one("ZORDER INDEX spelled")) === "INDEXED")
        for (query <- Seq(
            "SELECT count(a) FROM spelled",
            "SELECT a FROM spelled WHERE a IS NULL",
            "SELECT s.f FROM spelled WHERE s.f = 77")) {
          def failure: String = {
            val e = intercept[Exception](spark.sql(query).collect())
            Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toList.last.getClass.getName
          }
          assert(failure === withoutSkipping(failure), query)
        }
      }
    }
  }

  test("directories are listed once more only where some file has an answer") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // Spark's own timestamps, INT96, have no bounds
      spark.range(0, 40, 1, 2).selectExpr("id", "timestamp_seconds(id) ts", "id % 5 p").write.partitionBy("p")
        .parquet(path.toString)
      index(path)
      spark.read.parquet(path.toString).createOrReplaceTempView("of_int96")
      def listed(query: String): Int = withConf(ListingFileSystem.settings: _*) {
        ListingFileSystem.during(spark.sql(query).queryExecution.optimizedPlan).count(_.contains("/p="))
      }
      assert(listed("SELECT max(ts) FROM of_int96") === 0)
      assert(listed("SELECT count(*), max(id), max(ts) FROM of_int96") === 0)
      assert(listed("SELECT max(id) FROM of_int96") === 5)
      val explained = spark.sql("ZORDER EXPLAIN SELECT max(id) FROM of_int96").collect().toSeq
      assert(explained.map(_.getAs[String]("summary").take(26)) === Seq("The query opens no file: a"))
    }
  }

  private def only(dir: Path): Path =
    Files.list(dir).iterator.asScala.find(_.toString.endsWith(".parquet")).get
}
