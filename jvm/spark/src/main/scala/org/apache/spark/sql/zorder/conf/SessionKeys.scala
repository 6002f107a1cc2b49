package org.apache.spark.sql.zorder.conf

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf

/**
 * A setting that is no option of a run.
 *
 * @param check
 *   refuses a bad value with one sentence
 */
final case class Setting(key: String, unit: String, default: String, doc: String) {
  def check(value: String): Unit = {
    val _ = unit match {
      case SessionKeys.Seconds => Value.decimal(key, value, 0, 86400)
      case SessionKeys.Number => Value.whole(key, value, 1, 10000000)
      case words if words.contains(", ") => Value.oneOf(key, value, words.split(", ").toSeq)
      case _ => value
    }
  }
}

/**
 * The `spark.zorder.*` keys of a session, registered with Spark so that `SET -v` shows them. Spark must not
 * check their values: it would do so when a session begins, and a bad one would break every statement of
 * everybody. Our statements check them.
 */
object SessionKeys {
  private val since = "0.1.0"
  private val TrueOrFalse = "true, false"

  val TakeOverDelta: Setting = Setting(
    "spark.zorder.delta.takeOver",
    TrueOrFalse,
    "false",
    "Whether a plain OPTIMIZE of a Delta table is ours. By default it stays Delta's own.")

  val ShowProgress: Setting = Setting(
    "spark.zorder.progress.show",
    "true, false, auto",
    "auto",
    "Whether a run says its steps on standard error, too: auto means on a terminal.")

  val SortEnabled: Setting = Setting(
    "spark.zorder.sort.enabled",
    TrueOrFalse,
    "true",
    "Whether ORDER BY and SORT BY zorder(...) or hilbert(...) are planned as a sort that needs no key column.")

  private[conf] val Seconds = "seconds"

  val CommitWait: Setting = Setting(
    "spark.zorder.commit.waitSeconds",
    Seconds,
    "10.0",
    "How long a commit to plain Parquet waits for a writer in flight before it gives up; nothing is changed " +
      "then.")

  val QueryLogPath: Setting = Setting(
    "spark.zorder.queryLog.path",
    "directory",
    "",
    "Where the filters of the session's queries are logged; nothing is logged without it. " +
      "ZORDER LOG START sets it.")

  val QueryLogLiterals: Setting = Setting(
    "spark.zorder.queryLog.literals",
    "drop, keep",
    "drop",
    "Whether the log has the values that queries compare with, or only how much they select.")

  private[conf] val Number = "number"

  val QueryLogMost: Setting = Setting(
    "spark.zorder.queryLog.maxQueries",
    Number,
    "10000",
    "Number of unlike queries that a log of one session keeps.")

  val SkippingEnabled: Setting = Setting(
    "spark.zorder.skipping.enabled",
    TrueOrFalse,
    "true",
    "Whether queries of plain Parquet tables that have a statistics index (ZORDER INDEX) skip files by it.")

  /** Switches for each part of the extension; read once, when a session is made. */
  private def inject(part: String, words: String): Setting = Setting(
    s"spark.zorder.inject.$part",
    TrueOrFalse,
    "true",
    s"Whether the extension installs its $words. Set it before the session is made.")

  val injectParser: Setting = inject("parser", "parser: without it, no OPTIMIZE and ZORDER statements")
  val injectFunctions: Setting = inject("functions", "functions")
  val injectTableFunctions: Setting = inject("tableFunctions", "table functions")
  val injectSort: Setting = inject("sort", "sort operator")

  val injectQueryLog: Setting = inject("queryLog", "query log: without it, no setting starts one")

  val injectSkipping: Setting = inject("skipping", "skipping of files by a statistics index")

  val settings: Seq[Setting] = Seq(
    TakeOverDelta,
    ShowProgress,
    CommitWait,
    SortEnabled,
    SkippingEnabled,
    QueryLogPath,
    QueryLogLiterals,
    QueryLogMost,
    injectParser,
    injectFunctions,
    injectTableFunctions,
    injectSort,
    injectQueryLog,
    injectSkipping)

  /** Makes the keys known to Spark; once for the whole JVM, further calls do nothing. */
  def register(): Unit = registered

  private lazy val registered: Unit = {
    ZOrderOption.all.foreach { o =>
      once(SQLConf.buildConf(o.sessionKey).doc(s"${o.doc} Default: ${o.default}.").version(since).stringConf
        .createOptional)
    }
    settings.foreach { s =>
      once(SQLConf.buildConf(s.key).doc(s.doc).version(since).stringConf.createWithDefault(s.default))
    }
  }

  /** A second copy of our classes (a jar added to a running session) finds the keys already registered. */
  private def once(entry: => Any): Unit =
    try { val _ = entry }
    catch { case _: IllegalArgumentException => () }

  /** A setting as a session has it, as text. */
  def text(conf: SQLConf, setting: Setting): String = conf.getConfString(setting.key, setting.default)

  /** A true/false setting as a session has it. */
  def isOn(conf: SQLConf, setting: Setting): Boolean = isOn(conf, setting, setting.default == "true")

  /** The same; `otherwise` where the value is neither true nor false. */
  def isOn(conf: SQLConf, setting: Setting, otherwise: => Boolean): Boolean =
    truth(text(conf, setting)).getOrElse(otherwise)

  /** A setting that must be known before there is a session: system property over Spark's own conf. */
  def isOnAtStart(setting: Setting): Boolean = {
    val spark = Option(SparkEnv.get).flatMap(_.conf.getOption(setting.key))
    Option(System.getProperty(setting.key)).orElse(spark).flatMap(truth).getOrElse(setting.default == "true")
  }

  private def truth(text: String): Option[Boolean] = Try(Value.bool("", text)).toOption
}
