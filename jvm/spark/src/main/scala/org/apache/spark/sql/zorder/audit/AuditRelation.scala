package org.apache.spark.sql.zorder.audit

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Row, SQLContext}
import org.apache.spark.sql.sources.{BaseRelation, TableScan}
import org.apache.spark.sql.types.StructType

/** The rows of an audit, found once and not before somebody reads them. */
final private[zorder] class AuditRelation(
    override val sqlContext: SQLContext,
    name: String,
    override val schema: StructType,
    find: () => Seq[Row])
    extends BaseRelation
    with TableScan {
  private lazy val rows: Seq[Row] = find()

  override def buildScan(): RDD[Row] = sqlContext.sparkContext.parallelize(rows, 1)

  override def toString: String = name
}
