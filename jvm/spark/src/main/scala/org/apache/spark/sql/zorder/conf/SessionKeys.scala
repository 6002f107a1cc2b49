package org.apache.spark.sql.zorder.conf

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf

/** A setting that is no option of a run. */
final case class Setting(key: String, unit: String, default: String, doc: String)

/** The `spark.zorder.*` keys of a session. Registered with Spark, so that `SET -v` shows and checks them. */
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
    TrueOrFalse,
    "false",
    "Whether a run says its steps on standard error, too; on a terminal it always does.")

  val SortEnabled: Setting = Setting(
    "spark.zorder.sort.enabled",
    "true, false",
    "true",
    "Whether ORDER BY and SORT BY zorder(...) or hilbert(...) are planned as a sort that needs no key column.")

  private val seconds = "seconds"

  val CommitWait: Setting = Setting(
    "spark.zorder.commit.waitSeconds",
    seconds,
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

  private val number = "number"

  val QueryLogMost: Setting = Setting(
    "spark.zorder.queryLog.maxQueries",
    number,
    "10000",
    "Number of unlike queries that a log of one session keeps.")

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

  val settings: Seq[Setting] = Seq(
    TakeOverDelta,
    ShowProgress,
    CommitWait,
    SortEnabled,
    QueryLogPath,
    QueryLogLiterals,
    QueryLogMost,
    injectParser,
    injectFunctions,
    injectTableFunctions,
    injectSort,
    injectQueryLog)

  /** Makes the keys known to Spark; once for the whole JVM, further calls do nothing. */
  def register(): Unit = registered

  private lazy val registered: Unit = {
    ZOrderOption.all.foreach { o =>
      once(SQLConf.buildConf(o.sessionKey).doc(s"${o.doc} Default: ${o.default}.").version(since).stringConf
        .checkValue(v => Try(o.check(v)).isSuccess, s"The value must be: ${o.unit}.").createOptional)
    }
    settings.foreach { s =>
      val entry = SQLConf.buildConf(s.key).doc(s.doc).version(since)
      once(s.unit match {
        case `seconds` => entry.doubleConf.createWithDefault(s.default.toDouble)
        case `number` => entry.intConf.createWithDefault(s.default.toInt)
        case TrueOrFalse => entry.booleanConf.createWithDefault(s.default.toBoolean)
        case _ => entry.stringConf.createWithDefault(s.default)
      })
    }
  }

  /** A second copy of our classes (a jar added to a running session) finds the keys already registered. */
  private def once(entry: => Any): Unit =
    try { val _ = entry }
    catch { case _: IllegalArgumentException => () }

  /** A setting as a session has it, as text. */
  def text(conf: SQLConf, setting: Setting): String = conf.getConfString(setting.key, setting.default)

  /** A true/false setting as a session has it. */
  def isOn(conf: SQLConf, setting: Setting): Boolean =
    text(conf, setting).trim.equalsIgnoreCase("true")

  /** A setting that must be known before there is a session: system property over Spark's own conf. */
  def isOnAtStart(setting: Setting): Boolean = {
    val spark = Option(SparkEnv.get).flatMap(_.conf.getOption(setting.key))
    Option(
      System.getProperty(setting.key)).orElse(spark).getOrElse(setting.default).trim.equalsIgnoreCase("true")
  }
}
