package org.apache.spark.sql.zorder.advise

import sparkzorder.curve.cost.{Box, Condition, Query}

/** Columns that queries only look single values up in, and that hardly two rows agree in. */
private[advise] object PointLookUps {

  /** Sampled values of an identifier: nearly all of them differ. */
  private val Distinct = 0.9

  /** With more rows of a value, most row groups would hold one of them, whatever a filter says. */
  private val RowsPerValue = 8.0

  /**
   * @param counts
   *   by column, of the sample
   * @param sampledShare
   *   share of the table's rows that are in the sample
   * @return
   *   their numbers
   */
  def of(queries: Seq[Query], counts: IndexedSeq[ValueCounts], sampledShare: Double): IndexedSeq[Int] =
    counts.indices.filter { c =>
      val asked = queries.flatMap(_.boxes).flatMap(_.conditions.get(c))
      asked.nonEmpty && asked.forall(isPoints) &&
      counts(c).distinct > Distinct * counts(c).values && counts(c).rowsPerValue(sampledShare) <= RowsPerValue
    }

  /** Whether a filter of these columns answers the query: each of its boxes names a value of one. */
  def serve(columns: Seq[Int])(query: Query): Boolean =
    query.boxes.nonEmpty && query.boxes.forall((b: Box) => columns.exists(b.conditions.contains))

  private def isPoints(c: Condition): Boolean =
    !c.orNull && c.intervals.nonEmpty && c.intervals.forall(i => i.min.isDefined && i.min == i.max)
}
