package org.apache.spark.sql.zorder.conf

import java.util.Locale

import org.apache.spark.sql.zorder.errors.ZOrderException

/**
 * One option of a run. This entry defines the key in `WITH (...)`, the session key `spark.zorder.<name>`, the table
 * property `zorder.<name>` and the line in the documentation.
 *
 * @param unit
 *   what the value is, in the words of the documentation
 * @param default
 *   as a user would write it, or a phrase where the default depends on the table
 * @param set
 *   puts the value into the options; refuses a bad one with one sentence
 */
final case class ZOrderOption(
    name: String,
    unit: String,
    default: String,
    doc: String,
    set: (RunOptions, String) => RunOptions) {

  def sessionKey: String = ZOrderOption.SessionPrefix + name

  def tableProperty: String = ZOrderOption.TablePrefix + name

  /** Refuses a value that this option does not take. */
  def check(value: String): Unit = { val _ = set(RunOptions(), value) }
}

object ZOrderOption {
  val SessionPrefix = "spark.zorder."
  val TablePrefix = "zorder."

  private val codecs = Seq("none", "uncompressed", "snappy", "gzip", "zstd", "lz4", "lz4_raw")

  /** The one option that no run has: only `ZORDER VACUUM` uses it. */
  val Retention: ZOrderOption = ZOrderOption(
    "retention",
    "time with s, m, h, d",
    "7d",
    "How long ZORDER VACUUM keeps the files that a run replaced. Not in WITH: a statement has " +
      "ZORDER VACUUM ... RETAIN n HOURS.",
    (o, v) => o.copy(retentionMs = OptionValue.millis("retention", v))
  )

  val Location: ZOrderOption = ZOrderOption(
    "location",
    "keep, move",
    "keep",
    "Where the new files of a plain Parquet table of the catalog go. keep: directories are exchanged in place, on a " +
      "local disk and HDFS. move: into new directories, which the catalog then names; on an object store the only " +
      "way, so it has to be said once. The table keeps it as a property.",
    (o, v) => o.copy(location = OptionValue.oneOf("location", v, Seq("keep", "move")))
  )

  /** Every option there is, in the order of the documentation. */
  val all: Seq[ZOrderOption] = Seq(
    ZOrderOption(
      "targetFileSize",
      "bytes, or with k, m, g",
      "256m",
      "Size that the files should have. Where 256m gives fewer than 16 files, the default is a " +
        "sixteenth of the table but at least 8m, and a table in which look-ups would read more than now becomes " +
        "no fewer files than it needs. At least 64k.",
      (o, v) => o.copy(targetFileSize = Some(OptionValue.size("targetFileSize", v)))
    ),
    ZOrderOption(
      "fileCount",
      "number",
      "from targetFileSize",
      "Number of files of the table, or of each partition, but no more than it has rows; wins over targetFileSize.",
      (o, v) => o.copy(fileCount = Some(OptionValue.whole("fileCount", v, 1, 1000000).toInt))
    ),
    ZOrderOption(
      "rowGroupSize",
      "bytes, or with k, m, g",
      "what the input files have",
      "Size of a Parquet row group before compression; on Spark 4.1 and later plain Parquet and Delta count the rows " +
        "that it should hold, and it may take twice the bytes. At least 64k.",
      (o, v) => o.copy(rowGroupSize = Some(OptionValue.size("rowGroupSize", v)))
    ),
    ZOrderOption(
      "codec",
      codecs.mkString(", "),
      "what the input files have",
      "Compression of the new files.",
      (o, v) => o.copy(codec = Some(OptionValue.oneOf("codec", v, codecs)))),
    ZOrderOption(
      "pageRowLimit",
      "rows",
      "20000",
      "Most rows that a Parquet page holds: smaller pages let a look-up skip more.",
      (o, v) => o.copy(pageRowLimit = OptionValue.whole("pageRowLimit", v, 1, Int.MaxValue).toInt)
    ),
    ZOrderOption(
      "timestampType",
      "keep, micros",
      "keep",
      "How timestamps are written: as the input files have them, or in microseconds. INT96 has no " +
        "statistics, so clustering by such a column needs micros, but for Delta, whose log has bounds.",
      (o, v) => o.copy(timestampType = OptionValue.oneOf("timestampType", v, Seq("keep", "micros")))
    ),
    ZOrderOption(
      "verify",
      "count, checksum",
      "count",
      "How the new files are compared with the old ones before they take their place: rows and NULLs by " +
        "footers, or all values by one more job.",
      (o, v) => o.copy(verify = OptionValue.oneOf("verify", v, Seq("count", "checksum")))
    ),
    ZOrderOption(
      "minGain",
      "share, 0 to 1",
      "0.1",
      "A run that would lower the mean share read by less than this part of it does nothing.",
      (o, v) => o.copy(minGain = OptionValue.share("minGain", v))
    ),
    ZOrderOption(
      "force",
      "true, false",
      "false",
      "Run without regard to minGain, and accept the losses that a refusal listed.",
      (o, v) => o.copy(force = OptionValue.bool("force", v))
    ),
    ZOrderOption(
      "giveWay",
      "true, false",
      "false",
      "End as a conflict before any work where another run is at work on the table. Without it both work, and " +
        "of two commits that meet the second is refused.",
      (o, v) => o.copy(giveWay = OptionValue.bool("giveWay", v))
    ),
    ZOrderOption(
      "overlap",
      "exclude, include",
      "exclude",
      "What WHERE does with files that lie partly inside the predicate: leave them, or rewrite them too.",
      (o, v) => o.copy(overlap = OptionValue.oneOf("overlap", v, Seq("exclude", "include")))
    ),
    ZOrderOption(
      "writeBudget",
      "bytes per byte",
      "5",
      "Bytes that a run may write per byte appended since the last one. New rows whose merge would cost more " +
        "become files of their own in layout order, merged with each other by size, until so many lie about that " +
        "writing all anew costs less.",
      (o, v) => o.copy(writeBudget = OptionValue.decimal("writeBudget", v, 1, 1000))
    ),
    ZOrderOption(
      "deletedShare",
      "share, 0 to 1",
      "0.05",
      "Part of a file's rows past which deletion vectors or delete files make it a new file, to be written again " +
        "without those rows; 1 leaves all such files to FULL.",
      (o, v) => o.copy(deletedShare = OptionValue.share("deletedShare", v))
    ),
    ZOrderOption(
      "worstFiles",
      "share, 0 to 1",
      "1",
      "Take only the fewest files that cause this part of what look-ups read in vain, as the audit counts it: 0.8 " +
        "often takes a small part of the files. 1 takes all.",
      (o, v) => o.copy(worstFiles = OptionValue.share("worstFiles", v))
    ),
    ZOrderOption(
      "maxInputBytes",
      "bytes, or with k, m, g",
      "none",
      "When a statement has read so much, it begins no further batch: PARTIAL, and the same statement continues from there.",
      (o, v) => o.copy(maxInputBytes = OptionValue.bytesOrNone("maxInputBytes", v))
    ),
    ZOrderOption(
      "maxDuration",
      "time with s, m, h, d",
      "2h",
      "After this time a statement begins no further batch, either.",
      (o, v) => o.copy(maxDurationMs = OptionValue.millis("maxDuration", v))
    ),
    ZOrderOption(
      "maxBytesInFlight",
      "bytes, or with k, m, g",
      "none",
      "Bytes of the files of one batch, which has a commit of its own: some whole partitions, or on Delta, Iceberg " +
        "and Hudi a step of one that is larger. Without it a batch is 10,000 files.",
      (o, v) => o.copy(maxBytesInFlight = OptionValue.bytesOrNone("maxBytesInFlight", v))
    ),
    ZOrderOption(
      "queryLog",
      "table, view or path",
      "none",
      "The queries that the layout is made for: a query log in the documented format.",
      (o, v) => o.copy(queryLog = Some(v.trim).filterNot(l => l.isEmpty || l.equalsIgnoreCase("none")))
    ),
    ZOrderOption(
      "bloom",
      "columns",
      "none",
      "Columns whose values get a Bloom filter in each row group, for look-ups of single values that clustering " +
        "does not serve, such as unique identifiers: 'id, s.f'.",
      (o, v) => o.copy(bloom = OptionValue.names("bloom", v))
    ),
    Location,
    Retention
  )

  /** The size itself, or the smallest one that the option takes if that is more. */
  def atLeast(name: String, value: String): String =
    if (!Sizes(name) || OptionValue.bytes(name, value) >= OptionValue.SmallestSize) value
    else OptionValue.SmallestSize.toString

  private val Sizes = Set("targetFileSize", "rowGroupSize")

  /**
   * The option that a key names behind its prefix, case ignored; an unknown one is refused as it was written, naming
   * the nearest one.
   */
  def named(key: String, prefix: String = ""): ZOrderOption = {
    val name = key.substring(prefix.length)
    all.find(_.name.toLowerCase(Locale.ROOT) == name.toLowerCase(Locale.ROOT)).getOrElse {
      val names = all.map(_.name)
      val end = NearestName.to(name, names).fold(s"; the options are ${names.mkString(", ")}.") { n =>
        s"; did you mean ${key.take(prefix.length)}$n?"
      }
      ZOrderException.refuse(s"There is no option $key$end")
    }
  }
}
