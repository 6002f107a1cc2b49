package org.apache.spark.sql.zorder.clustering.sort

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}
import java.time.LocalDate

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.expr
import org.apache.spark.util.Utils

/**
 * Sorts within one partition, side by side: `make bench-sort` writes benchmarks/results. Task CPU time of
 * reading, sorting and handing out all rows, medians of alternating rounds; the reading alone is a line of
 * its own and is taken off for the net figures.
 */
object SortBenchmark {
  private val Rows = 3000000L
  private val Rounds = 7

  /** What is sorted, and by what. */
  private final case class Variant(name: String, what: String, rows: SparkSession => RDD[InternalRow])

  private final case class Measured(cpu: Seq[Double], peak: Long, spilled: Long) {
    val median: Double = cpu.sorted.apply(cpu.length / 2)
  }

  def main(arguments: Array[String]): Unit = {
    val results = Paths.get(arguments.headOption.getOrElse("benchmarks/results"))
    val dir = Files.createTempDirectory("zorder-bench-sort")
    try {
      val memory = run(dir, spillEvery = None)
      val spilling = run(dir, spillEvery = Some(Rows / 4))
      val text = report(memory, spilling)
      println(text)
      Files.write(results.resolve(s"${LocalDate.now}-sort.md"), text.getBytes("UTF-8"))
    } finally Utils.deleteRecursively(dir.toFile)
  }

  private def run(dir: Path, spillEvery: Option[Long]): Seq[(Variant, Measured)] = {
    val builder = SparkSession.builder().master("local[1]").appName("sort benchmark")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.warehouse.dir", dir.resolve("warehouse").toString)
      .config("spark.sql.files.maxPartitionBytes", "4g")
      .config("spark.sql.extensions", "org.apache.spark.sql.zorder.ZOrderExtensions")
    spillEvery.foreach(n => builder.config("spark.shuffle.spill.numElementsForceSpillThreshold", n))
    val spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try {
      val source = dir.resolve("rows").toString
      if (!Files.exists(Paths.get(source))) made(spark).write.parquet(source)
      val variants = sorts(source)
      val rounds = for (_ <- 0 to Rounds) yield variants.map(measure(spark, _))
      // the first round warms up
      variants.indices.map { v =>
        val all = rounds.tail.map(_(v))
        variants(v) -> Measured(all.map(_._1), all.map(_._2).max, all.map(_._3).max)
      }
    } finally spark.stop()
  }

  private def made(spark: SparkSession): DataFrame = spark.range(0, Rows, 1, 1).selectExpr(
    Seq(
      "cast(pmod(xxhash64(id, 1), 700) as int) a",
      "pmod(xxhash64(id, 2), 3000000) b",
      "pmod(xxhash64(id, 3), 3000000) k",
      "xxhash64(id, 4) u",
      "xxhash64(id, 5) v") ++ (6 to 12).map(i => s"xxhash64(id, $i) c$i"): _*)

  private def sorts(source: String): Seq[Variant] = {
    def table(s: SparkSession): DataFrame = s.read.parquet(source)
    def by(name: String, what: String)(sorted: DataFrame => DataFrame): Variant =
      Variant(name, what, s => sorted(table(s)).queryExecution.toRdd)
    def keyed(what: String): DataFrame => DataFrame =
      _.selectExpr("*", s"$what AS key").sortWithinPartitions("key")
    Seq(
      by("reading", "no sort")(identity),
      by("BIGINT", "k, 3,000,000 values")(_.sortWithinPartitions("k")),
      by("BIGINT, 64 bits vary", "u")(_.sortWithinPartitions("u")),
      by("zorder", "zorder(a, b): INT of 700 values, BIGINT of 3,000,000")(
        _.sortWithinPartitions(expr("zorder(a, b)"))),
      by("zorder, 128 bits vary", "zorder(u, v)")(_.sortWithinPartitions(expr("zorder(u, v)"))),
      by("BINARY key column", "zorder(a, b) AS key")(keyed("zorder(a, b)")),
      by("BINARY key column, 128 bits vary", "zorder(u, v) AS key")(keyed("zorder(u, v)")),
      Variant(
        "comparator only",
        "zorder(a, b), as Impala does",
        s => ComparatorSort.rows(table(s), "zorder(a, b)")))
  }

  /** CPU seconds, peak memory and bytes spilled of one pass over the rows. */
  private def measure(spark: SparkSession, variant: Variant): (Double, Long, Long) = {
    System.gc()
    val watch = new TaskWatch
    spark.sparkContext.addSparkListener(watch)
    try {
      variant.rows(spark).foreach(_ => ())
      spark.sparkContext.listenerBus.waitUntilEmpty()
    } finally spark.sparkContext.removeSparkListener(watch)
    println(f"${variant.name}: ${watch.cpu / 1e9}%.2f s")
    (watch.cpu / 1e9, watch.peak, watch.spilled)
  }

  private class TaskWatch extends SparkListener {
    @volatile var cpu = 0L
    @volatile var peak = 0L
    @volatile var spilled = 0L

    override def onTaskEnd(task: SparkListenerTaskEnd): Unit = {
      cpu += task.taskMetrics.executorCpuTime
      peak = math.max(peak, task.taskMetrics.peakExecutionMemory)
      spilled += task.taskMetrics.diskBytesSpilled
    }
  }

  private def report(memory: Seq[(Variant, Measured)], spilling: Seq[(Variant, Measured)]): String = {
    val lines = Seq(
      "# Sorts within a partition",
      "",
      s"`make bench-sort`, ${LocalDate.now}: $Rows rows of 12 columns in one task, Parquet in, all rows handed out. CPU time of the task, median of",
      s"$Rounds alternating rounds after one of warm-up; *net* is without the reading. A BINARY key column costs its making, too: it is part of the query.",
      "") ++
      table("In memory", memory) ++ table(s"Spilling every ${Rows / 4} rows", spilling) ++ Seq(
        s"- Spark ${org.apache.spark.SPARK_VERSION}, Java ${System.getProperty("java.version")}, Scala ${scala.util.Properties.versionNumberString}, " +
          s"${Runtime.getRuntime.availableProcessors} cores, ${System.getProperty("os.arch")}, heap ${Runtime.getRuntime.maxMemory >> 20} MiB, master local[1], " +
          f"load average at the end ${ManagementFactory.getOperatingSystemMXBean.getSystemLoadAverage}%.1f")
    lines.mkString("", "\n", "\n")
  }

  private def table(title: String, rows: Seq[(Variant, Measured)]): Seq[String] = {
    val of = rows.map { case (v, m) => v.name -> m }.toMap
    val reading = of("reading").median
    def ratio(m: Measured, to: String) =
      f"${m.median / of(to).median}%.2f | ${(m.median - reading) / (of(to).median - reading)}%.2f"
    Seq(
      s"## $title",
      "",
      "| sort | by | CPU, s | to BIGINT | net | to its BINARY key column | net | peak, MiB | spilled to disk, MiB |",
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |") ++
      rows.map { case (v, m) =>
        val wide = if (v.name.contains("vary")) ", 64 bits vary" else ""
        val key = "BINARY key column" + (if (wide.isEmpty) "" else ", 128 bits vary")
        f"| ${v.name} | ${v.what} | ${m.median}%.2f | ${ratio(m, "BIGINT" + wide)} | ${ratio(m, key)} | " +
          s"${m.peak >> 20} | ${m.spilled >> 20} |"
      } :+ ""
  }
}
