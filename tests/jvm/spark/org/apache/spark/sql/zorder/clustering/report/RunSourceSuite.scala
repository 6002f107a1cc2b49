package org.apache.spark.sql.zorder.clustering.report

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkEnv
import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.clustering.request.{Progress, RowsDone, Terminal}
import sparkzorder.mark.SameOnAllLines

/** What collectors of metrics and of logs see of runs. */
@SameOnAllLines
class RunSourceSuite extends AnyFunSuite with RunFixture {

  private def counted(name: String): Long = RunSource.metricRegistry.counter(name).getCount

  test("runs are counted in Spark's metrics system, by status, files and bytes") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).repartition(3).write.parquet(path.toString)
      val before = Seq("runs.DONE", "runs.NOTHING_TO_DO", "filesAdded", "filesRemoved").map(counted)
      done(zorder(path, "BY (a, b) WITH (fileCount = 4, force = true)"))
      zorder(path, "BY (a, b)")
      val after = Seq("runs.DONE", "runs.NOTHING_TO_DO", "filesAdded", "filesRemoved").map(counted)
      assert(after.zip(before).map { case (a, b) => a - b } === Seq(1, 1, 4, 3))
      val gauges = RunSource.metricRegistry.getGauges
      val (share, efficiency) = (gauges.get("shareRead").getValue, gauges.get("efficiency").getValue)
      assert(share.asInstanceOf[Double] > 0.3 && share.asInstanceOf[Double] < 0.7)
      assert(efficiency.asInstanceOf[Double] > 0.8)
      assert(SparkEnv.get.metricsSystem.getSourcesByName("zorder") === Seq(RunSource))
    }
  }

  test("an expression, of which nothing is measured, makes a run no more efficient") {
    val known = ColumnReport("a", Shares(measured = Some(0.5), bound = Some(0.4)), Shares(), Shares())
    val expression = ColumnReport("upper(s)", Shares(bound = Some(0.4)), Shares(), Shares())
    val report =
      RunReport("t", RunStatus.Done, "", "1", "", RunMetrics(), columns = Seq(known, expression))
    RunSource.wrote(report)
    val gauges = RunSource.metricRegistry.getGauges
    assert(gauges.get("efficiency").getValue.asInstanceOf[Double] === 0.8)
    assert(gauges.get("shareRead").getValue.asInstanceOf[Double] === 0.5)
  }

  test("a run in batches is one run, a partial one too; what its batches wrote is counted") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr("*", "id % 3 p").repartition(2).write.partitionBy("p").parquet(path.toString)
      val names = Seq("runs.DONE", "runs.PARTIAL", "runs.DRY_RUN", "runs.TOO_SMALL", "filesAdded")
      def counts = names.map(counted)
      val before = counts
      val run = "BY (a, b) WITH (fileCount = 2, force = true, maxBytesInFlight = 1"
      assert(status(zorder(path, s"$run, maxInputBytes = 1)")) === "PARTIAL")
      assert(counts.zip(before).map { case (a, b) => a - b } === Seq(0, 1, 0, 0, 2))
      done(zorder(path, s"$run)"))
      zorder(path, "BY (b) DRY RUN")
      assert(counts.zip(before).map { case (a, b) => a - b } === Seq(1, 1, 1, 0, 6))
    }
  }

  test("a step is one line of JSON") {
    val line = Progress.json("a1b2c3d4", "db.\"t\"", "sample", 12, "7 rows")
    val node = new ObjectMapper().readTree(line)
    assert(!line.contains('\n') && node.get("zorder").asText === "a1b2c3d4")
    assert(node.get("table").asText === "db.\"t\"" && node.get("ms").asLong === 12)
  }

  test("rows that are shuffled and written are counted while tasks end, those of other jobs are not") {
    withTempDir { dir =>
      var said = Seq.empty[String]
      val listener = new RowsDone("run-1", 4000, s => said :+= s, everyNanos = 0)
      val context = spark.sparkContext
      context.addSparkListener(listener)
      try {
        numbers(100).write.parquet(dir.resolve("other").toString)
        context.addJobTag("run-1")
        numbers(4000).repartition(3).write.parquet(dir.resolve("t").toString)
        context.listenerBus.waitUntilEmpty()
      } finally {
        context.removeJobTag("run-1")
        context.removeSparkListener(listener)
      }
      assert(said.head.contains(" of 4,000 rows shuffled, 0 written ("), said.head)
      assert(said.last.startsWith("4,000 of 4,000 rows shuffled, 4,000 written ("), said.last)
    }
  }

  test("a terminal by the name that Linux has for it") {
    Seq("/dev/pts/3", "/dev/tty1", "/dev/ttyS0", "/dev/console").foreach(f =>
      assert(Terminal.isTerminal(f), f))
    Seq("pipe:[53]", "/dev/null", "/tmp/tty", "socket:[1]").foreach(f => assert(!Terminal.isTerminal(f), f))
  }
}
