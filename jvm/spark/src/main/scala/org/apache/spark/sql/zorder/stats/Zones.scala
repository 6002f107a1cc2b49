package org.apache.spark.sql.zorder.stats

import sparkzorder.curve.{Word, Zone}

/** Arithmetic of zones. */
object Zones {

  /** The zone of several blocks together; without blocks it holds no value. */
  def union(zones: Seq[Zone]): Zone = zones.foldLeft[Zone](Zone.OnlyNulls)(union)

  /** The least zone that covers both. */
  def union(a: Zone, b: Zone): Zone = (a, b) match {
    case (Zone.Unknown, _) | (_, Zone.Unknown) => Zone.Unknown
    case (Zone.OnlyNulls, other) => other
    case (other, Zone.OnlyNulls) => other
    case (Zone.Between(min1, max1), Zone.Between(min2, max2)) =>
      Zone.Between(if (min1 <= min2) min1 else min2, if (max1 >= max2) max1 else max2)
  }

  /** The zone of the bounds in a file; unknown if a bound is missing or they are out of order. */
  def between(min: Option[Word], max: Option[Word]): Zone = (min, max) match {
    case (Some(low), Some(high)) if low <= high => Zone.Between(low, high)
    case _ => Zone.Unknown
  }
}
