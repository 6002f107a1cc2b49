package org.apache.spark.sql.zorder.conf

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

/**
 * One option of a run, or of `ZORDER VACUUM` (`Retention`, which `WITH` refuses). This entry defines the key in `WITH (...)`, the session key `spark.zorder.<name>`, the table
 * property `zorder.<name>` and the line in the documentation.
 *
 * @param unit
 *   what the value is, in the words of the documentation
 * @param default
 *   as a user would write it, or a phrase where the default depends on the table
 * @param read
 *   key and text to what puts the value into the options; refuses a bad text by that key, so that the user finds the
 *   place
 */
final case class ZOrderOption(
    name: String,
    unit: String,
    default: String,
    doc: String,
    read: (String, String) => RunOptions => RunOptions) {

  def sessionKey: String = ZOrderOption.SessionPrefix + name

  def tableProperty: String = ZOrderOption.TablePrefix + name

  /** Reads the text that was found under a key; the only place that does. */
  def setting(key: String, text: String): OptionSetting = OptionSetting(this, text)(read(key, text))
}

/** An option that a statement, a table or the session sets: the text as it was written, and its value. */
final case class OptionSetting(option: ZOrderOption, text: String)(put: RunOptions => RunOptions) {

  /** The options with this value. */
  def in(options: RunOptions): RunOptions = put(options)
}

object ZOrderOption {
  val SessionPrefix = "spark.zorder."
  val TablePrefix = "zorder."

  /** Whether a table property is one of this project's, an option or not. */
  def isOurs(property: String): Boolean = property.toLowerCase(Locale.ROOT).startsWith(TablePrefix)

  private val codecs = Seq("none", "uncompressed", "snappy", "gzip", "zstd", "lz4", "lz4_raw")

  /** @param value key and text to the value */
  private def option[A](value: (String, String) => A)(
      name: String,
      unit: String,
      default: String,
      doc: String,
      put: (RunOptions, A) => RunOptions): ZOrderOption =
    ZOrderOption(
      name,
      unit,
      default,
      doc,
      (key, text) => {
        val read = value(key, text)
        put(_, read)
      })

  /** The one option that no run has: only `ZORDER VACUUM` uses it. */
  val Retention: ZOrderOption = option(OptionValue.millis)(
    "retention",
    "time with s, m, h, d",
    "7d",
    "How long ZORDER VACUUM keeps the files that a run replaced; on Delta and Iceberg at least as long as the " +
      "table's own properties say. Not in WITH: a statement has ZORDER VACUUM ... RETAIN n HOURS.",
    (o, v) => o.copy(retentionMs = v)
  )

  val Location: ZOrderOption = option(OptionValue.oneOf(_, _, Seq("keep", "move")))(
    "location",
    "keep, move",
    "keep",
    "Where the new files of a plain Parquet table of the catalog go. keep: directories are exchanged in place, on a " +
      "local disk and HDFS. move: into new directories, which the catalog then names; an object store " +
      "allows only this, so say it once. The table keeps it as a property.",
    (o, v) => o.copy(location = v)
  )

  /** Every option there is, in the order of the documentation. */
  val all: Seq[ZOrderOption] = Seq(
    option(OptionValue.size)(
      "targetFileSize",
      "bytes, or with k, m, g",
      "256m",
      "Size that the files should have. If 256m gives fewer than 16 files, the default is a sixteenth of the table, but " +
        "at least 8m; a table keeps as many files as its look-ups need to read no more than now. At least 64k.",
      (o, v) => o.copy(targetFileSize = Some(v))
    ),
    option(OptionValue.whole(_, _, 1, 1000000).toInt)(
      "fileCount",
      "number, 1 to 1000000",
      "from targetFileSize",
      "Number of files of the table, or of each partition, but no more than it has rows; wins over targetFileSize.",
      (o, v) => o.copy(fileCount = Some(v))
    ),
    option(OptionValue.size)(
      "rowGroupSize",
      "bytes, or with k, m, g",
      "what the input files have",
      "Size of a Parquet row group before compression; on Spark 4.1 and later plain Parquet and Delta count the rows " +
        "that it should hold, and it may take twice the bytes. At least 64k.",
      (o, v) => o.copy(rowGroupSize = Some(v))
    ),
    option(OptionValue.oneOf(_, _, codecs))(
      "codec",
      codecs.mkString(", "),
      "what the input files have",
      "Compression of the new files.",
      (o, v) => o.copy(codec = Some(v))),
    option(OptionValue.whole(_, _, 1, Int.MaxValue).toInt)(
      "pageRowLimit",
      "rows",
      "20000",
      "Most rows that a Parquet page holds: smaller pages let a look-up skip more.",
      (o, v) => o.copy(pageRowLimit = v)
    ),
    option(OptionValue.oneOf(_, _, Seq("keep", "micros")))(
      "timestampType",
      "keep, micros",
      "keep",
      "How timestamps are written: as the input files have them, or in microseconds. INT96 has no " +
        "statistics, so clustering by such a column needs micros, except on Delta, whose log has bounds.",
      (o, v) => o.copy(timestampType = v)
    ),
    option(OptionValue.oneOf(_, _, Seq("count", "checksum")))(
      "verify",
      "count, checksum",
      "count",
      "How the new files are compared with the old ones before they take their place: rows and NULLs by " +
        "footers, or all values by one more job.",
      (o, v) => o.copy(verify = v)
    ),
    option(OptionValue.share)(
      "minGain",
      "share, 0 to 1",
      "0.1",
      "A run that would lower the mean share read by less than this part of it does nothing.",
      (o, v) => o.copy(minGain = v)
    ),
    option(OptionValue.bool)(
      "force",
      "true, false",
      "false",
      "Run without regard to minGain, and accept the losses that a refusal listed.",
      (o, v) => o.copy(force = v)
    ),
    option(OptionValue.bool)(
      "skipIfRunning",
      "true, false",
      "false",
      "Fail at once, as a conflict, if another run on the table is active. If false, both run, and the second commit " +
        "fails if both rewrote the same files.",
      (o, v) => o.copy(skipIfRunning = v)
    ),
    option(OptionValue.oneOf(_, _, Seq("exclude", "include")))(
      "overlap",
      "exclude, include",
      "exclude",
      "What WHERE does with files that lie partly inside the predicate: leave them, or rewrite them too.",
      (o, v) => o.copy(overlap = v)
    ),
    option(OptionValue.decimal(_, _, 1, 1000))(
      "writeBudget",
      "bytes per byte, 1 to 1000",
      "5",
      "Bytes that a run may write per byte appended since the last one. If a merge would cost more, new rows become " +
        "files of their own and are merged with each other by size. When rewriting the whole partition becomes " +
        "cheaper, the run does that.",
      (o, v) => o.copy(writeBudget = v)
    ),
    option(OptionValue.share)(
      "deletedShare",
      "share, 0 to 1",
      "0.05",
      "A file is rewritten without its deleted rows if deletion vectors or delete files mark more than this part of " +
        "its rows. 1 leaves all such files to FULL.",
      (o, v) => o.copy(deletedShare = v)
    ),
    option(OptionValue.share)(
      "worstFiles",
      "share, 0 to 1",
      "1",
      "Take only the fewest files that cause this part of the unnecessary reads that the audit counts. 0.8 often takes " +
        "a small part of the files; 1 takes all.",
      (o, v) => o.copy(worstFiles = v)
    ),
    option(OptionValue.bytesOrNone)(
      "maxInputBytes",
      "bytes, or with k, m, g",
      "none",
      "After reading so much, a statement begins no further batch and ends as PARTIAL. The same statement continues with the rest; " +
        "the reason says whether without FULL.",
      (o, v) => o.copy(maxInputBytes = v)
    ),
    option(OptionValue.millis)(
      "maxDuration",
      "time with s, m, h, d",
      "2h",
      "After this time a statement begins no further batch and ends as PARTIAL.",
      (o, v) => o.copy(maxDurationMs = v)
    ),
    option(OptionValue.bytesOrAuto)(
      "maxBytesInFlight",
      "bytes, or with k, m, g; auto, none",
      "auto",
      "Bytes of the files of one batch, which has a commit of its own: some whole partitions, or on Delta, Iceberg " +
        "and Hudi a step of one that is larger. auto is a quarter of what is free on the disks of the executors; " +
        "none sets no limit. A batch is 10,000 files at most.",
      (o, v) => o.copy(maxBytesInFlight = v)
    ),
    option((_, text) => Some(text.trim).filterNot(l => l.isEmpty || l.equalsIgnoreCase("none")))(
      "queryLog",
      "table, view or path",
      "none",
      "The queries that the layout is made for: a query log in the documented format.",
      (o, v) => o.copy(queryLog = v)
    ),
    option(OptionValue.names)(
      "bloom",
      "columns",
      "none",
      "Columns whose values get a Bloom filter in each row group, for look-ups of single values that clustering " +
        "does not serve, such as unique identifiers: 'id, s.f'. On plain Parquet, columns of which most input files " +
        "have one keep theirs, also without being named. All filters of a task take 128 MiB at most, or 1 MiB each.",
      (o, v) => o.copy(bloom = v)
    ),
    Location,
    Retention
  )

  /**
   * The option of this name with what a property of the table's format says of it. That is set for the format's own
   * writers: too small a size is no reason to refuse a run, which takes the smallest one that it can.
   */
  def ofFormat(name: String, property: String, text: String): (ZOrderOption, String, String) = {
    val isTooSmall = Sizes(name) && OptionValue.bytes(property, text) < OptionValue.SmallestSize
    (named(name), property, if (isTooSmall) OptionValue.SmallestSize.toString else text)
  }

  private val Sizes = Set("targetFileSize", "rowGroupSize")

  /**
   * The option that a key names behind its prefix, case ignored; an unknown one is refused as it was written, naming
   * the nearest one.
   */
  def named(key: String, prefix: String = ""): ZOrderOption = {
    val name = key.substring(prefix.length)
    all.find(_.name.toLowerCase(Locale.ROOT) == name.toLowerCase(Locale.ROOT)).getOrElse {
      val names = all.map(_.name)
      NearestName.to(name, names) match {
        case Some(nearest) =>
          val suggestion = key.take(prefix.length) + nearest
          refuse("ZORDER_INVALID_OPTION.MISSPELT", "option" -> key, "suggestion" -> suggestion)
        case None =>
          refuse("ZORDER_INVALID_OPTION.UNKNOWN", "option" -> key, "options" -> names.mkString(", "))
      }
    }
  }
}

/**
 * The options of one run, merged: statement over table property over session over the format's own property over
 * default.
 * None means that the default depends on the table (its own codec, row-group size, number of files).
 */
final case class RunOptions(
    targetFileSize: Option[Long] = None,
    fileCount: Option[Int] = None,
    rowGroupSize: Option[Long] = None,
    codec: Option[String] = None,
    pageRowLimit: Int = 20000,
    timestampType: String = "keep",
    verify: String = "count",
    minGain: Double = 0.1,
    force: Boolean = false,
    skipIfRunning: Boolean = false,
    overlap: String = "exclude",
    writeBudget: Double = 5.0,
    deletedShare: Double = 0.05,
    worstFiles: Double = 1.0,
    maxInputBytes: Option[Long] = None,
    maxDurationMs: Long = 2L * 3600 * 1000,
    maxBytesInFlight: Option[Long] = None,
    queryLog: Option[String] = None,
    bloom: Seq[String] = Nil,
    location: String = "keep",
    retentionMs: Long = 7L * 24 * 3600 * 1000)

object RunOptions {

  /** Our table properties that are no options: what to cluster by, and what a commit records. */
  private val ownProperties = Seq("by", "txn", "base", "exchanging", "records")

  /**
   * Merges the options of one run. Names are compared without regard to case; an unknown one is refused.
   *
   * @param statement
   *   from `WITH (...)` or a builder
   * @param tableProperties
   *   all properties of the table; those that begin with `zorder.` count
   * @param session
   *   all keys of the session; those that begin with `spark.zorder.` count
   * @param formats
   *   options that the table's format has under keys of its own: those count that nobody sets as options
   */
  def merge(
      statement: Seq[OptionSetting],
      tableProperties: Map[String, String],
      session: Map[String, String],
      formats: Seq[(ZOrderOption, String, String)] = Nil): RunOptions = {
    val retention = ZOrderOption.Retention
    statement.find(_.option == retention).foreach(_ =>
      refuse(
        "ZORDER_INVALID_OPTION.RETENTION",
        "option" -> retention.name,
        "property" -> retention.tableProperty,
        "setting" -> retention.sessionKey))
    SessionKeys.settings.foreach(s => session.get(s.key).foreach(s.check))
    // an unknown name is refused before a bad value, wherever the two are
    val options = session -- SessionKeys.settings.map(_.key)
    val found = known(options, ZOrderOption.SessionPrefix, _.contains('.')) ++
      known(tableProperties, ZOrderOption.TablePrefix, n => n.contains('.') || ownProperties.contains(n))
    val set = (found.map(_._1) ++ statement.map(_.option)).toSet
    val all = formats.filterNot(f => set(f._1)) ++ found
    of(all.map { case (option, key, text) => option.setting(key, text) } ++ statement)
  }

  /** The options with these settings; of two of one option the later one. */
  private def of(settings: Iterable[OptionSetting]): RunOptions =
    settings.foldLeft(RunOptions())((options, setting) => setting.in(options))

  /** How long `ZORDER VACUUM` keeps old files. Ignores other options, which a vacuum does not use. */
  def retention(tableProperties: Map[String, String], session: Map[String, String]): Long =
    only(ZOrderOption.Retention, Nil, tableProperties, session).retentionMs

  /** Whether the files of a table may move: as in `merge`, but of all options this one alone. */
  def location(
      statement: Seq[OptionSetting],
      tableProperties: Map[String, String],
      session: Map[String, String]): String =
    only(ZOrderOption.Location, statement, tableProperties, session).location

  /** The one option, from the first that says it. */
  private def only(
      option: ZOrderOption,
      statement: Seq[OptionSetting],
      tableProperties: Map[String, String],
      session: Map[String, String]): RunOptions = {
    def under(wanted: String, pairs: Map[String, String]) =
      pairs.find(_._1.equalsIgnoreCase(wanted)).map { case (key, text) => option.setting(key, text) }
    of(statement.find(_.option == option).orElse(under(option.tableProperty, tableProperties))
      .orElse(under(option.sessionKey, session)))
  }

  /** The options under a prefix, each with its key and text, without our keys that are no options. */
  private def known(
      pairs: Map[String, String],
      prefix: String,
      passedOver: String => Boolean): Seq[(ZOrderOption, String, String)] =
    pairs.toSeq.sorted.filter(_._1.toLowerCase(Locale.ROOT).startsWith(prefix)).flatMap { case (key, value) =>
      val name = key.substring(prefix.length)
      if (passedOver(name.toLowerCase(Locale.ROOT))) None
      else Some((ZOrderOption.named(key, prefix), key, value))
    }
}

/** Parses option values. Refuses a bad one with a sentence that shows the accepted form. */
object OptionValue {
  private val Size = """(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?""".r
  private val Time = """(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)\s*""".r
  private val Times = s"(?:$Time)+".r

  private val sizeUnits =
    Map("" -> 1L, "k" -> (1L << 10), "m" -> (1L << 20), "g" -> (1L << 30), "t" -> (1L << 40))
  private val timeUnits =
    Map("ms" -> 1L, "s" -> 1000L, "m" -> 60000L, "min" -> 60000L, "h" -> 3600000L, "d" -> 86400000L)

  /** A size of at least one byte: a number of bytes, or `512k`, `256m`, `1.5g`, `1t` (powers of 1024). */
  def bytes(name: String, value: String): Long = {
    val read = tidy(value) match {
      case Size(number, unit) => scaled(number, sizeUnits(unit))
      case _ => None
    }
    read.filter(_ >= 1).getOrElse(bad(
      name,
      value,
      "a size of at least one byte, such as 256m, 1g or 1048576"))
  }

  /**
   * A size of at least 64k. A smaller one would make millions of files or row groups; most likely its unit was
   * forgotten.
   */
  def size(name: String, value: String): Long = {
    val read = bytes(name, value)
    if (read >= SmallestSize) read
    else {
      val number = if (read % 1024 == 0) read >> 10 else read
      val meant = if (number <= LargestInMebibytes) s"${number}m" else s"${number}k"
      refuse("ZORDER_INVALID_OPTION.TOO_SMALL", "option" -> name, "value" -> value, "suggestion" -> meant)
    }
  }

  /** The smallest size of a file and of a row group. */
  val SmallestSize: Long = 64L << 10

  /** A number without a unit up to this one most likely means mebibytes. */
  private val LargestInMebibytes = 4096L

  /** A size of at least one byte, where `none` sets no limit. */
  def bytesOrNone(name: String, value: String): Option[Long] =
    if (tidy(value) == "none") None else Some(bytes(name, value))

  /** As `bytesOrNone`, where `auto` leaves the size to the run and `none` sets no limit. */
  def bytesOrAuto(name: String, value: String): Option[Long] =
    if (tidy(value) == "auto") None else bytesOrNone(name, value).orElse(Some(Long.MaxValue))

  /** A time in milliseconds, zero or more: `90s`, `30m`, `1h30m`, `7d`. A number without a unit is refused. */
  def millis(name: String, value: String): Long = {
    val read = tidy(value) match {
      case text @ Times(_*) =>
        val parts = Time.findAllMatchIn(text).map(m => BigDecimal(m.group(1)) * timeUnits(m.group(2)))
        Some(parts.sum).filter(_ <= Long.MaxValue).map(_.toLong)
      case _ => None
    }
    read.getOrElse(bad(name, value, "a time with its unit, such as 7d, 36h, 90m or 30s"))
  }

  /** A whole number from `low` to `high`. */
  def whole(name: String, value: String, low: Long, high: Long): Long =
    Try(tidy(value).toLong).toOption.filter(n => n >= low && n <= high)
      .getOrElse(bad(name, value, s"a whole number from $low to $high"))

  /** A number from 0 to 1. */
  def share(name: String, value: String): Double =
    Try(BigDecimal(tidy(value)).toDouble).toOption.filter(d => d >= 0 && d <= 1)
      .getOrElse(bad(name, value, "a number from 0 to 1, such as 0.1"))

  /** A number from `low` to `high`. */
  def decimal(name: String, value: String, low: Double, high: Double): Double =
    Try(BigDecimal(tidy(value)).toDouble).toOption.filter(d => d >= low && d <= high)
      .getOrElse(bad(name, value, s"a number from ${low.toLong} to ${high.toLong}"))

  /** One of a few words, case ignored. */
  def oneOf(name: String, value: String, words: Seq[String]): String =
    words.find(_ == tidy(value)).getOrElse(bad(name, value, "one of " + words.mkString(", ")))

  def bool(name: String, value: String): Boolean = oneOf(name, value, Seq("true", "false")) == "true"

  /** Names with commas between them, backquotes kept; `none` is no name. */
  def names(name: String, value: String): Seq[String] =
    if (value.trim.isEmpty || tidy(value) == "none") Nil
    else {
      val list = items(value)
      if (list.exists(_.isEmpty)) bad(name, value, "names with commas between them, such as 'id, s.f'")
      list
    }

  /** What stands between the commas of a list, but for commas in brackets and quotes. */
  def items(list: String): Seq[String] = {
    val out = Seq.newBuilder[String]
    val item = new StringBuilder
    var depth = 0
    var quote = '\u0000'
    list.foreach { c =>
      if (quote != '\u0000') { if (c == quote) quote = '\u0000' }
      else if (c == '\'' || c == '"' || c == '`') quote = c
      else if (c == '(' || c == '[') depth += 1
      else if (c == ')' || c == ']') depth -= 1
      if (c == ',' && depth == 0 && quote == '\u0000') {
        out += item.toString.trim
        item.clear()
      } else item += c
    }
    (out += item.toString.trim).result()
  }

  private def tidy(value: String): String = value.trim.toLowerCase(Locale.ROOT)

  private def scaled(number: String, unit: Long): Option[Long] =
    Some(BigDecimal(number) * unit).filter(_ <= Long.MaxValue).map(_.toLong)

  private[conf] def bad(name: String, value: String, accepted: String): Nothing =
    refuse("ZORDER_INVALID_OPTION.VALUE", "option" -> name, "accepted" -> accepted, "value" -> value)
}
