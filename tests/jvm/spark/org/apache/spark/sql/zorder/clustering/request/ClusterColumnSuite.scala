package org.apache.spark.sql.zorder.clustering.request

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{Add, AttributeReference, AttributeSet, Literal}
import org.apache.spark.sql.types.{IntegerType, LongType}

class ClusterColumnSuite extends AnyFunSuite {
  private val a = AttributeReference("a", IntegerType)()
  private val b = AttributeReference("b", LongType)()
  private val column = ClusterColumn("a + 1", Add(a, Literal(1)), None)

  test("a clustering column is bound to rows that have its columns as the table has them") {
    val rows = Seq(b.newInstance(), a.newInstance())
    val bound = column.boundTo(rows).get
    assert(bound.expression.references == AttributeSet(rows(1)))
    assert(bound.copy(expression = column.expression) == column)
  }

  test("it is not bound to columns of another type, another name, twice the name, or with more NULLs") {
    assert(column.boundTo(Seq(b, a.withName("A"))).isEmpty)
    assert(column.boundTo(Seq(AttributeReference("a", LongType)())).isEmpty)
    assert(column.boundTo(Seq(a, a.newInstance())).isEmpty)
    val required = column.copy(expression = Add(a.withNullability(false), Literal(1)))
    assert(required.boundTo(Seq(a)).isEmpty)
  }
}
