package org.apache.spark.sql.zorder.expr.normalized

import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue}

/**
 * How the values of one Spark type are normalized (docs/spec.md, section 1); [[Normalization]] lists them.
 * `eval` and `code` are two spellings of the same function; neither is asked about NULL.
 */
sealed trait NormalizedType extends Serializable {

  /** Width in the raw key, in bits; the NULL bit is not counted. */
  def bits: Int

  /** A value in Spark's internal representation, normalized. */
  def normalize(value: Any): NormalizedValue
}

/** A type whose normalized values are signed 64-bit numbers. */
final case class NormalizedLongType(bits: Int, toLong: Any => Long, code: String => String)
    extends NormalizedType {
  override def normalize(value: Any): NormalizedValue = NormalizedLong(toLong(value))
}

/** A type whose normalized values are byte strings. `code` yields a Java expression of type `byte[]`. */
final case class NormalizedBytesType(bits: Int, toBytes: Any => Array[Byte], code: String => String)
    extends NormalizedType {
  override def normalize(value: Any): NormalizedValue = NormalizedBytes(toBytes(value))
}
