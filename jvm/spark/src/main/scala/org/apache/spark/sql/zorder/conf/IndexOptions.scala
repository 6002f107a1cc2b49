package org.apache.spark.sql.zorder.conf

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

/** How many bytes the Bloom filters of an index may have. */
sealed trait BloomBudget {

  /** The text that a user writes. */
  def text: String

  def bytes(ofData: Long): Long
}

object BloomBudget {

  /** A share of the bytes of the data. */
  final case class Share(share: Double) extends BloomBudget {
    override def text: String =
      s"${BigDecimal(share * 100).round(new java.math.MathContext(4)).bigDecimal.stripTrailingZeros.toPlainString}%"
    override def bytes(ofData: Long): Long = (ofData * share).toLong
  }

  final case class Bytes(bytes: Long) extends BloomBudget {
    override def text: String = bytes.toString
    override def bytes(ofData: Long): Long = bytes
  }

  val Default: BloomBudget = Share(0.1)

  def of(name: String, value: String): BloomBudget = {
    val text = value.trim
    if (!text.endsWith("%")) Bytes(OptionValue.bytes(name, text))
    else
      Try(BigDecimal(text.stripSuffix("%").trim).toDouble / 100).toOption.filter(s => s > 0 && s <= 10)
        .map(Share(_))
        .getOrElse(OptionValue.bad(
          name,
          value,
          "a share of the data such as 10%, of at most 1000%, or a size such as 2g"))
  }
}

/**
 * What `ZORDER INDEX ... WITH (...)` asks for.
 *
 * @param bloom
 *   columns that get Bloom filters, in SQL
 * @param values
 *   columns whose values are listed where a file has few, in SQL
 */
final case class IndexOptions(bloom: Seq[String], budget: BloomBudget, values: Seq[String])

object IndexOptions {
  private val Bloom = "bloom"
  private val Budget = "bloomBudget"
  private val Values = "values"

  /** The option's name as it is written, whatever the case; refuses one that an index does not have. */
  def named(name: String): String = {
    val names = Seq(Bloom, Budget, Values)
    names.find(_.toLowerCase(Locale.ROOT) == name.toLowerCase(Locale.ROOT)).getOrElse(refuse(
      "ZORDER_INVALID_OPTION.UNKNOWN_FOR_INDEX",
      "option" -> name,
      "hint" -> NearestName.hint(name, names),
      "options" -> names.mkString(", ")))
  }

  def of(values: Map[String, String]): IndexOptions = IndexOptions(
    values.get(Bloom).fold(Seq.empty[String])(OptionValue.names(Bloom, _)),
    values.get(Budget).fold(BloomBudget.Default)(BloomBudget.of(Budget, _)),
    values.get(Values).fold(Seq.empty[String])(OptionValue.names(Values, _)))
}
