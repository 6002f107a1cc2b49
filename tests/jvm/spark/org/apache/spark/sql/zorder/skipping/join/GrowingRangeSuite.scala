package org.apache.spark.sql.zorder.skipping.join

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.predicate.KeyRange

class GrowingRangeSuite extends AnyFunSuite {
  private val ranges = new GrowingRange(LongType, Normalization.of(LongType).get.normalize)

  private def range(low: Long, high: Long) = KeyRange(Literal(low), Literal(high))

  test("from the least to the greatest, in whatever order they come") {
    val values = Seq(5L, -3L, 8L, 0L, 8L)
    assert(ranges.of(values.iterator, 2, _ => true) === Some(range(-3, 8)))
    assert(ranges.of(Iterator(7L), 2, _ => true) === Some(range(7, 7)))
  }

  test("asked after so many values and whenever these have doubled; at the end, too") {
    val asked = mutable.Buffer.empty[KeyRange]
    ranges.of((1L to 20L).iterator, 4, r => (asked += r).nonEmpty)
    assert(asked.toSeq === Seq(range(1, 4), range(1, 8), range(1, 16), range(1, 20)))
  }

  test("once the range helps nobody, the rest are not read") {
    val values = (1L to 1000000L).iterator
    assert(ranges.of(values, 100, _.max.value.asInstanceOf[Long] < 150) === None)
    assert(values.next() === 201)
    assert(ranges.of(Iterator(1L, 2L), 100, _ => false) === None)
  }
}
