package org.apache.spark.sql.zorder.advise

/** Columns that a table might be partitioned by: few values, each with files enough, asked by most queries. */
private[advise] object PartitionColumns {
  private val MostValues = 100

  /** Share of the log's weight. */
  val MostQueries = 0.5

  /**
   * @param counts
   *   by column, of the sample
   * @param asked
   *   by column, the share of the log's weight that asks of it
   * @param oneFile
   *   the share of the rows that a file holds
   * @return
   *   their numbers
   */
  def of(
      counts: IndexedSeq[ValueCounts],
      asked: IndexedSeq[Double],
      sampledRows: Int,
      oneFile: Double): IndexedSeq[Int] =
    counts.indices.filter { c =>
      val n = counts(c).distinct
      asked(c) >= MostQueries && n > 1 && n <= MostValues && counts(c).counts.min >= oneFile * sampledRows
    }
}
