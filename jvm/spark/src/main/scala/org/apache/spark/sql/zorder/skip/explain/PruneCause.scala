package org.apache.spark.sql.zorder.skip.explain

/** What left a file out of a scan. */
sealed abstract class PruneCause(val name: String)

object PruneCause {

  /** The file's least and greatest value. */
  case object Range extends PruneCause("range")

  /** Gaps between the ranges of the file's parts. */
  case object RangeSet extends PruneCause("range set")

  /** Bloom filters, asked for single values after the ranges. */
  case object Bloom extends PruneCause("Bloom")

  /** Rows that come first in the order of the query are in other files. */
  case object Top extends PruneCause("top-k")
}
