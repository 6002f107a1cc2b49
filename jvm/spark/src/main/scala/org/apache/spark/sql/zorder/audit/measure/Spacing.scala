package org.apache.spark.sql.zorder.audit.measure

import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/** How far apart words of a column are: what their numbers mean. */
sealed private[zorder] trait Spacing {

  /** The value that a word stands for, where its own number does not grow as the value does. */
  def value(word: Long): Option[Double]
}

private[zorder] object Spacing {

  /** Numbers as they are, and byte strings. */
  case object Whole extends Spacing {
    override def value(word: Long): Option[Double] = None
  }

  case object OfFloat extends Spacing {
    override def value(word: Long): Option[Double] = {
      val bits = word.toInt
      Some(java.lang.Float.intBitsToFloat(bits ^ ((bits >> 31) & Int.MaxValue)).toDouble)
    }
  }

  case object OfDouble extends Spacing {
    override def value(word: Long): Option[Double] =
      Some(java.lang.Double.longBitsToDouble(word ^ ((word >> 63) & Long.MaxValue)))
  }

  def of(dataType: DataType): Spacing = dataType match {
    case FloatType => OfFloat
    case DoubleType => OfDouble
    case _ => Whole
  }
}
