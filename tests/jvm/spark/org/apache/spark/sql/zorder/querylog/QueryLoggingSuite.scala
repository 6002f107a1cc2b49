package org.apache.spark.sql.zorder.querylog

import java.lang.ref.WeakReference
import java.nio.file.{Files, Paths}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.{StatementRows, ZOrderSession}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.clustering.draw.FilterFixture
import org.apache.spark.sql.zorder.querylog.scan.{ColumnStatistics, Scan}
import org.apache.spark.sql.zorder.skipping.predicate.{FilterColumn, FilterRanges}
import sparkzorder.SameOnAllLines
import sparkzorder.curve.NormalizedLong

/** The log of a session's own queries: asked for, counted, bounded, and harmless. */
class QueryLoggingSuite extends AnyFunSuite with ZOrderSession with StatementRows with FilterFixture {

  /** A table of a thousand rows, and a place for a log. */
  private def fresh(body: (String, String) => Unit): Unit = withTempDir { dir =>
    val table = dir.resolve("t").toString
    spark.range(0, 1000, 1, 4).selectExpr("id", "cast(id % 10 as int) a", "concat('n', id) s")
      .write.parquet(table)
    try body(table, dir.resolve("log").toString)
    finally { val _ = spark.sql("ZORDER LOG STOP") }
  }

  private def start(log: String, more: String = ""): Row = one(s"ZORDER LOG START '$log' $more")
  private def stop(): Row = one("ZORDER LOG STOP")
  private def count(row: Row, name: String): Long = row.getAs[Long](name)
  private def rows(log: String): DataFrame = spark.read.parquet(log)

  private def boxes(log: String): Seq[(Seq[String], Double)] =
    QueryLog.read(
      Shims.classic(spark),
      log).queries.map(q => (shown(q.conjunctions), q.weight)).sortBy(_._1.mkString)

  test("queries are counted by their shape; widths and no values by default") {
    fresh { (table, log) =>
      val t = spark.read.parquet(table)
      t.where("id = 1").count()
      assert(status(start(log)) === "STARTED")
      (1 to 5).foreach(i => t.where(s"a = $i").collect())
      t.where("id BETWEEN 100 AND 199").count()
      t.count()
      val end = stop()
      assert(status(end) === "STOPPED" && count(end, "queries") === 6 && count(end, "shapes") === 2)
      assert(boxes(log) === Seq((Seq("a equal"), 5.0), (Seq("id range"), 1.0)))
      val range =
        rows(log).selectExpr("explode(flatten(boxes)) c", "table", "time").where("c.kind = 'range'").head()
      assert(range.getAs[Row]("c").getAs[Double]("width") === 0.099)
      assert(range.getAs[String]("table") === s"file:$table")
      assert(math.abs(range.getAs[java.sql.Timestamp]("time").getTime - System.currentTimeMillis()) < 600000)
      assert(rows(log).schema === LoggedQuery.schema)
      // the fingerprint of a shape is of any digits, and so are names of directories and times
      assert(!rows(log).drop("query", "table", "time").collect().mkString.contains("199"))
      t.where("a = 7").count()
      assert(boxes(log).map(_._2).sum === 6.0)
    }
  }

  test("values of a long list inside an expression are values, too", SameOnAllLines) {
    fresh { (table, log) =>
      val list = (1 to 11).map(i => s"'secret$i'").mkString(", ")
      start(log)
      for (filter <- Seq(s"coalesce(s IN ($list), false)", s"(s IN ($list)) = (a > 3)"))
        spark.read.parquet(table).where(filter).count()
      stop()
      val logged = rows(log).collect().mkString
      assert(rows(log).count() > 0 && !logged.contains("secret"), logged)
    }
  }

  test("a setting that cannot be read logs no values, and START refuses it", SameOnAllLines) {
    fresh { (table, log) =>
      assert(start(log, "KEEP LITERALS").getAs[String]("literals") === "keep")
      spark.read.parquet(table).where("a = 1").count()
      for (key <- Seq(SessionKeys.QueryLogLiterals.key, SessionKeys.QueryLogMost.key))
        withConf(key -> "off") {
          spark.read.parquet(table).where("a = 2").count()
          val refused = intercept[ZOrderException](start(s"$log-2"))
          assert(refused.sentence.contains(key) && !Files.exists(Paths.get(s"$log-2")), refused)
        }
      assert(stop().getAs[String]("literals") === "keep")
      assert(boxes(log) === Seq((Seq("a equal"), 1.0), (Seq("a equal[1]"), 1.0), (Seq("a equal[2]"), 1.0)))
    }
  }

  test("what a table was before it grew says nothing of a range beyond", SameOnAllLines) {
    fresh { (table, log) =>
      val grows = s"$table-grows"
      def append(from: Long) = spark.range(from, from + 1000, 1, 1).write.mode("append").parquet(grows)
      start(log)
      append(0)
      spark.read.parquet(grows).where("id >= 5000").count()
      spark.read.parquet(grows).where("id >= 500").count()
      append(1000)
      spark.read.parquet(grows).where("id >= 1500").count()
      stop()
      val widths = rows(log).selectExpr("time", "explode(flatten(boxes)) c").orderBy("time").collect()
        .map(_.getAs[Row]("c").getAs[java.lang.Double]("width"))
      assert(widths.toSeq === Seq(null, 0.5, 0.25))
    }
  }

  test("with literals, one row per value", SameOnAllLines) {
    fresh { (table, log) =>
      start(log, "KEEP LITERALS")
      (1 to 3).foreach(i => spark.read.parquet(table).where(s"a = $i AND s LIKE 'n${i}%'").collect())
      stop()
      assert(boxes(log).map(_._1.head) === (1 to 3).map(i => s"a equal[$i] & s prefix(n$i..)"))
    }
  }

  test("a log can be stopped while something is cached", SameOnAllLines) {
    fresh { (table, log) =>
      start(log)
      val cached = spark.read.parquet(table).cache()
      try assert(status(stop()) === "STOPPED")
      finally { val _ = cached.unpersist() }
    }
  }

  test("a setting starts and stops it, and nothing is logged without one", SameOnAllLines) {
    fresh { (table, log) =>
      val t = spark.read.parquet(table)
      withConf(SessionKeys.QueryLogPath.key -> log) {
        t.where("a = 1").count()
        t.where("a = 2").count()
      }
      t.where("a = 3").count()
      assert(boxes(log) === Seq((Seq("a equal"), 2.0)))
      assert(status(stop()) === "NOT_STARTED")
    }
  }

  test("joins, subqueries, writes: one row for each table that is filtered", SameOnAllLines) {
    fresh { (table, log) =>
      withTable("q_out") {
        spark.read.parquet(table).createOrReplaceTempView("q_t")
        start(log, "KEEP LITERALS")
        spark.sql("CREATE TABLE q_out USING parquet AS SELECT x.id FROM q_t x JOIN q_t y ON x.id = y.id " +
          "WHERE x.a = 3 AND y.a < (SELECT max(a) FROM q_t WHERE s = 'n7')")
        spark.table("q_out").where("id = 3").count()
        stop()
        val all = boxes(log).flatMap(_._1)
        assert(all.contains("s equal[n7]") && all.contains("id equal[3]"), all)
        assert(all.exists(_.startsWith("a equal[3]")), all)
        val tables = rows(log).select("table").distinct().collect().map(_.getString(0)).toSet
        assert(tables === Set(s"file:$table", "spark_catalog.default.q_out"))
      }
    }
  }

  test("the copy of a table by which Spark prunes the partitions of a join is no query", SameOnAllLines) {
    fresh { (table, log) =>
      val facts = s"$table-facts"
      spark.range(0, 1000, 1, 4).selectExpr(
        "id",
        "cast(id % 10 as int) a").write.partitionBy("a").parquet(facts)
      start(log)
      val pruned =
        spark.read.parquet(facts).join(spark.read.parquet(table).where("s = 'n3'").select("a"), "a")
      assert(
        pruned.count() === 100 && pruned.queryExecution.optimizedPlan.toString.contains("dynamicpruning"))
      stop()
      assert(boxes(log) === Seq((Seq("a equal"), 1.0), (Seq("a not_null & s equal"), 1.0)))
    }
  }

  test(
    "the keys of a join count for the column: neighbours as a range, others one by one, many as their bounds") {
    fresh { (facts, log) =>
      val dimension = s"$facts-dimension"
      spark.range(0, 900).selectExpr(
        "id k",
        "cast(id div 30 as int) month",
        "cast(id % 100 as int) rare",
        "cast(id % 3 as int) often",
        "concat('n', id) name").write.parquet(dimension)
      spark.read.parquet(facts).createOrReplaceTempView("q_facts")
      spark.read.parquet(dimension).createOrReplaceTempView("q_dimension")
      val places = Iterator.from(1).map(n => s"$log-$n")
      def ofFacts(literals: String)(query: String): Seq[String] = {
        val place = places.next()
        start(place, s"$literals LITERALS")
        spark.sql(query).collect()
        stop()
        val table = QueryLog.read(Shims.classic(spark), place).queries.filter(_.table.get.endsWith("/t"))
        table.flatMap(q => shown(q.conjunctions))
      }
      def query(where: String, on: String = "f.id = d.k", kind: String = "") =
        s"SELECT /*+ BROADCAST(d) */ sum(f.a) FROM q_facts f $kind JOIN q_dimension d ON $on WHERE $where"
      def kept(where: String, on: String = "f.id = d.k", kind: String = "") =
        ofFacts("KEEP")(query(where, on, kind))
      assert(kept("month = 3") === Seq("id range(90..119)"))
      assert(kept("month IN (3, 5)", on = "d.k = f.id") ===
        Seq(s"id in 60[${((90 until 120) ++ (150 until 180)).mkString(",")}]"))
      assert(kept("f.a < 5 AND rare = 7") ===
        Seq(s"a range(..4) & id in 9[${(7 until 900 by 100).mkString(",")}]"))
      assert(kept("rare = 7 AND k < 200", on = "f.s = d.name") === Seq("s in 2[n107,n7]"))
      assert(kept(
        "true",
        on = "f.id = d.k AND d.month = 29",
        kind = "LEFT SEMI") === Seq("id range(870..899)"))
      assert(kept("often = 1 AND month < 23") === Seq("id range(1..688)"))
      // nearly all of them, and those of a table without a filter, ask for nothing
      assert(kept("often < 2 AND f.a = 1") === Seq("a equal[1] & id not_null"))
      assert(kept("f.a = 1") === Seq("a equal[1] & id not_null"))
      // of a side that keeps all its rows, the keys say nothing
      assert(kept("f.a = 1", on = "f.id = d.k AND d.month = 3", kind = "LEFT") === Seq("a equal[1]"))
      assert(ofFacts("DROP")(query("rare IN (7, 9) AND month < 20")) === Seq("id in 10"))
      // queries that differ by the values alone look alike
      start(log, "DROP LITERALS")
      (1 to 3).foreach(m => spark.sql(query(s"month = $m")).collect())
      stop()
      assert(boxes(log).contains((Seq("id range"), 3.0)))
      withConf("spark.sql.adaptive.enabled" -> "false") {
        assert(kept("month = 3") === Seq("id not_null"))
      }
    }
  }

  test("a clustering run is no query") {
    fresh { (table, log) =>
      start(log)
      spark.sql(s"ZORDER TABLE '$table' BY (id, a) WITH (fileCount = 4, force = true)").collect()
      assert(count(stop(), "queries") === 0 && files(log).isEmpty)
    }
  }

  test("batches of a stream are no queries", SameOnAllLines) {
    fresh { (table, log) =>
      start(log)
      val stream = spark.readStream.schema(spark.read.parquet(table).schema)
        .option("maxFilesPerTrigger", 1).parquet(table).where("a = 1")
        .writeStream.format("noop").option("checkpointLocation", s"$log-checkpoint").start()
      try stream.processAllAvailable()
      finally stream.stop()
      assert(count(stop(), "queries") === 0 && files(log).isEmpty)
    }
  }

  test("STOP ends the log of cloned sessions, too, as streams have them", SameOnAllLines) {
    fresh { (table, log) =>
      start(log)
      val session = Shims.classic(spark)
      val logging =
        session.listenerManager.listListeners().collectFirst { case l: QueryLogListener => l }.get
      val clone = Shims.cloneSession(session)
      clone.read.parquet(table).where("a = 1").collect()
      assert(count(stop(), "queries") === 1)
      clone.read.parquet(table).where("a = 1").collect()
      spark.sparkContext.listenerBus.waitUntilEmpty()
      assert(logging.recorder.seen === 1)
    }
  }

  test("STOP does not wait for what others do with the events of the application", SameOnAllLines) {
    fresh { (table, log) =>
      val ends = new CountDownLatch(1)
      val slow = new SparkListener {
        override def onJobEnd(end: SparkListenerJobEnd): Unit = { val _ = ends.await(30, SECONDS) }
      }
      spark.sparkContext.listenerBus.addToQueue(slow, "slow")
      try {
        start(log)
        spark.read.parquet(table).where("a = 1").collect()
        val began = System.nanoTime()
        assert(count(stop(), "queries") === 1)
        assert(SECONDS.toNanos(4) > System.nanoTime() - began)
      } finally {
        ends.countDown()
        spark.sparkContext.removeSparkListener(slow)
      }
    }
  }

  test("a session that nobody uses any more is let go, and the next log writes what it has logged") {
    fresh { (table, log) =>
      def used(): WeakReference[SparkSession] = {
        val session = spark.newSession()
        session.conf.set(SessionKeys.QueryLogPath.key, log)
        session.read.parquet(table).where("a = 1").collect()
        new WeakReference(session)
      }
      val gone = used()
      val cleared = (1 to 100).exists { _ =>
        System.gc()
        Thread.sleep(50)
        gone.get == null
      }
      assert(cleared)
      start(s"$log-2")
      assert(boxes(log) === Seq((Seq("a equal"), 1.0)))
    }
  }

  test("unlike queries are bounded, like ones are counted on", SameOnAllLines) {
    fresh { (table, log) =>
      withConf(SessionKeys.QueryLogMost.key -> "3") {
        start(log, "KEEP LITERALS")
        (0 until 6).foreach(i => spark.read.parquet(table).where(s"a = ${i % 5}").count())
        val end = stop()
        assert(Seq("queries", "shapes", "left_out").map(count(end, _)) === Seq(6, 3, 2))
        assert(boxes(log).map(_._2) === Seq(2.0, 1.0, 1.0))
      }
    }
  }

  test("batches become files; the end of the application writes the rest", SameOnAllLines) {
    var batches = Vector.empty[Seq[LoggedQuery]]
    var isThere = true
    val recorder = new QueryRecorder(10, b => { if (isThere) batches :+= b; isThere })
    val one = LoggedQuery(Some("t"), None, "q", 1.0, Nil)
    (0 until QueryRecorder.Batch + 5).foreach(_ => recorder.add(one))
    recorder.flush()
    recorder.flush()
    assert(batches.map(_.map(_.weight)) === Vector(Seq(1000.0), Seq(5.0)))
    isThere = false
    recorder.add(one)
    recorder.flush()
    assert(recorder.unwritten === 1)
    isThere = true
    recorder.add(one)
    recorder.flush()
    assert(batches.last.map(_.weight) === Seq(2.0) && recorder.unwritten === 0)
  }

  test("keys of a join are a list of 200 at most, in all alternatives of a filter together", SameOnAllLines) {
    val keys = (0 until 150).map(i => NormalizedLong(2L * i))
    val scan =
      Scan("t", LocalRelation(Nil), FilterRanges.Free, Seq(FilterColumn("k", "k", LongType) -> keys))
    def kinds(alternatives: String*): Seq[String] = {
      val filters = alternatives.map(c => Seq(LoggedCondition(c, ConditionKind.Equal)))
      LoggedKeys.beside(filters, scan, literals = false, ColumnStatistics.none).flatten
        .filter(_.column == "k").map(_.kind)
    }
    assert(kinds("a") === Seq(ConditionKind.In))
    assert(kinds("a", "b") === Seq(ConditionKind.Range, ConditionKind.Range))
  }

  test("a log that cannot be written fails no query") {
    fresh { (table, log) =>
      start(log)
      spark.read.parquet(table).where("a = 1").count()
      Files.delete(Paths.get(log))
      Files.write(Paths.get(log), Array[Byte](1))
      val end = stop()
      assert(status(end) === "STOPPED" && count(end, "left_out") === 1)
      val refused = intercept[ZOrderException](start(log))
      assert(refused.sentence.startsWith("The query log cannot be written to file:"), refused)
    }
    val where = intercept[ZOrderException](spark.sql("ZORDER LOG START").collect())
    assert(where.condition === "ZORDER_INVALID_QUERY_LOG.NO_PLACE")
    assert(where.getMessageParameters.get("setting") === "spark.zorder.queryLog.path")
  }

  test("statistics of the catalog say how much a value selects", SameOnAllLines) {
    fresh { (table, log) =>
      withTable("q_stats") {
        spark.read.parquet(table).write.saveAsTable("q_stats")
        spark.sql("ANALYZE TABLE q_stats COMPUTE STATISTICS FOR COLUMNS a, id")
        start(log)
        spark.table("q_stats").where("a = 3 AND id < 500").count()
        stop()
        val c = rows(log).selectExpr("explode(flatten(boxes)) c").select("c.kind", "c.selectivity", "c.width")
        assert(c.where("kind = 'equal'").head().getAs[Double]("selectivity") === 0.1)
        assert(c.where("kind = 'range'").head().getAs[Double]("width") === 0.5)
      }
    }
  }

  private def files(log: String): Seq[String] = Option(Paths.get(log).toFile.list()).toSeq.flatten
}
