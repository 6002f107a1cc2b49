package org.apache.spark.sql.zorder.fit

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.SameOnAllLines

/** Against a stable sort of boxed keys. */
@SameOnAllLines
class KeyOrderSuite extends AnyFunSuite {
  private val random = new Random(7)

  private def check(keys: Array[Long]): Unit =
    assert(KeyOrder.of(keys).toSeq === keys.indices.sortBy(keys(_)))

  test("rows by their keys; rows of one key keep their order") {
    for (values <- Seq(1, 2, 50, 1000000); n <- Seq(0, 1, 2, 3, 1000))
      check(Array.fill(n)(random.nextInt(values).toLong))
    check(Array(Long.MaxValue, Long.MinValue, 0L, -1L, Long.MinValue, Long.MaxValue))
  }
}
