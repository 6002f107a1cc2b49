package org.apache.spark.sql.zorder.advise

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Row, SQLContext}
import org.apache.spark.sql.sources.{BaseRelation, TableScan}
import org.apache.spark.sql.types.StructType

/** The rows of an advice, found once and not before somebody reads them. */
final class AdviceRelation(override val sqlContext: SQLContext, advisor: Advisor)
    extends BaseRelation
    with TableScan {
  private lazy val rows: Seq[Row] = advisor.rows()

  override def schema: StructType = Advice.schema

  override def buildScan(): RDD[Row] = sqlContext.sparkContext.parallelize(rows, 1)

  override def toString: String = "clustering_advice"
}
