package org.apache.spark.sql.zorder.conf

import java.util.Locale

/** Finds the name that the user probably meant. */
object NearestName {

  /**
   * The candidate with the smallest edit distance, case ignored; None if that is more than two edits and more than a third
   * of the longer name, or as many as the name has letters.
   */
  def to(name: String, candidates: Iterable[String]): Option[String] = {
    val wanted = name.toLowerCase(Locale.ROOT)
    val scored = candidates.toSeq.distinct.map(c => (distance(wanted, c.toLowerCase(Locale.ROOT)), c))
    scored.sorted.headOption.collect {
      case (d, c) if d < name.length && d <= math.max(2, math.max(name.length, c.length) / 3) => c
    }
  }

  /** `" Did you mean x?"`, or nothing: the end of an error. */
  def hint(name: String, candidates: Iterable[String]): String =
    to(name, candidates).map(c => s" Did you mean $c?").getOrElse("")

  /** `" (did you mean x?)"`, or nothing: a part of an error. */
  def guess(meant: Option[String]): String = meant.fold("")(c => s" (did you mean $c?)")

  /** The first of the names, for an error that says which there are. */
  def listed(names: Seq[String]): String =
    names.take(MostListed).mkString(", ") + (if (names.length > MostListed) ", ..." else "")

  private val MostListed = 20

  /** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
  def distance(a: String, b: String): Int = {
    val d = Array.ofDim[Int](a.length + 1, b.length + 1)
    for (i <- 0 to a.length) d(i)(0) = i
    for (j <- 0 to b.length) d(0)(j) = j
    for (i <- 1 to a.length; j <- 1 to b.length) {
      val replaced = d(i - 1)(j - 1) + (if (a(i - 1) == b(j - 1)) 0 else 1)
      d(i)(j) = math.min(replaced, math.min(d(i - 1)(j), d(i)(j - 1)) + 1)
      if (i > 1 && j > 1 && a(i - 1) == b(j - 2) && a(i - 2) == b(j - 1))
        d(i)(j) = math.min(d(i)(j), d(i - 2)(j - 2) + 1)
    }
    d(a.length)(b.length)
  }
}
