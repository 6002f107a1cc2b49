package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.cost.{Condition, Factor, Query, RankQueries}

/** The queries that stand for a log, and what the bound is told of queries. */
class WorkloadSuite extends AnyFunSuite {
  private val Rows = 20000
  private val sample = Placed.ranked(
    Table("three", Rows)(
      Table.below(1000000),
      Table.often(0.25, Table.Null, Table.below(1000000)),
      Table.often(0.4, 7, Table.below(4))))

  private def near(a: Double, b: Double, by: Double) = math.abs(a - b) <= by

  private def factors(query: Query): Seq[Factor] =
    WorkloadShapes.of(RankQueries.of(Seq(query), sample.scales), sample).head.factors

  test("without a log: as many look-ups and 1 % ranges of each column as boxes over all of them") {
    val asked = DefaultWorkload.of(sample)
    val kinds = asked.ranges.map(b => (b.head.columns.toSeq, b.head.lows(0)(0) == b.head.highs(0)(0)))
    assert(asked.size == 399 && asked.weights.forall(_ == 1.0))
    assert(kinds.count(_._1 == Seq(0, 1, 2)) == 57)
    assert((0 until 3).map(c => kinds.count(_._1 == Seq(c))) == Seq(114, 114, 114))
    assert((0 until 2).map(c => kinds.count(k => k._1 == Seq(c) && k._2)) == Seq(57, 57))
    val widths = asked.selectivities(sample.ranks)
    val ranges = asked.ranges.indices.filter(q => kinds(q)._1 == Seq(0) && !kinds(q)._2)
    assert(ranges.forall(q => near(widths(q), 0.01, 0.002)))
  }

  test("without a log: the values asked for are spread over the column, and the same every time") {
    val (one, two) = (DefaultWorkload.of(sample), DefaultWorkload.of(sample))
    assert(one.ranges.map(_.head.lows.map(_.toSeq).toSeq).toSeq == two.ranges.map(
      _.head.lows.map(_.toSeq).toSeq).toSeq)
    val places =
      one.ranges.map(_.head).filter(b => b.columns.sameElements(Array(0)) && b.lows(0)(0) == b.highs(0)(0))
        .map(b => sample.ranks(0).count(_ < b.lows(0)(0)).toDouble / Rows).sorted
    places.indices.foreach(i => assert(near(places(i), (i + 0.5) / places.length, 0.03)))
  }

  test("a column of NULLs is not asked; a table of them is asked nothing") {
    val half = Placed.ranked(Table("half", 100)(Table.constant(Table.Null), Table.below(9)))
    assert(DefaultWorkload.of(half).ranges.forall(_.head.columns.sameElements(Array(1))))
    assert(DefaultWorkload.of(Placed.ranked(Table("NULL", 9)(Table.constant(Table.Null)))).size == 0)
  }

  test("an equality costs at least the mass of its value, a range its width, IS NULL the NULLs") {
    val heavy = factors(Query.of(2 -> Condition.equal(NormalizedLong(7)))).head
    assert(heavy.flat == 0.0 && near(heavy.least, 0.4, 0.01))
    val range = factors(Query.of(0 -> Condition.between(NormalizedLong(100000), NormalizedLong(299999)))).head
    assert(near(range.flat, 0.2, 0.01) && near(range.at(1.0), 1.0, 1e-9))
    val nulls = factors(Query.of(1 -> Condition.IsNull)).head
    assert(near(nulls.at(0.0), 0.25, 0.01) && nulls.at(1.0) == nulls.at(0.0))
    assert(near(factors(Query.of(1 -> Condition.IsNotNull)).head.at(0.0), 0.75, 0.01))
    assert(near(
      factors(Query.of(0 -> Condition.in(Seq(3L, 5L).map(NormalizedLong(_))))).head.at(0.5),
      0.5,
      1e-9))
  }

  test("of an OR the dearest box counts; a query without boxes is left out") {
    val narrow = Query.of(0 -> Condition.equal(NormalizedLong(5)))
    val broad = Query.of(0 -> Condition.between(NormalizedLong(0), NormalizedLong(500000)))
    assert(factors(Query(narrow.conjunctions ++ broad.conjunctions, 1.0)) == factors(broad))
    assert(WorkloadShapes.of(
      RankQueries.of(Seq(Query(IndexedSeq.empty, 1.0)), sample.scales),
      sample).isEmpty)
  }

  test("caps: two bits for four or five values, none where nearly every row has its own") {
    val caps = WorkloadShapes.caps(sample)
    assert(caps(0) == 30.0 && caps(2) >= 2.0 && caps(2) <= 2.4)
  }
}
