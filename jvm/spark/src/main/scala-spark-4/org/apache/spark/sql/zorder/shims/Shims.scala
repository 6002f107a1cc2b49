package org.apache.spark.sql.zorder.shims

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, With}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CollationFactory
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType, NormalizedType}
import org.apache.spark.unsafe.types.UTF8String

/** What differs between Spark 3.5 and 4: every private Spark access that a version could move is here. */
object Shims {

  /** The session class with `sessionState`: moved to its own package in Spark 4. */
  type ClassicSession = org.apache.spark.sql.classic.SparkSession

  def classic(session: SparkSession): ClassicSession = session.asInstanceOf[ClassicSession]

  def ofRows(session: ClassicSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  /** A session of its own settings and the same catalog, functions and temporary views. */
  def cloneSession(session: ClassicSession): ClassicSession = session.cloneSession()

  def setActive(session: ClassicSession): Unit = SparkSession.setActiveSession(session)

  /** Whether strings of the type have an order: what is joined of columns of two collations has none. */
  def hasOrder(dataType: StringType): Boolean =
    dataType.collationId != CollationFactory.INDETERMINATE_COLLATION_ID

  /** How a collated string is normalized; None where the bytes are the order. */
  def stringNormalizedType(dataType: StringType): Option[NormalizedType] =
    if (dataType.isUTF8BinaryCollation) None
    else {
      val id = dataType.collationId
      val factory = "org.apache.spark.sql.catalyst.util.CollationFactory"
      Some(NormalizedBytesType(
        128,
        v => CollationFactory.getCollationKeyBytes(v.asInstanceOf[UTF8String], id),
        v => s"$factory.getCollationKeyBytes($v, $id)"))
    }

  /** A string type without its length, which a session may keep (`spark.sql.preserveCharVarcharTypeInfo`). */
  def withoutLength(dataType: DataType): DataType = dataType match {
    case s: StringType if s.isUTF8BinaryCollation => StringType
    case s: StringType => StringType(s.collationId)
    case other => other
  }

  /** How data types are normalized that only some Spark lines have: TIME (4.1 and later), by its name. */
  def extraNormalizedType(dataType: DataType): Option[NormalizedType] =
    if (dataType.typeName.startsWith("time(")) Some(NormalizedLongType(64, _.asInstanceOf[Long], v => v))
    else None

  /** Inlines what Spark 4 computes once, such as BETWEEN's left side. */
  def inlined(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case With(child, definitions) =>
      child.transform { case r: CommonExpressionRef =>
        definitions.find(_.id == r.id).fold[Expression](r)(_.child)
      }
  }
}
