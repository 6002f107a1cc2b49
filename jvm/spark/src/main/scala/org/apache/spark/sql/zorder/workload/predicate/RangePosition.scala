package org.apache.spark.sql.zorder.workload.predicate

import java.math.BigInteger

import org.apache.spark.sql.types.{DataType, DecimalType, DoubleType, FloatType}
import sparkzorder.curve.{BelowBytes, BytesWord, LongWord, Word}

/** The position of a value between the lowest and the highest one of its column, from 0 to 1. */
final private[workload] class RangePosition(low: Word, high: Word, dataType: DataType) {
  private val shared = (low, high) match {
    case (BytesWord(a), BytesWord(b)) => a.zip(b).takeWhile { case (x, y) => x == y }.length
    case _ => 0
  }
  private val from = number(low)
  private val size = number(high) - from

  /** Values outside are at the nearer end; in a column of one value everything above it is at 1. */
  def of(word: Word): Double =
    if (word <= low) 0.0
    else if (word >= high || !(size > 0.0)) 1.0
    else math.max(0.0, math.min(1.0, (number(word) - from) / size))

  private def number(word: Word): Double = word match {
    case LongWord(v) => dataType match {
        case FloatType | DoubleType =>
          ValueText.value(word, dataType).map(_.toString.toDouble).filterNot(_.isNaN)
            .map(d => math.max(-Double.MaxValue / 4, math.min(Double.MaxValue / 4, d)))
            .getOrElse(Double.MaxValue / 4)
        case _ => v.toDouble
      }
    case BytesWord(b) if dataType.isInstanceOf[DecimalType] => ValueText.bigInteger(b).doubleValue
    case BelowBytes(b) => number(BytesWord(b))
    case BytesWord(b) =>
      new BigInteger(1, java.util.Arrays.copyOfRange(b, math.min(shared, b.length), shared + 8)).doubleValue
  }
}
