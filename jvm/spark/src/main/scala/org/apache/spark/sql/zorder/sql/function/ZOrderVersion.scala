package org.apache.spark.sql.zorder.sql.function

import java.util.Properties

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.unsafe.types.UTF8String

/** `zorder_version()`: the version of this package, e.g. `0.1.0`. STRING, never NULL. */
final case class ZOrderVersion() extends LeafExpression {
  override def nullable: Boolean = false
  override def foldable: Boolean = true
  override def dataType: DataType = StringType
  override def prettyName: String = "zorder_version"
  override def eval(input: InternalRow): Any = UTF8String.fromString(ZOrderVersion.text)
  override def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    Literal(ZOrderVersion.text).genCode(ctx)
}

object ZOrderVersion {
  val name = "zorder_version"

  /** From the resource that the build writes into the jar. */
  lazy val text: String = {
    val properties = new Properties()
    val stream = getClass.getResourceAsStream("/spark-zorder.properties")
    if (stream != null)
      try properties.load(stream)
      finally stream.close()
    properties.getProperty("version", "unknown")
  }

  val info: ExpressionInfo = new ExpressionInfo(
    classOf[ZOrderVersion].getName,
    null,
    name,
    "_FUNC_() - The version of spark-zorder.",
    "",
    "\n    Examples:\n      > SELECT _FUNC_();\n",
    "",
    "misc_funcs",
    "3.5.0",
    "",
    "scala_udf"
  )

  def build(arguments: Seq[Expression]): Expression =
    if (arguments.isEmpty) ZOrderVersion()
    else ZOrderException.refuse(s"$name takes no argument, as in SELECT $name().")
}
