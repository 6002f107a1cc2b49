package org.apache.spark.sql.zorder.conf

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf

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
