package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.build.BuildInfo
import org.apache.spark.unsafe.types.UTF8String

/** `zorder_version()`: the version of this package, e.g. `0.1.0`. STRING, never NULL. */
final case class ZOrderVersion() extends LeafExpression {
  override def nullable: Boolean = false
  override def foldable: Boolean = true
  override def dataType: DataType = StringType
  override def prettyName: String = "zorder_version"
  override def eval(input: InternalRow): Any = UTF8String.fromString(BuildInfo.version)
  override def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    Literal(BuildInfo.version).genCode(ctx)
}
