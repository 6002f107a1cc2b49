package sparkzorder.curve.build

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.cost.{RankRanges, RankQueries}

class QueryHalvesSuite extends AnyFunSuite {
  private def lookUp(column: Int, rank: Int): Array[RankRanges] =
    Array(new RankRanges(Array(column), Array(Array(rank)), Array(Array(rank)), Array(false)))

  /** Column c is asked for as often as `counts(c)` says. */
  private def log(counts: Int*): RankQueries = {
    val ranges = counts.zipWithIndex.flatMap { case (n, c) => (0 until n).map(lookUp(c, _)) }
    new RankQueries(ranges.toArray, Array.fill(ranges.size)(1.0))
  }

  private def weight(queries: RankQueries, column: Int): Double =
    (0 until queries.size).filter(queries.asks(_, column)).map(queries.weights(_)).sum

  test("each half has every kind of query with the weight that it has in the log") {
    val counts = Seq(100, 7, 2, 1)
    val (known, unseen) = QueryHalves.of(log(counts: _*))
    for (half <- Seq(known, unseen); c <- counts.indices)
      assert(math.abs(weight(half, c) - counts(c)) < 1e-9)
  }

  test("no query of a kind of two or more is in both halves, and their sizes differ by one at most") {
    val (known, unseen) = QueryHalves.of(log(100, 7, 2))
    assert(known.ranges.intersect(unseen.ranges).isEmpty)
    assert(known.size + unseen.size == 109)
    assert(known.size - unseen.size == 1)
  }

  test("a log in which two sorts of query alternate is not halved by sort") {
    val ranks = (0 until 200).map(i => if (i % 2 == 0) 0 else 1)
    val (known, _) = QueryHalves.of(
      new RankQueries(ranks.map(lookUp(0, _)).toArray, Array.fill(ranks.size)(1.0)))
    val even = known.ranges.count(_.head.lows(0)(0) == 0)
    assert(even > 30 && even < 70)
  }

  test("the order of the log changes nothing") {
    val queries = Random.shuffle((0 until 300).map(i => lookUp(i % 3, i % 50)))
    def halves(ranges: Seq[Array[RankRanges]]): Seq[Seq[(Int, Int)]] = {
      val (known, unseen) = QueryHalves.of(new RankQueries(ranges.toArray, Array.fill(ranges.size)(1.0)))
      Seq(known, unseen).map(_.ranges.map(b => (b.head.columns.head, b.head.lows(0)(0))).toSeq)
    }
    for (_ <- 0 until 5) assert(halves(Random.shuffle(queries)) == halves(queries))
  }

  test("the halves are the same on every Scala version, so that the layout is the same on every Spark") {
    val (known, _) = QueryHalves.of(log(12))
    assert(known.ranges.toSeq.map(_.head.lows(0)(0)) == Seq(1, 7, 11, 2, 10, 6))
  }

  test("no queries have no halves") {
    val (known, unseen) = QueryHalves.of(RankQueries.none)
    assert(known.size == 0 && unseen.size == 0)
  }
}
