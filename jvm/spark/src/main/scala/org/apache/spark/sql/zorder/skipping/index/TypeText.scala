package org.apache.spark.sql.zorder.skipping.index

import scala.util.Try

import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.shims.Shims

/** Types as texts, in an index and in the meaning of an expression. */
private[skipping] object TypeText {

  /** JSON; SQL where the JSON leaves out the collation of a text, as Spark 4.0's does. */
  def of(dataType: DataType): String = dataType match {
    case UnknownType(text) => text
    case _ =>
      val json = dataType.json
      if (hasCollation(dataType) && !fromJson(json).contains(dataType)) dataType.sql else json
  }

  /** The type of a text that `of` has written; an [[UnknownType]] where this Spark has no such type. */
  def read(text: String): DataType = {
    val isJson = text.startsWith("\"") || text.startsWith("{")
    (if (isJson) fromJson(text) else Try(DataType.fromDDL(text)).toOption).getOrElse(UnknownType(text))
  }

  /** Whether there are texts in a type whose order is not that of their bytes. */
  def hasCollation(dataType: DataType): Boolean = dataType.existsRecursively {
    case s: StringType => Shims.stringNormalizedType(s).isDefined
    case _ => false
  }

  private def fromJson(json: String): Option[DataType] = Try(DataType.fromJson(json)).toOption
}

/**
 * The type of a column that another line of Spark has indexed, and that this one does not know. No filter has
 * it, so that the column answers none.
 */
final private[index] case class UnknownType(text: String) extends DataType {
  override def defaultSize: Int = 0
  override def sql: String = text
  override private[spark] def asNullable: DataType = this
}
