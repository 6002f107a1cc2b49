package org.apache.spark.sql.zorder.expr.word

import sparkzorder.curve.{BytesWord, LongWord, Word}

/**
 * How the values of one Spark type become ordered words (docs/spec.md, section 1); [[WordTypes]] lists them.
 * `eval` and `code` are two spellings of the same function; neither is asked about NULL.
 */
sealed trait WordType extends Serializable {

  /** Width in the raw key, in bits; the NULL bit is not counted. */
  def bits: Int

  /** A value in Spark's internal representation, as a word. */
  def word(value: Any): Word
}

/** A type whose words are signed 64-bit numbers. */
final case class LongWordType(bits: Int, toLong: Any => Long, code: String => String) extends WordType {
  override def word(value: Any): Word = LongWord(toLong(value))
}

/** A type whose words are byte strings. `code` yields a Java expression of type `byte[]`. */
final case class BytesWordType(bits: Int, toBytes: Any => Array[Byte], code: String => String)
    extends WordType {
  override def word(value: Any): Word = BytesWord(toBytes(value))
}
