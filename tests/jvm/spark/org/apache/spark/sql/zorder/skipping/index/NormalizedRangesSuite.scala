package org.apache.spark.sql.zorder.skipping.index

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{BelowBytes, NormalizedBytes, NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Condition, Interval}

/** Whether a file's ranges meet a condition is the same as by every range with every interval. */
class NormalizedRangesSuite extends AnyFunSuite {

  private def long(n: Int): NormalizedValue = NormalizedLong(n.toLong * 1000003L)

  /** Of one or two bytes, those above 127 among them, so that prefixes occur. */
  private def bytes(n: Int): NormalizedValue =
    NormalizedBytes(if (n % 3 == 0) Array((n / 3).toByte) else Array((n / 3).toByte, (n % 3).toByte))

  private def ascending(random: Random, most: Int): Seq[Int] =
    Seq.fill(2 * random.nextInt(most))(random.nextInt(700)).distinct.sorted.grouped(2).filter(_.length == 2)
      .toSeq.flatten

  private def condition(random: Random, normalized: Int => NormalizedValue): Condition = {
    val points = random.nextBoolean()
    val closed =
      if (points) ascending(random, 40).map(n => Interval.point(normalized(n)))
      else ascending(random, 20).grouped(2).map(e =>
        Interval(Some(normalized(e.head)), Some(normalized(e.last)))).toSeq
    val intervals = closed.zipWithIndex.map { case (i, at) =>
      val low = if (!points && at == 0 && random.nextBoolean()) None else i.min
      val high = if (!points && at == closed.length - 1 && random.nextBoolean()) None else i.max
      // an end that stops short of a string
      val short = high.collect {
        case NormalizedBytes(b) if !points && random.nextBoolean() && !i.min.exists(high.contains(_)) =>
          BelowBytes(b)
      }
      Interval(low, short.orElse(high))
    }
    Condition(intervals.toIndexedSeq, orNull = false)
  }

  private def check(
      normalized: Int => NormalizedValue,
      ranges: Seq[(NormalizedValue, NormalizedValue)] => NormalizedRanges): Unit = {
    val random = new Random(23)
    (1 to 500).foreach { _ =>
      val files =
        Seq.fill(20)(ascending(random, 8).grouped(2).map(e => normalized(e.head) -> normalized(e.last)).toSeq)
      val offsets = files.scanLeft(0)(_ + _.length)
      val asked = condition(random, normalized)
      val test = ranges(files.flatten).test(asked)
      files.indices.foreach { f =>
        val expected = files(f).exists { case (min, max) => asked.intervals.exists(_.meets(min, max)) }
        assert(test.meetsAny(offsets(f), offsets(f + 1)) === expected, s"${files(f)} by $asked")
      }
    }
  }

  test("numbers")(check(
    long,
    _.map { case (min, max) => value(min) -> value(max) }.unzip match {
      case (mins, maxs) => LongRanges(mins.toArray, maxs.toArray)
    }))

  test("byte strings")(check(
    bytes,
    _.map { case (min, max) => text(min) -> text(max) }.unzip match {
      case (mins, maxs) => BytesRanges(mins.toArray, maxs.toArray)
    }))

  private def value(normalized: NormalizedValue): Long = normalized match {
    case NormalizedLong(v) => v
    case other => fail(s"no number: $other")
  }

  private def text(normalized: NormalizedValue): Array[Byte] = normalized match {
    case NormalizedBytes(b) => b
    case other => fail(s"no byte string: $other")
  }
}
