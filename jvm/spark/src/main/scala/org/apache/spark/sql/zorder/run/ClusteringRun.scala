package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.zorder.ZOrderException

/** Stands in until the clustering run itself is merged. */
object ClusteringRun {
  val resultSchema: StructType = new StructType().add("path", StringType).add("status", StringType)

  def run(session: SparkSession, request: ClusterRequest): Row =
    ZOrderException.refuse(s"OPTIMIZE of ${request.target} by ${session.version} is not there yet.")
}
