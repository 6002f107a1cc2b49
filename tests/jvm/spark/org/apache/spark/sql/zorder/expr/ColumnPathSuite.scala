package org.apache.spark.sql.zorder.expr

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.{ArrayType, IntegerType, StructType}

/** Paths of columns and of fields below them. */
class ColumnPathSuite extends AnyFunSuite {

  test("the paths of a schema: columns and fields of structs, each before those inside it") {
    val inner = new StructType().add("x", IntegerType).add("y", new StructType().add("z", IntegerType))
    val schema = new StructType().add("a", IntegerType).add("s", inner).add("l", ArrayType(inner))
    val found = ColumnPath.ofSchema(schema)
    assert(found.map(_._1.mkString(".")) === Seq("a", "s", "s.x", "s.y", "s.y.z", "l"))
    assert(found.map(_._2).take(2) === Seq(IntegerType, inner))
  }
}
