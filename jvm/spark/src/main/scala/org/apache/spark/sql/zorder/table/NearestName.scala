package org.apache.spark.sql.zorder.table

/** The known name that a misspelt one most likely means. */
private[table] object NearestName {

  /** ` Did you mean x?`, or nothing when no name is within a third of the letters. */
  def hint(wrong: String, known: Seq[String]): String = {
    val near = known.map(k => (distance(wrong.toLowerCase, k.toLowerCase), k))
      .filter(_._1 <= math.max(2, wrong.length / 3))
    if (near.isEmpty) "" else s" Did you mean ${near.min._2}?"
  }

  /** Edits (insert, drop, replace) between two words. */
  def distance(a: String, b: String): Int =
    a.foldLeft((0 to b.length).toVector) { (row, c) =>
      row.indices.tail.foldLeft(Vector(row.head + 1)) { (next, j) =>
        next :+ math.min(math.min(next.last, row(j)) + 1, row(j - 1) + (if (b(j - 1) == c) 0 else 1))
      }
    }.last
}
