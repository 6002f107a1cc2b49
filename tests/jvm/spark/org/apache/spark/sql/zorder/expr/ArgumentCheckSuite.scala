package org.apache.spark.sql.zorder.expr

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckFailure
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal}
import org.apache.spark.sql.types._

/** What a curve cannot order is refused with one sentence that names it and says what to write. */
class ArgumentCheckSuite extends SparkFunSuite {
  private def sentence(e: Expression): String = e.checkInputDataTypes() match {
    case TypeCheckFailure(message) => message
    case other => fail(s"not refused: $other")
  }

  private def column(name: String, dataType: DataType): Expression = AttributeReference(name, dataType)()

  private val functions = Seq[Seq[Expression] => Expression](ZOrder(_), HilbertOrder(_))

  test("no argument") {
    for (f <- functions) assert(sentence(f(Nil)).endsWith("needs at least one argument: name the columns to order by."))
  }

  test("a struct: its fields are to be named") {
    val s = column("s", new StructType().add("f", IntegerType))
    assert(sentence(ZOrder(Seq(Literal(1), s))) ===
      "zorder cannot order s of type STRUCT<f: INT>: name its fields (s.f), for example s.f.")
  }

  test("arrays, maps and calendar intervals, by name and type") {
    for (f <- functions; (t, sql) <- Seq(
        ArrayType(IntegerType) -> "ARRAY<INT>", MapType(StringType, IntegerType) -> "MAP<STRING, INT>",
        CalendarIntervalType -> "INTERVAL")) {
      val message = sentence(f(Seq(column("c", t))))
      assert(message.contains(s"cannot order c of type $sql: ") && message.contains("s.f"))
    }
  }

  test("a NULL without a type") {
    for (f <- functions) assert(sentence(f(Seq(Literal(null)))).contains("write cast(NULL AS <type>)"))
  }

  test("every sentence is one sentence and ends in a full stop") {
    val bad = Seq(Seq.empty, Seq(Literal(null)), Seq(column("a", ArrayType(IntegerType))),
      Seq(column("s", new StructType().add("f", IntegerType))))
    for (f <- functions; args <- bad) assert(sentence(f(args)).endsWith("."))
  }
}
