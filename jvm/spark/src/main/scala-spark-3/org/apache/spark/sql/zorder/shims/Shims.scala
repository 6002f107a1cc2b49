package org.apache.spark.sql.zorder.shims

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.expr.normalized.NormalizedType

/** What differs between Spark 3.5 and 4: every private Spark access that a version could move is here. */
object Shims {

  /** The session class with `sessionState`: moved to its own package in Spark 4. */
  type ClassicSession = SparkSession

  def classic(session: SparkSession): ClassicSession = session

  def ofRows(session: ClassicSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  /** A session of its own settings and the same catalog, functions and temporary views. */
  def cloneSession(session: ClassicSession): ClassicSession = session.cloneSession()

  def setActive(session: ClassicSession): Unit = SparkSession.setActiveSession(session)

  /** Whether strings of the type have an order: without collations all have. */
  def hasOrder(dataType: StringType): Boolean = {
    val _ = dataType
    true
  }

  /** How a collated string is normalized; None where the bytes are the order. */
  def stringNormalizedType(dataType: StringType): Option[NormalizedType] = {
    val _ = dataType
    None
  }

  /** A string type without its length: expressions have no other here. */
  def withoutLength(dataType: DataType): DataType = dataType

  /** How data types are normalized that only some Spark lines have. */
  def extraNormalizedType(dataType: DataType): Option[NormalizedType] = {
    val _ = dataType
    None
  }

  /** Inlines what Spark 4 computes once, such as BETWEEN's left side. */
  def inlined(plan: LogicalPlan): LogicalPlan = plan
}
