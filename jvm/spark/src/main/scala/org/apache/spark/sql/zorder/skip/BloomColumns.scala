package org.apache.spark.sql.zorder.skip

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skip.index.IndexedColumn
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.sql.zorder.stats.bloom.BloomKey

/** Which columns of a table get Bloom filters. */
private[skip] object BloomColumns {

  /**
   * The columns that are named; refuses one that can have no filters.
   *
   * @param schema
   *   of the table, partition columns left out
   * @param partitioning
   *   names of the partition columns
   */
  def of(
      table: String,
      schema: StructType,
      partitioning: Seq[String],
      named: Seq[Seq[String]],
      same: (String, String) => Boolean): IndexedSeq[(IndexedColumn, StatColumn)] = {
    val all = IndexedColumns.leaves(schema, Nil)
    named.map { path =>
      val name = ColumnPath.sql(path)
      if (partitioning.exists(same(_, path.head)))
        refuse(s"$name is a partition column of $table, by which Spark skips partitions already; " +
          "it can have no Bloom filters.")
      val found = all.find { case (p, _) =>
        p.length == path.length && p.zip(path).forall(x => same(x._1, x._2))
      }
      found match {
        case None =>
          refuse(s"$table has no column $name to make Bloom filters of." +
            NearestName.hint(name, all.map(c => ColumnPath.sql(c._1))))
        case Some((p, dataType)) =>
          val column = IndexedColumns.column(schema, p, dataType)
          BloomKey.refusal(column._2.dataType).foreach { why =>
            refuse(s"${ColumnPath.sql(p)} (${column._2.dataType.sql}) can have no Bloom filters: $why.")
          }
          column
      }
    }.distinct.toIndexedSeq
  }
}
