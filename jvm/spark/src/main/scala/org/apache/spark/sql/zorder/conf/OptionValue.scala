package org.apache.spark.sql.zorder.conf

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.zorder.errors.ZOrderException

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
      ZOrderException.refuse(
        s"The option $name takes a size of at least 64k, not '$value': did you mean $meant?")
    }
  }

  /** The smallest size of a file and of a row group. */
  val SmallestSize: Long = 64L << 10

  /** A number without a unit up to this one most likely means mebibytes. */
  private val LargestInMebibytes = 4096L

  /** A size of at least one byte, where `none` sets no limit. */
  def bytesOrNone(name: String, value: String): Option[Long] =
    if (tidy(value) == "none") None else Some(bytes(name, value))

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

  private def bad(name: String, value: String, accepted: String): Nothing =
    ZOrderException.refuse(s"The option $name takes $accepted, not '$value'.")
}
