package org.apache.spark.sql.zorder.fit

/** Spearman's rank correlation, ties at their middle rank. */
object RankCorrelation {
  private val Rows = 10000

  /** From -1 to 1 over the rows in which both columns have a value; 0 where one of them has only one value. */
  def of(sample: Sample, a: Int, b: Int): Double = {
    val few = sample.select(Seq(a, b)).thinned(Rows)
    val rows = (0 until few.rows).filter(i => few.columns.forall(!_.isNull(i))).toArray
    val ranks = few.columns.map(c => c.ranks(c.scale)).map(all => rows.map(all(_).toDouble))
    pearson(ranks(0), ranks(1))
  }

  private def pearson(x: Array[Double], y: Array[Double]): Double = {
    val n = x.length
    val (mx, my) = (x.sum / n, y.sum / n)
    var (xy, xx, yy) = (0.0, 0.0, 0.0)
    var i = 0
    while (i < n) {
      xy += (x(i) - mx) * (y(i) - my)
      xx += (x(i) - mx) * (x(i) - mx)
      yy += (y(i) - my) * (y(i) - my)
      i += 1
    }
    if (xx == 0.0 || yy == 0.0) 0.0 else xy / math.sqrt(xx * yy)
  }
}
