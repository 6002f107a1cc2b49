package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Path

import org.scalatest.TestSuite

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.{OwnSession, ZOrderSession}
import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.ShortRun

/** A session with Delta installed beside us, and what Delta says of its tables. */
trait DeltaFixture extends RunFixture with OwnSession { this: TestSuite =>
  protected val deltaExtension = "io.delta.sql.DeltaSparkSessionExtension"

  /** Ours is listed last, as the guide says. */
  protected def extensions: String = s"$deltaExtension,${ZOrderSession.extension}"

  /**
   * Whether Delta 3 reads all of its log before and after each commit, to compare it with what the commit says, as it
   * does in its own tests (Delta 4 never does here). For suites of our commits.
   */
  protected def comparesCommits: Boolean = true

  override protected def spark: SparkSession = ownSession

  override protected def configured(start: SparkSession.Builder): SparkSession.Builder =
    start.config("spark.sql.extensions", extensions)
      .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
      .config("spark.databricks.delta.snapshotPartitions", "2")
      .config("spark.databricks.delta.incremental.commit.forceVerifyInTests", comparesCommits.toString)
      .config("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")

  override def afterAll(): Unit = {
    CrashPoint.meanwhile = _ => ()
    System.clearProperty(CrashPoint.Property)
    super.afterAll()
  }

  override def read(path: Path): DataFrame = spark.read.format("delta").load(path.toString)

  /** The columns by which tables get liquid clustering. */
  protected def clusterBy: Option[String] = None

  /** Gives a table liquid clustering by these columns where the suite's tables have it. */
  protected def makeLiquid(table: String, columns: String): Unit =
    clusterBy.foreach(_ => spark.sql(s"ALTER TABLE $table CLUSTER BY ($columns)"))

  /** The rows `a`, `b`, ... of RunFixture as a Delta table of six files. */
  def delta(path: Path, n: Long = 20000, properties: Map[String, String] = Map.empty): Unit = {
    properties.foreach { case (key, value) =>
      spark.conf.set(s"spark.databricks.delta.properties.defaults.$key", value)
    }
    try {
      numbers(n).repartition(6).write.format("delta").save(path.toString)
      clusterBy.foreach(makeLiquid(s"delta.`$path`", _))
    } finally properties.foreach { case (key, _) =>
        spark.conf.unset(s"spark.databricks.delta.properties.defaults.$key")
      }
  }

  def history(path: Path): Row = spark.sql(s"DESCRIBE HISTORY delta.`$path` LIMIT 1").head()

  def files(path: Path): Long = DeltaLog.forTable(spark, path.toString).update().numOfFiles

  /** Data files with rows that no version of the table knows; a MERGE may leave an empty one. */
  def unknown(path: Path): Set[String] = {
    val log = DeltaLog.forTable(spark, path.toString)
    val named = (0L to log.update().version).flatMap { v =>
      log.getSnapshotAt(v).allFiles.collect().map(f => new java.net.URI(f.path).getPath)
    }.toSet
    val names = named.map(_.split('/').last)
    dataFiles(path).keySet.filterNot(f => names(f.split('/').last)).filter(f =>
      spark.read.parquet(path.resolve(f).toString).count() > 0)
  }

  /** All rows as text, so that a difference shows. */
  def rows(path: Path): Seq[String] = read(path).collect().map(_.toString).sorted.toSeq

  /** Runs `body` and checks that the table's rows stay what they were. */
  def keeps[A](path: Path)(body: => A): A = {
    val before = rows(path)
    val out = body
    assert(rows(path) === before)
    out
  }
}

/**
 * For suites of queries and of values, which compare rows themselves: Delta compares its log with each commit only in
 * `make test-all`, and where a suite is started by its name.
 */
trait UncomparedCommits extends DeltaFixture { this: TestSuite =>
  override protected def comparesCommits: Boolean = !ShortRun.is
}
