package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.{DataType, NullType, StructType}

/** Checks the types of the arguments of a curve. */
object ArgumentCheck {

  /** The check of a function of one or more columns. */
  def all(function: String, arguments: Seq[Expression]): TypeCheckResult =
    if (arguments.isEmpty)
      TypeCheckFailure(s"$function needs at least one argument: name the columns to order by.")
    else arguments.flatMap(a => refusal(function, a.sql, a.dataType)).headOption
      .map(TypeCheckFailure(_)).getOrElse(TypeCheckSuccess)

  /** Why the argument `sql` of this type is refused, as one sentence; None if it is accepted. */
  def refusal(function: String, sql: String, dataType: DataType): Option[String] = dataType match {
    case NullType =>
      Some(
        s"$function cannot tell the type of $sql: write cast(NULL AS <type>), so that the key has a length.")
    case t if WordTypes.of(t).isDefined => None
    case s: StructType =>
      val first = s.fieldNames.headOption.map(f => s", for example $sql.$f").getOrElse("")
      Some(s"$function cannot order $sql of type ${s.sql}: name its fields (s.f)$first.")
    case other =>
      Some(s"$function cannot order $sql of type ${other.sql}: " +
        "use an expression of an atomic type instead, for a struct name its fields: s.f.")
  }
}
