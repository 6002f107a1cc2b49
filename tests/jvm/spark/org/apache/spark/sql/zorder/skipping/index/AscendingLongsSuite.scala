package org.apache.spark.sql.zorder.skipping.index

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** A place among ascending values is the same as by looking at one after the other. */
class AscendingLongsSuite extends AnyFunSuite {

  private def same(values: Array[Long], asked: Seq[Long]): Unit = {
    val found = new AscendingLongs(values)
    asked.foreach { v =>
      val expected = values.count(_ < v)
      assert(
        found.firstAtLeast(v) === expected,
        s"$v in ${values.take(20).mkString(", ")} (${values.length})")
    }
  }

  private def neighbours(values: Seq[Long]): Seq[Long] =
    (values ++ Seq(Long.MinValue, 0L, Long.MaxValue)).flatMap(v => Seq(v - 1, v, v + 1))

  test("no value, one value, the same value many times, the ends of the type") {
    same(Array.empty, Seq(Long.MinValue, 0L, Long.MaxValue))
    Seq(
      Seq(0L),
      Seq(Long.MinValue),
      Seq(Long.MaxValue),
      Seq.fill(100)(7L),
      Seq(Long.MinValue, Long.MaxValue),
      Seq(Long.MinValue, -1L, 0L, 1L, Long.MaxValue),
      Seq(Long.MaxValue - 2, Long.MaxValue - 1, Long.MaxValue),
      (0L until 64L).map(b => 1L << b).sorted,
      (1L to 9999L) :+ Long.MaxValue).foreach { values =>
      same(values.toArray, neighbours(values.take(200) ++ values.takeRight(3)))
    }
  }

  test("random values, even and crowded, and their neighbours") {
    val random = new Random(17)
    (1 to 300).foreach { _ =>
      val span = 1 + random.nextInt(63)
      val values = Seq.fill(1 + random.nextInt(200)) {
        val drawn = random.nextLong() >> span
        if (random.nextBoolean()) drawn else drawn >> random.nextInt(32)
      }.sorted
      same(values.toArray, neighbours(values) ++ Seq.fill(50)(random.nextLong() >> span))
    }
  }
}
