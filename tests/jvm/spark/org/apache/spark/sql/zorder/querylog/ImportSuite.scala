package org.apache.spark.sql.zorder.querylog

import java.io.OutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkConf
import org.apache.spark.io.CompressionCodec
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.clustering.draw.FilterFixture
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.util.JsonProtocol
import sparkzorder.mark.SameOnAllLines

/** Logs from texts and from what applications left behind. */
@SameOnAllLines
class ImportSuite extends AnyFunSuite with ZOrderSession with FilterFixture {
  private val ddl = "a INT, b BIGINT, s STRING, d DATE, ts TIMESTAMP, m DECIMAL(10,2), n STRUCT<x: INT>"

  private def withTables(body: => Unit): Unit = withTable("i_t", "i_made") {
    spark.sql(s"CREATE TABLE i_t ($ddl) USING parquet")
    body
  }

  private def rows(select: String): Seq[(String, Seq[String], Double)] = {
    spark.sql(select).createOrReplaceTempView("i_log")
    QueryLog.read(Shims.classic(spark), "i_log").queries.map(q =>
      (q.table.get, shown(q.conjunctions), q.weight))
  }

  private val table = "spark_catalog.default.i_t"

  test("texts are analysed, not run; equal ones are counted") {
    withTables {
      val found = rows("SELECT * FROM zorder_query_log('SELECT * FROM i_t WHERE a = 5', " +
        "array('select b from i_t where a=5', 'CREATE TABLE i_made USING parquet AS SELECT * FROM i_t WHERE b > 7'), " +
        "'DELETE FROM i_t', 'SELECT 1', 'DELETE FROM i_t WHERE a IN (SELECT a FROM i_t WHERE b < 3)')")
      assert(found === Seq(
        (table, Seq("a equal[5]"), 2.0),
        (table, Seq("b range(8..)"), 1.0),
        (table, Seq("b range(..2)"), 1.0)))
      assert(!spark.catalog.tableExists("i_made"))
    }
  }

  test("every type comes through a text and back") {
    withTables {
      val where = "a BETWEEN -1 AND 1 AND b IN (1, 2) AND s LIKE 'it\\\\'s%' AND d >= DATE'2024-02-29' AND " +
        "ts < TIMESTAMP'2024-01-01 00:00:00' AND m = 1.50 AND n.x IS NULL"
      val found =
        rows(s"SELECT * FROM zorder_query_log('SELECT * FROM i_t WHERE ${where.replace("'", "\\'").replace("\\\\\\'", "\\\\\\'")}')")
      assert(found.head._2 === Seq(
        "a range(-1..1) & b in 2[1,2] & d range(2024-02-29..) & m equal[1.50] & n.x null & s prefix(it's..) & " +
          "ts range(..2023-12-31 23:59:59.999999)"))
    }
  }

  test("what cannot be read is said with its number") {
    withTables {
      def refused(arguments: String): String =
        intercept[AnalysisException](spark.sql(s"SELECT * FROM zorder_query_log($arguments)")).getMessage
      assert(
        refused("'SELECT * FROM i_t', 'SELECT * FROM i_u'").contains("Query 2 of the log cannot be read: "))
      val usage = "zorder_query_log takes constant strings, as in SELECT * FROM " +
        "zorder_query_log('SELECT * FROM t WHERE a = 1')."
      Seq("", "1", "NULL", "array('x', NULL)").foreach(a => assert(refused(a).contains(usage), a))
      val gone = intercept[AnalysisException](spark.sql("SELECT * FROM zorder_event_log('/nowhere/at/all')"))
      assert(gone.getMessage.contains("There is no event log at file:/nowhere/at/all."))
      for ((path, said) <- Seq("" -> "empty string", "nowhere://x" -> "nowhere")) {
        val no = intercept[AnalysisException](spark.sql(s"SELECT * FROM zorder_event_log('$path')"))
        assert(
          no.getMessage.contains(s"The event log $path cannot be read: ") && no.getMessage.contains(said))
      }
    }
  }

  private val queries = Seq(
    "a = 5 AND s = 'x'" -> "a equal[5] & s equal[x]",
    "a > 5 OR b = 1" -> "a range(6..)|b equal[1]",
    "b IN (1, 2, 3)" -> "b in 3[1,2,3]",
    "s LIKE 'ab%'" -> "s prefix(ab..)",
    "d >= DATE'2024-02-29' AND d < DATE'2024-03-02'" -> "d range(2024-02-29..2024-03-01)",
    "ts < TIMESTAMP'2024-01-01 00:00:00'" -> "ts range(..2023-12-31 23:59:59.999999)",
    "m <= 1.50" -> "m range(..1.50)",
    "n.x = 3" -> "n.x equal[3]",
    "NOT (a <=> 7)" -> "a range(..6)|a range(8..)|a null",
    "s = 'a)b, c' AND a = 1" -> "a equal[1] & s equal[a)b, c]",
    "(s = 'a)b' OR b = 2) AND a = 1" -> "a equal[1]",
    "s IN ('Paris, TX', 'Rome') AND a = 2" -> "a equal[2]",
    "a IS NULL" -> "a null")

  /** The events of real queries, as Spark writes them. */
  private def events(conditions: Seq[String]): Seq[String] =
    eventsOf(conditions.map(c => s"SELECT * FROM i_t WHERE $c"))

  private def eventsOf(statements: Seq[String]): Seq[String] = {
    val seen = mutable.ArrayBuffer.empty[SparkListenerEvent]
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case e: SparkListenerSQLExecutionStart => seen.synchronized { val _ = seen += e }
        case _ =>
      }
    }
    spark.sparkContext.addSparkListener(listener)
    try statements.foreach(spark.sql(_).collect())
    finally {
      spark.sparkContext.listenerBus.waitUntilEmpty(10000)
      spark.sparkContext.removeSparkListener(listener)
    }
    // the zone in which this JVM prints timestamps: other suites change it
    val printed = java.util.TimeZone.getDefault.getID
    val zone =
      s"""{"Event":"SparkListenerEnvironmentUpdate","System Properties":{"user.timezone":"$printed"}}"""
    zone +: seen.map(e =>
      JsonProtocol.sparkEventToJsonString(e)).toSeq :+ """{"Event":"SparkListenerSQLExecutionStart","cut"""
  }

  private def write(file: Path, lines: Seq[String], codec: Option[String]): Unit = {
    Files.createDirectories(file.getParent)
    val plain: OutputStream = Files.newOutputStream(file)
    val out =
      codec.fold(plain)(c => CompressionCodec.createCodec(new SparkConf(), c).compressedOutputStream(plain))
    try out.write(lines.mkString("\n").getBytes(UTF_8))
    finally out.close()
  }

  test("event logs: plain, compressed, rolled; a log that is being written") {
    withTables {
      val lines = events(queries.map(_._1) :+ queries.head._1)
      withTempDir { dir =>
        write(dir.resolve("app-1"), lines, None)
        write(dir.resolve("app-2.zstd"), lines, Some("zstd"))
        write(dir.resolve("app-3.lz4.inprogress"), lines, Some("lz4"))
        write(dir.resolve("eventlog_v2_app-4/events_1_app-4.zstd"), lines, Some("zstd"))
        write(dir.resolve("eventlog_v2_app-4/appstatus_app-4"), Seq("x"), None)
        Seq("app-1", "app-2.zstd", "app-3.lz4.inprogress", "eventlog_v2_app-4").foreach { name =>
          val found = rows(s"SELECT * FROM zorder_event_log('${dir.resolve(name)}')")
          assert(found.map(_._2.mkString("|")) === queries.map(_._2), name)
          assert(found.map(_._3) === 2.0 +: Seq.fill(queries.size - 1)(1.0) && found.forall(_._1 == table))
        }
        assert(rows(s"SELECT * FROM zorder_event_log('$dir')").map(_._3).sum === 4.0 * (queries.size + 1))
      }
    }
  }

  test(
    "event logs: the first of many rolled files says the zone of all; a killed application's compressed log") {
    withTables {
      val asked = "ts < TIMESTAMP'2024-01-01 00:00:00'"
      val wanted = Seq("ts range(..2023-12-31 23:59:59.999999)")
      val before = java.util.TimeZone.getDefault
      withTempDir { dir =>
        java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone("America/Los_Angeles"))
        try {
          val zone +: queries = events(Seq(asked)).init: @unchecked
          val rolled = dir.resolve("eventlog_v2_app-1")
          write(rolled.resolve("events_1_app-1"), Seq(zone), None)
          (2 to 10).foreach(n => write(rolled.resolve(s"events_${n}_app-1"), queries, None))
          val found = rows(s"SELECT * FROM zorder_event_log('$rolled')")
          assert(found.map(_._2) === Seq(wanted) && found.head._3 === 9.0)
          val killed = dir.resolve("app-2.lz4.inprogress")
          // blocks of the codec have 32 KiB
          write(killed, zone +: Seq.fill(100)(queries).flatten, Some("lz4"))
          val whole = Files.readAllBytes(killed)
          Files.write(killed, whole.take(whole.length / 2))
          val some = rows(s"SELECT * FROM zorder_event_log('$killed')")
          assert(some.map(_._2) === Seq(wanted) && some.head._3 > 1.0 && some.head._3 < 100.0)
        } finally java.util.TimeZone.setDefault(before)
      }
    }
  }

  test("event logs: a dynamic filter's copy of a scan is not counted") {
    withTable("i_t", "i_parts") {
      spark.sql("CREATE TABLE i_t USING parquet AS SELECT int(id) a, id b FROM range(100)")
      spark.sql(
        "CREATE TABLE i_parts USING parquet PARTITIONED BY (p) AS SELECT id x, id % 10 p FROM range(100)")
      val lines = eventsOf(Seq("SELECT x FROM i_parts JOIN i_t ON p = b WHERE a = 5"))
      assert(lines.exists(_.contains("dynamicpruning")))
      withTempDir { dir =>
        write(dir.resolve("app-1"), lines, None)
        val found = rows(s"SELECT * FROM zorder_event_log('$dir')").filter(_._1 == table)
        assert(found.map(_._3) === Seq(1.0))
      }
    }
  }

  test("event logs: what is below a cache is no scan of the queries of the cache") {
    withTable("i_t") {
      spark.sql("CREATE TABLE i_t USING parquet AS SELECT int(id) a, id b FROM range(100)")
      spark.sql("CACHE LAZY TABLE i_cached AS SELECT * FROM i_t WHERE a = 5")
      try {
        val lines = eventsOf(Seq.fill(3)("SELECT * FROM i_cached WHERE b > 1"))
        assert(lines.exists(_.contains("In-memory table")) && lines.exists(_.contains("EqualTo(a,5)")))
        withTempDir { dir =>
          write(dir.resolve("app-1"), lines, None)
          assert(rows(s"SELECT * FROM zorder_event_log('$dir')").forall(_._1 != table))
        }
      } finally spark.sql("UNCACHE TABLE i_cached")
    }
  }
}
