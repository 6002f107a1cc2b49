package org.apache.spark.sql.zorder.insight.advise

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.zorder.clustering.{JobWatch, RunFixture}
import org.apache.spark.sql.zorder.clustering.request.ClusterColumn
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Tables and logs whose best layout is known, and what is advised. */
@SameOnAllLines
class AdviceSuite extends AnyFunSuite with RunFixture {
  private val rows = 100000L

  /** Five rows have the same b: too many for an identifier. */
  private def data: DataFrame = numbers(rows).withColumn("b", col("b") % 20000)

  /** Makes a log of queries on single columns, or on several at once: `"a, b" -> weight`. */
  private val NotNull = " IS NOT NULL"

  private def log(queries: (String, Double)*): String = {
    val selects = queries.map { case (columns, weight) =>
      val box = columns.split(", ").map { c =>
        val kind = if (c.endsWith(NotNull)) "not_null" else "equal"
        s"named_struct('column', '${c.stripSuffix(NotNull)}', 'kind', '$kind')"
      }.mkString(", ")
      s"SELECT array(array($box)) boxes, ${weight}D weight, '$columns' query"
    }
    spark.sql(selects.mkString(" UNION ALL ")).createOrReplaceTempView("advice_log")
    "advice_log"
  }

  private def advice(path: Path, log: Option[String]): Seq[Row] =
    spark.sql(s"SELECT * FROM clustering_advice('$path'${log.fold("")(l => s", '$l'")})").collect().toSeq

  private def verdict(row: Row): String = row.getAs[String]("verdict")
  private def columns(row: Row): Seq[String] = row.getSeq[String](row.fieldIndex("columns"))
  private def bits(row: Row): Seq[Double] = row.getSeq[Double](row.fieldIndex("bits"))
  private def number(row: Row, name: String): Double = row.getAs[Double](name)

  private def withData(data: DataFrame)(body: Path => Unit): Unit = withTempDir { dir =>
    withConf("spark.zorder.fileCount" -> "16", "spark.zorder.pageRowLimit" -> "1000") {
      val path = dir.resolve("t")
      data.write.option("parquet.page.row.count.limit", 1000).parquet(path.toString)
      body(path)
    }
  }

  test("two columns asked equally: both, with two bits each; the run reads what was expected") {
    withData(data) { path =>
      val (found, watch) = JobWatch(spark)(advice(path, Some(log("a" -> 1, "b" -> 1))))
      assert(watch.reads.map(_._1).distinct.length === 1 && watch.reads.map(_._2).sum <= rows)
      val best = found.head
      assert(verdict(best) === "CLUSTER" && columns(best).toSet === Set("a", "b"), found)
      assert(bits(best).forall(b => math.abs(b - 2.0) <= 0.25), best)
      assert(best.getAs[Int]("files") === 16 && best.getAs[Int]("rank") === 1)
      assert(number(best, "share_now") > 0.95 && math.abs(number(best, "share_bound") - 0.25) < 0.01)
      assert(number(best, "x_bound") <= 1.1 && number(best, "gain") > 0.6)
      val alone = found.filter(r => columns(r).size == 1)
      assert(alone.map(verdict) === Seq("SORT") && math.abs(number(
        alone.head,
        "share_expected") - 0.53) < 0.03)
      // the second column costs the look-ups of the first a quarter of the files less the sixteenth that they read
      assert(math.abs(number(best, "loss_by_last_column") - (0.25 - 0.0625)) < 0.03)
      val run = done(one(best.getAs[String]("statement")))
      val measured = (share(run, 0, "files", "measured") + share(run, 1, "files", "measured")) / 2
      assert(math.abs(number(best, "share_expected") / measured - 1) < 0.15)
    }
  }

  test("a column that is asked more often gets more bits; one that is never asked is never proposed") {
    withData(data) { path =>
      val found = advice(path, Some(log("a" -> 0.85, "b" -> 0.15)))
      val two = found.find(r => columns(r).toSet == Set("a", "b")).get
      val each = columns(two).zip(bits(two)).toMap
      assert(each("a") > each("b") + 1.0, two)
      assert(found.flatMap(columns).toSet === Set("a", "b"))
    }
  }

  test("an identifier that is only looked up: a Bloom filter, and the others are laid out without it") {
    withData(data.repartition(4).withColumnRenamed("id", "key")) { path =>
      // and joined by, for which Spark asks that it is there
      val found = advice(path, Some(log("a" -> 1, "b" -> 1, "key" -> 2, "key IS NOT NULL" -> 1)))
      assert(columns(found.head).toSet === Set("a", "b"), found)
      val bloom = found.find(r => verdict(r) == "BLOOM FILTER").get
      assert(columns(bloom) === Seq("key") && bloom.getAs[String]("statement").contains("bloom = 'key'"))
      assert(bloom.getAs[String]("reason").startsWith("key tells nearly every row from the others"))
      done(one(bloom.getAs[String]("statement")))
    }
  }

  test("a table that is sorted by the only column that is asked: leave it") {
    withData(data.repartitionByRange(16, col("id")).sortWithinPartitions("id")) { path =>
      val found = advice(path, Some(log("id, a" -> 1, "id" -> 1)))
      assert(verdict(found.head) === "LEAVE IT", found)
      assert(math.abs(number(found.head, "share_now") - 1.0 / 16) < 0.01)
      assert(number(found.head, "gain") === 0.0 && found.head.isNullAt(found.head.fieldIndex("statement")))
    }
  }

  test("queries by the day of a timestamp ask for the timestamp, in advice and in what they read") {
    withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
      withData(data.selectExpr("timestamp_seconds(1700000000 + id * 60) ts", "a")) { path =>
        spark.range(60).selectExpr(
          """array(array(named_struct('column', 'CAST(ts AS DATE)', 'kind', 'equal',
            'values', array(cast(date_add(date'2023-11-16', cast(id AS int)) AS string))))) boxes""",
          "cast(id as string) query").createOrReplaceTempView("advice_log")
        val found = advice(path, Some("advice_log"))
        assert(found.exists(r => columns(r) == Seq("ts") && number(r, "share_now") < 0.35), found)
        // four files in the order of time
        val read = one(s"SELECT * FROM clustering_queries('$path', 'advice_log')")
        assert(number(read, "share") < 0.3, read)
      }
    }
  }

  test("of many files, fewer columns are watched beside those that are asked for") {
    val all = (0 until 72).map(i => s"c$i")
      .map(name => new ClusterColumn(name, AttributeReference(name, IntegerType)(), Some(Seq(name))))
    def beside(files: Int): Seq[String] =
      ScreenedCandidates.beside(all.take(8), all.drop(4), files).map(_.sql)
    assert(beside(100) === all.drop(8).map(_.sql))
    assert(beside(100000) === Seq("c8", "c9") && beside(1000000).isEmpty)
  }

  test("what gains enough comes before LEAVE IT, whatever the bound of independent columns says") {
    // cut exactly: a range partitioning samples by what ran before
    val rare =
      spark.range(0, rows, 1, 16).selectExpr("id t", "cast(pmod(xxhash64(id), 50) = 0 as int) flag")
    withData(rare) { path =>
      // a flag that few rows have, in a short time: one file of these rows spans much time
      spark.range(40).selectExpr(
        """array(array(
          named_struct('column', 'flag', 'kind', 'equal', 'low', null, 'high', null, 'values', array('1')),
          named_struct('column', 't', 'kind', 'range', 'low', cast(id * 2300 as string),
            'high', cast(id * 2300 + 1000 as string), 'values', null))) boxes""",
        "cast(id as string) query").createOrReplaceTempView("advice_log")
      val found = advice(path, Some("advice_log"))
      assert(verdict(found.head) === "SORT" && number(found.head, "gain") > 0.5, found)
      assert(!found.map(verdict).contains("LEAVE IT"), found)
    }
  }

  test("a table that is left alone gets the filters of its identifiers by force", LongTest) {
    withData(data.repartitionByRange(16, col("a")).sortWithinPartitions("a")) { path =>
      val found = advice(path, Some(log("a" -> 3, "id" -> 1)))
      assert(found.map(verdict) === Seq("LEAVE IT", "SORT", "BLOOM FILTER"), found)
      val statement = found.last.getAs[String]("statement")
      assert(statement.endsWith("WITH (queryLog = 'advice_log', bloom = 'id', force = 'true')"))
      done(one(statement))
    }
  }

  test("a small table: leave it, without a sample") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(1000).write.parquet(path.toString)
      val (found, watch) = JobWatch(spark)(advice(path, None))
      assert(found.map(verdict) === Seq("LEAVE IT") && watch.reads.isEmpty)
      assert(found.head.getAs[String]("reason").contains("does not fill 4 files"))
    }
  }

  test("without a log every column counts the same, a constant one not at all", LongTest) {
    withData(data.selectExpr(
      "a",
      "b",
      "7 AS seven",
      "cast(null AS int) AS nothing",
      "named_struct('f', d) AS n")) {
      path =>
        val found = advice(path, None)
        assert(verdict(found.head) === "CLUSTER" && columns(found.head).toSet === Set("a", "b", "n.f"), found)
        assert(found.map(columns(_).size).toSet === Set(1, 2, 3))
        assert(found.head.getAs[String]("reason").contains("without a query log each column counts the same"))
        done(one(found.head.getAs[String]("statement")))
    }
  }

  test("without a log a layout stays: columns are ranked, and no statement undoes it") {
    withData(data.selectExpr("a", "b", "id")) { path =>
      done(one(s"ZORDER TABLE '$path' BY (a, b)"))
      val found = advice(path, None)
      assert(verdict(found.head) === "LEAVE IT", found)
      assert(found.head.getAs[String](
        "reason").startsWith("The table is clustered by a, b, and without a query log"))
      assert(found.tail.map(verdict).toSet === Set("COLUMN") && found.tail.map(columns(_).head).head === "id")
      assert(found.forall(r => r.isNullAt(r.fieldIndex("statement"))), found)
      // with a log that asks for another column, there is one
      assert(advice(path, Some(log("id" -> 1, "a" -> 1))).head.getAs[String]("statement") !== null)
    }
  }

  test("a table that is clustered by these columns already: the statement takes its files") {
    withData(data) { path =>
      done(one(s"ZORDER TABLE '$path' BY (a, b)"))
      val blooms = advice(path, Some(log("a" -> 0.6, "b" -> 0.4, "id" -> 0.2)))
      val bloom = blooms.find(r => verdict(r) == "BLOOM FILTER").get.getAs[String]("statement")
      assert(bloom.startsWith(s"ZORDER TABLE '$path' FULL BY (a, b) WITH ("), bloom)
      val found = advice(path, Some(log("a" -> 0.85, "b" -> 0.15)))
      val two = found.find(r => columns(r) == Seq("a", "b")).get
      val run = done(one(two.getAs[String]("statement")))
      val read = 0.85 * share(run, 0, "files", "measured") + 0.15 * share(run, 1, "files", "measured")
      assert(math.abs(number(two, "share_expected") / read - 1) < 0.15, two)
    }
  }

  test(
    "without a log nobody is told to cluster by free text or UUIDs; with one that asks for it, it is a column") {
    val texts = data.selectExpr(
      "a",
      "uuid() AS event",
      "concat('deposits ', hex(xxhash64(id)), ' sleep ', hex(id)) AS comment",
      "concat('Clerk#', a) AS clerk")
    withData(texts.repartition(4)) { path =>
      val found = advice(path, None)
      assert(!found.flatMap(columns).exists(Set("event", "comment")), found)
      assert(
        found.head.getAs[String]("reason").contains("event, comment are free text or long ids"),
        found.head.getAs[String]("reason"))
      assert(advice(path, Some(log("comment, a" -> 1, "a" -> 1))).flatMap(columns).contains("comment"))
    }
  }

  test("an order that a layout gives up is told, also of a column that no query asks for") {
    withData(data.repartitionByRange(16, col("id")).sortWithinPartitions("id")) { path =>
      val found = advice(path, Some(log("a" -> 1, "b" -> 1)))
      assert(
        found.head.getAs[String](
          "reason").contains("the files lie in the order of id now, which this gives up"),
        found)
    }
  }

  test(
    "a value at an end of its column is not taken for one that files leave out: few rows are sampled of each") {
    val independent = spark.range(0, 10 * rows, 1, 4)
      .selectExpr("id", "pmod(xxhash64(id, 1), 100000) a", "pmod(xxhash64(id, 2), 2400) d")
    withData(independent) { path =>
      def asked(condition: String) = s"SELECT * FROM parquet.`$path` WHERE $condition"
      val texts = (Seq.fill(3)(asked("a = 17")) :+ asked("d = 1200")).map(t => s"'$t'").mkString(", ")
      spark.sql(s"SELECT * FROM zorder_query_log(array($texts))").createOrReplaceTempView("edge_log")
      val found = advice(path, Some("edge_log"))
      // by a and d, a look-up of a reads 1 of 16 files or 2; by d alone it would read all of them
      assert(columns(found.head).head === "a", found)
      assert(number(found.head, "share_expected") < 0.4, found)
      found.filter(r => columns(r) == Seq("d")).foreach(r => assert(number(r, "share_expected") > 0.6, r))
    }
  }

  test("a view that passes is named in no statement: who wants these figures is told how to get them") {
    withData(data) { path =>
      val view = "zorder_queries_" + "0a" * 16
      spark.table(log("a" -> 1, "b" -> 1)).createOrReplaceTempView(view)
      val found = advice(path, Some(view))
      val best = found.head
      assert(verdict(best) === "CLUSTER" && best.isNullAt(best.fieldIndex("statement")), found)
      assert(best.getAs[String]("reason").contains("optimize().queries(queries).executeZOrderBy("), best)
      // a sort is the same whatever is asked
      val alone = found.filter(r => columns(r).size == 1).head
      assert(alone.getAs[String]("statement") === s"ZORDER TABLE '$path' BY (${columns(alone).head})")
      // the user's own, of a name that begins so
      spark.table(view).createOrReplaceTempView("zorder_queries_2026")
      val own = advice(path, Some("zorder_queries_2026")).head
      assert(own.getAs[String]("statement").contains("queryLog = 'zorder_queries_2026'"))
    }
  }

  test("few values, asked by most queries: partitions; of a partitioned table they are kept") {
    val regions = data.selectExpr("a", "b", "a % 4 AS region")
    withData(regions) { path =>
      val found = advice(path, Some(log("region, a" -> 1, "region, b" -> 1)))
      val partition = found.find(r => verdict(r) == "PARTITION").get
      assert(columns(partition) === Seq("region") && partition.isNullAt(partition.fieldIndex("statement")))
    }
    withTempDir { dir =>
      withConf("spark.zorder.fileCount" -> "8") {
        val path = dir.resolve("t")
        regions.repartition(4).write.partitionBy("region").parquet(path.toString)
        val found = advice(path, Some(log("region, a" -> 1, "b" -> 1)))
        assert(columns(found.head).toSet === Set("a", "b") && found.head.getAs[Int]("files") === 32, found)
        assert(found.head.getAs[String]("reason").contains("judged by the largest partition, region="))
        assert(found.map(verdict).last === "KEEP PARTITIONING" && columns(found.last) === Seq("region"))
      }
    }
  }

  test("no table is partitioned by a field of a struct") {
    withData(data.selectExpr("a", "b", "named_struct('region', a % 4) AS r")) { path =>
      val found = advice(path, Some(log("r.region, a" -> 1, "r.region, b" -> 1)))
      assert(found.nonEmpty && !found.map(verdict).contains("PARTITION"), found)
    }
  }

  test("a layout that reads more is said to do so") {
    def said(gain: Double): String =
      Reasons.noGain(AdviceShares(0.4, 0.45, None, 0.1, gain), 0.05)
    assert(said(-0.123).startsWith("The mean share read would rise by 12.3 %: a query reads "))
    assert(said(0.023).startsWith(
      "The mean share read would fall by 2.3 % only, less than minGain = 5.0 %: a query reads "))
  }

  test("what cannot be advised is one sentence") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(1000).write.parquet(path.toString)
      def refused(arguments: String): String =
        intercept[AnalysisException](
          spark.sql(s"SELECT * FROM clustering_advice($arguments)").collect()).getMessage
      assert(refused(
        "").contains("clustering_advice takes a table or a path and perhaps a query log, as in SELECT * " +
        "FROM clustering_advice('db.t', 'db.queries')."))
      assert(refused("'/not/there'").contains("There is nothing at file:/not/there."))
      assert(refused(s"'$path', 'no_log'").contains("The query log no_log cannot be read: "))
      spark.sql("SELECT 'other' `table`, array(array(named_struct('column', 'a', 'kind', 'equal'))) boxes")
        .createOrReplaceTempView("other_log")
      assert(
        refused(s"'$path', 'other_log'").contains("The query log other_log has no query with a filter on "))
    }
  }
}
