package sparkzorder.curve.build.cut

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.layout.Scale

class RankSortSuite extends AnyFunSuite {
  private val random = new Random(7)

  test("few and many ranks, near and far, with both ends, in order and against it: as the JVM sorts them") {
    val below: Seq[Int] = Seq(1, 2, 1000, 1024, 1025, 1 << 20, Scale.One)
    for (n <- Seq(0, 1, 2, 1999, 2000, 2001, 70000); most <- below) {
      val ranks = Array.fill(n)(random.nextInt(most)) ++ Seq(0, Scale.One - 1, Scale.One).filter(_ => n > 100)
      for (given <- Seq(ranks, ranks.sorted, ranks.sorted.reverse))
        assert(RankSort.ascending(given.clone()).sameElements(ranks.sorted), s"$n ranks below $most")
    }
  }

  test("ranks that are all the same") {
    for (n <- Seq(10, 5000); rank <- Seq(0, 77, Scale.One))
      assert(RankSort.ascending(Array.fill(n)(rank)).sameElements(Array.fill(n)(rank)))
  }
}
