package org.apache.spark.sql.zorder.clustering.sort

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.RowWords

/** The Z-order of rows, bit by bit, from the rule of docs/spec.md, section 1, and the columns' words. */
object SlowKey {

  /** @param values in Spark's internal representation */
  def bits(types: Seq[DataType], values: Seq[Any]): String = {
    val columns = types.zip(values).map { case (t, v) =>
      val row = RowWords(Seq(t))
      val words = row.scratch()
      row.put(words, 0, v)
      words.map(w => String.format("%64s", java.lang.Long.toBinaryString(w)).replace(' ', '0')).mkString
        .take(row.shape.levels)
    }
    val out = new StringBuilder
    for (level <- 0 until columns.map(_.length).max; c <- columns if level < c.length) out += c(level)
    out.toString
  }
}
