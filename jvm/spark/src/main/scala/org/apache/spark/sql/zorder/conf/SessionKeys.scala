package org.apache.spark.sql.zorder.conf

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf

/**
 * The `spark.zorder.*` keys of a session, registered with Spark so that `SET -v` shows them. They are registered as
 * strings: Spark checks a typed value when a session begins, and a bad one would break every statement of
 * everybody. Our statements check them.
 */
object SessionKeys {
  private val since = "0.1.0"

  val TakeOverDelta: Setting[Boolean] = Setting.build("spark.zorder.delta.takeOver")
    .doc("Whether a plain OPTIMIZE of a Delta table is ours. By default it stays Delta's own.")
    .booleanConf.createWithDefault(false)

  val ShowProgress: Setting[String] = Setting.build("spark.zorder.progress.show")
    .doc("Whether a run prints its steps to standard error, too: auto means on a terminal.")
    .wordConf("true", "false", "auto").createWithDefault("auto")

  val SortEnabled: Setting[Boolean] = Setting.build("spark.zorder.sort.enabled")
    .doc("Whether ORDER BY and SORT BY zorder(...) or hilbert(...) are planned as a sort that needs no key column.")
    .booleanConf.createWithDefault(true)

  val PagesEnabled: Setting[Boolean] = Setting.build("spark.zorder.pages.enabled")
    .doc("Whether a run cuts the rows of a file at the borders of its pages. Without it they follow a Hilbert curve, " +
      "which pages cut anywhere.")
    .booleanConf.createWithDefault(true)

  val CommitWait: Setting[Double] = Setting.build("spark.zorder.commit.waitSeconds")
    .doc("How long a commit to plain Parquet waits for a write in progress before it gives up (nothing is changed " +
      "then), and how long a query waits for an exchange of directories before it fails.")
    .doubleConf("seconds", 0, 86400).createWithDefault(10.0)

  /** `CommitWait` of a session, in milliseconds; its default in place of a bad value. */
  def commitWaitMs(conf: SQLConf): Long = (CommitWait.orDefault(conf) * 1000).toLong

  val AtomicRenames: Setting[String] = Setting.build("spark.zorder.atomicRenames")
    .doc("Further schemes of file systems where a directory is renamed in one step, such as abfss: plain Parquet is " +
      "then exchanged in place there. Untested; local disk, HDFS and viewfs need not be named.")
    .stringConf("schemes").createWithDefault("")

  val QueryLogPath: Setting[String] = Setting.build("spark.zorder.queryLog.path")
    .doc(
      "Where the filters and join keys of the session's queries are logged; nothing is logged without it. " +
        "ZORDER LOG START sets it.")
    .stringConf("directory").createWithDefault("")

  val QueryLogLiterals: Setting[String] = Setting.build("spark.zorder.queryLog.literals")
    .doc("Whether the log has the values that queries compare with, or only how much they select.")
    .wordConf("drop", "keep").createWithDefault("drop")

  val QueryLogMost: Setting[Int] = Setting.build("spark.zorder.queryLog.maxQueries")
    .doc("Number of different queries that a log of one session keeps.")
    .intConf("number", 1, 10000000).createWithDefault(10000)

  val SkippingEnabled: Setting[Boolean] = Setting.build("spark.zorder.skipping.enabled")
    .doc("Whether queries skip files by the statistics index of a plain Parquet table (ZORDER INDEX), and more files " +
      "of Delta and Iceberg tables than these formats do.")
    .booleanConf.createWithDefault(true)

  val IndexLocation: Setting[String] = Setting.build("spark.zorder.index.location")
    .doc("Where statistics indexes are kept, each in a folder of its own, such as those of tables that cannot be " +
      "written to. Without it, an index is in its table.")
    .stringConf("directory").createWithDefault("")

  val SkippingMaxMemory: Setting[Long] = Setting.build("spark.zorder.skipping.maxMemory")
    .doc("Memory of the driver that the indexes of all tables may take, and as much for bounds of files from the metadata " +
      "of formats. Where it does not suffice, the tables that queries asked for longest ago go first; a column that does not " +
      "fit is not loaded, and skips no files.")
    .bytesConf.createWithDefaultString("1g")

  /** Switches for each part of the extension; read once, when a session is made. */
  private def inject(part: String, words: String): Setting[Boolean] =
    Setting.build(s"spark.zorder.inject.$part")
      .doc(s"Whether the extension installs its $words. Set it before the session is made.")
      .booleanConf.createWithDefault(true)

  val InjectParser: Setting[Boolean] =
    inject("parser", "parser: without it, no OPTIMIZE and ZORDER statements")
  val InjectFunctions: Setting[Boolean] = inject("functions", "functions")
  val InjectTableFunctions: Setting[Boolean] = inject("tableFunctions", "table functions")
  val InjectSort: Setting[Boolean] = inject("sort", "sort operator")
  val InjectQueryLog: Setting[Boolean] =
    inject("queryLog", "query log: without it, no setting starts one")
  val InjectExchangeGuard: Setting[Boolean] = inject(
    "exchangeGuard",
    "check that no run exchanges the directories of a plain Parquet table while a query lists it: without it, rows " +
      "may be missing for a moment")
  val InjectSkipping: Setting[Boolean] = inject(
    "skipping",
    "skipping of files, also of Delta and Iceberg tables: indexes, first rows, aggregates and keys of joins")

  /** Every setting, in the order of the documentation. */
  val settings: Seq[Setting[_]] = Seq(
    TakeOverDelta,
    ShowProgress,
    CommitWait,
    AtomicRenames,
    SortEnabled,
    PagesEnabled,
    SkippingEnabled,
    SkippingMaxMemory,
    IndexLocation,
    QueryLogPath,
    QueryLogLiterals,
    QueryLogMost,
    InjectParser,
    InjectFunctions,
    InjectTableFunctions,
    InjectSort,
    InjectQueryLog,
    InjectExchangeGuard,
    InjectSkipping)

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
}

/**
 * A key of the session that is no option of a run, typed as Spark's own `ConfigEntry` is. Spark itself knows it as
 * a string (see [[SessionKeys]]); the value is converted where we read it.
 *
 * @param unit
 *   what the value is, in the words of the documentation
 * @param default
 *   as a user would write it
 * @param convert
 *   key and text to the value; refuses a bad text with one sentence that names the key
 */
final class Setting[T] private[conf] (
    val key: String,
    val unit: String,
    val default: String,
    val doc: String,
    convert: (String, String) => T) {

  /** Refuses a bad value. */
  def check(text: String): Unit = { val _ = convert(key, text) }

  /** The session's value; a bad one is refused. */
  def of(conf: SQLConf): T = convert(key, conf.getConfString(key, default))

  /** The session's value, or the default instead of a bad one: for statements that are not ours. */
  def orDefault(conf: SQLConf): T = orDefault(conf.getConfString(key, default))

  /** The value before there is a session: the system property, or else Spark's own configuration. */
  def atStart: T = {
    val spark = Option(SparkEnv.get).flatMap(_.conf.getOption(key))
    orDefault(Option(System.getProperty(key)).orElse(spark).getOrElse(default))
  }

  private def orDefault(text: String): T = Try(convert(key, text)).getOrElse(convert(key, default))
}

private[conf] object Setting {

  /** Begins a setting as `SQLConf.buildConf` begins an entry. */
  def build(key: String): Builder = new Builder(key, "")

  final class Builder(key: String, text: String) {
    def doc(text: String): Builder = new Builder(key, text)

    def booleanConf: Typed[Boolean] = typed("true, false", OptionValue.bool)

    def wordConf(words: String*): Typed[String] = typed(words.mkString(", "), OptionValue.oneOf(_, _, words))

    def intConf(unit: String, low: Int, high: Int): Typed[Int] =
      typed(unit, OptionValue.whole(_, _, low.toLong, high.toLong).toInt)

    def doubleConf(unit: String, low: Double, high: Double): Typed[Double] =
      typed(unit, OptionValue.decimal(_, _, low, high))

    def bytesConf: Typed[Long] = typed("bytes, or with k, m, g", OptionValue.bytes)

    def stringConf(unit: String): Typed[String] = typed(unit, (_, value) => value.trim)

    private def typed[T](unit: String, convert: (String, String) => T) =
      new Typed[T](key, unit, text, convert)
  }

  final class Typed[T](key: String, unit: String, doc: String, convert: (String, String) => T) {
    def createWithDefault(default: T): Setting[T] = createWithDefaultString(default.toString)

    /** @param default as a user would write it */
    def createWithDefaultString(default: String): Setting[T] = new Setting(key, unit, default, doc, convert)
  }
}
