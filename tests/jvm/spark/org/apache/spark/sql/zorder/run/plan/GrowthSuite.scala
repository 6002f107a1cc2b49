package org.apache.spark.sql.zorder.run.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.zorder.SameOnAllLines

/** What becomes of new rows: the decision alone, without a table. */
@SameOnAllLines
class GrowthSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val cells = Array.fill(100)(1000L)

  private def growth(
      rows: Map[Int, Long],
      freshBytes: Long,
      spanning: Long = 0,
      hurts: Boolean = false): Growth =
    Growth(cells, Array.tabulate(100)(rows.getOrElse(_, 0L)), freshBytes, spanning, hurts)

  test("rows of a few cells are merged into them") {
    val few = growth(Map(3 -> 50L, 4 -> 50L), freshBytes = 1000)
    assert(few.amplification === 3.0)
    assert(few.decide(5.0) === GrowthPlan.Merge(Set(3, 4)))
    assert(few.decide(2.9).isInstanceOf[GrowthPlan.Append])
  }

  test("one per cent of rows in all cells becomes one file; five per cent five") {
    val all = (0 until 100).map(_ -> 10L).toMap
    val one = growth(all, freshBytes = 1000)
    assert(one.amplification === 101.0)
    assert(one.decide(5.0).asInstanceOf[GrowthPlan.Append].files === 1)
    val five = growth(all, freshBytes = 5000).decide(5.0).asInstanceOf[GrowthPlan.Append]
    assert(five.files === 5 && five.fileOf.groupBy(f => f).map(_._2.length).toSet === Set(20))
  }

  test("appended files are merged when they hurt and writing anew is within the budget") {
    val all = (0 until 100).map(_ -> 10L).toMap
    assert(growth(all, 1000, spanning = 24000, hurts = true).decide(5.0) === GrowthPlan.Refit)
    assert(growth(all, 1000, spanning = 24000).decide(5.0).isInstanceOf[GrowthPlan.Append])
    assert(growth(all, 1000, spanning = 23000, hurts = true).decide(5.0).isInstanceOf[GrowthPlan.Append])
  }

  test("a partition that has more than doubled is clustered anew") {
    val all = (0 until 100).map(_ -> 1000L).toMap
    assert(growth(all, 100001).decide(5.0) === GrowthPlan.Refit)
    assert(growth(all, 100000).decide(5.0).isInstanceOf[GrowthPlan.Merge])
  }

  test(
    "files that are appended: numbered from 0 without gaps, in the order of the cells, none without rows") {
    val counts = Gen.listOfN(40, Gen.frequency(3 -> Gen.const(0L), 2 -> Gen.choose(1L, 500L)))
    forAll(counts, Gen.choose(1L, 39999L)) { (rows, bytes) =>
      whenever(rows.sum > 0) {
        val g = Growth(Array.fill(40)(1000L), rows.toArray, bytes, 0, spanningHurts = false)
        g.decide(1.0) match {
          case append: GrowthPlan.Append =>
            assert(append.fileOf.head === 0 && append.fileOf.zip(append.fileOf.tail).forall { case (a, b) =>
              b == a || b == a + 1
            })
            for (f <- 0 until append.files)
              assert(rows.indices.filter(append.fileOf(_) == f).map(rows(_)).sum > 0)
          case other => fail(s"$other at a budget of 1")
        }
      }
    }
  }
}
