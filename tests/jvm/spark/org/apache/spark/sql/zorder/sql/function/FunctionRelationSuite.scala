package org.apache.spark.sql.zorder.sql.function

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.mark.SameOnAllLines

/** The rows of a table function as tasks have them. */
@SameOnAllLines
class FunctionRelationSuite extends AnyFunSuite with ZOrderSession {

  test("a task takes a thousand rows along, and they are collected in their order") {
    val context = Shims.classic(spark).sqlContext
    val schema = new StructType().add("n", IntegerType)
    for ((n, tasks) <- Seq(0 -> 1, 1 -> 1, 1000 -> 1, 1001 -> 2, 30000 -> 30)) {
      val rows = (0 until n).map(i => Row(i))
      val scan = new FunctionRelation(context, "numbers", schema, () => rows).buildScan()
      assert(scan.getNumPartitions === tasks)
      assert(scan.collect().toSeq === rows)
    }
  }
}
