package org.apache.spark.sql.zorder

import java.nio.file.{Files, Path}

import org.scalatest.Suite

import org.apache.spark.sql.SparkSession
import org.apache.spark.util.Utils

/** A test with Spark: one session for all suites of a JVM, our extension configured, small and in UTC. */
trait ZOrderSession { this: Suite =>

  protected def spark: SparkSession = ZOrderSession.shared()

  /** Runs `body` with an empty directory, which is deleted afterwards. */
  protected def withTempDir[T](body: Path => T): T = {
    val dir = Files.createTempDirectory("zorder-test-")
    try body(dir)
    finally Utils.deleteRecursively(dir.toFile)
  }

  /** Drops the tables after `body`, whatever happens in it. */
  protected def withTable[T](names: String*)(body: => T): T =
    try body
    finally names.foreach(n => spark.sql(s"DROP TABLE IF EXISTS $n"))

  /** Sets keys of the session for `body` and puts the old values back. */
  protected def withConf[T](pairs: (String, String)*)(body: => T): T = {
    val before = pairs.map { case (key, _) => key -> spark.conf.getOption(key) }
    pairs.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }
}

object ZOrderSession {
  val extension = "org.apache.spark.sql.zorder.ZOrderExtensions"

  /** Nothing is compiled: for small tables that takes longer than the query. */
  val interpreted: Seq[(String, String)] =
    Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")

  private var session: Option[SparkSession] = None

  /** The settings of every test session. */
  def builder(): SparkSession.Builder = {
    val warehouse = Files.createTempDirectory("zorder-warehouse-")
    Utils.deleteRecursively(warehouse.toFile)
    sys.addShutdownHook(Utils.deleteRecursively(warehouse.toFile))
    SparkSession.builder().master("local[2]").appName("spark-zorder tests")
      .config("spark.sql.shuffle.partitions", "4")
      .config("spark.ui.enabled", "false")
      // by default a hundred: tests ask more different queries than that, and those of a suite come again
      .config("spark.sql.codegen.cache.maxEntries", "2000")
      .config("spark.sql.session.timeZone", "UTC")
      .config("spark.sql.warehouse.dir", warehouse.toUri.toString)
      .config("spark.sql.extensions", extension)
  }

  /** The session that all suites share; made anew if somebody stopped it. */
  def shared(): SparkSession = synchronized {
    val alive = session.filterNot(_.sparkContext.isStopped)
    if (alive.isEmpty) {
      SparkSession.clearActiveSession()
      SparkSession.clearDefaultSession()
      session = Some(builder().getOrCreate())
    }
    SparkSession.setActiveSession(session.get)
    session.get
  }
}
