package org.apache.spark.sql.zorder

import org.scalatest.Assertions

import org.apache.spark.sql.{Row, SparkSession}

/** Rows that statements of ours return, read by the names of their columns. */
trait StatementRows extends Assertions {

  protected def spark: SparkSession

  /** The row of a statement that returns one. */
  def one(statement: String): Row = {
    val rows = spark.sql(statement).collect()
    assert(rows.length === 1)
    rows.head
  }

  def status(row: Row): String = row.getAs[String]("status")
  def reason(row: Row): String = row.getAs[String]("reason")
}
