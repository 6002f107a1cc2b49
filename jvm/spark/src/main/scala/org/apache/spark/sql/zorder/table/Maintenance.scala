package org.apache.spark.sql.zorder.table

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.sql.zorder.ZOrderException

/** Stands in until the maintenance commands themselves are merged. */
object Maintenance {
  val vacuumSchema: StructType = new StructType().add("path", StringType)
    .add("files_deleted", LongType).add("bytes_deleted", LongType)
    .add("files_carried_over", LongType).add("status", StringType)
  val rollbackSchema: StructType =
    new StructType().add("path", StringType).add("status", StringType).add("run_id", StringType)
  val removeSchema: StructType = new StructType().add("path", StringType).add("status", StringType)
  val historySchema: StructType = new StructType().add("run", LongType).add("run_id", StringType)

  def vacuum(session: SparkSession, ref: TableRef, retainHours: Option[Double], dryRun: Boolean): Seq[Row] =
    notYet(s"VACUUM of $ref, $retainHours, $dryRun, by ${session.version}")

  def rollback(session: SparkSession, ref: TableRef): Row = notYet(s"ROLLBACK of $ref by ${session.version}")

  def remove(session: SparkSession, ref: TableRef): Row = notYet(s"REMOVE of $ref by ${session.version}")

  def history(session: SparkSession, ref: TableRef): Seq[Row] = {
    val _ = (session, ref)
    Nil
  }

  private def notYet(what: String): Nothing = ZOrderException.refuse(s"$what is not there yet.")
}
