package org.apache.spark.sql.zorder.clustering.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import sparkzorder.mark.SameOnAllLines

/** How rows of many file numbers are joined to a few files. */
@SameOnAllLines
class SortedRunCutsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("rows that are nearly even are cut where the numbers are halved") {
    val rows = IndexedSeq.tabulate(64)(i => 90L + (i * 7919) % 20)
    for (bits <- 0 to 6)
      assert(SortedRunCuts(rows, 1 << bits).toSeq === (0 until 64).map(_ >> (6 - bits)), s"$bits bits")
  }

  test("rows of the last column of the grid are cut between its cells") {
    val held = Seq(42, 43, 46, 47, 58, 59, 62, 63)
    val files = SortedRunCuts((0 until 64).map(i => if (held.contains(i)) 10L else 0L), 4)
    assert(held.map(files(_)) === Seq(0, 0, 1, 1, 2, 2, 3, 3))
  }

  test("rising from 0 without gaps, none without rows") {
    forAll(Gen.listOfN(40, Gen.frequency(1 -> 0L, 3 -> Gen.choose(1L, 100L))), Gen.choose(1, 40)) {
      (rows, files) =>
        whenever(rows.sum > 0) {
          val of = SortedRunCuts(rows.toIndexedSeq, files)
          assert(of.head === 0 && of.zip(of.tail).forall { case (a, b) => b == a || b == a + 1 })
          assert(of.last < files)
          for (f <- 0 to of.last) assert(rows.indices.filter(of(_) == f).map(rows(_)).sum > 0)
        }
    }
  }
}
