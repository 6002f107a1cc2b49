package sparkzorder.curve.cost

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{Block, NormalizedLong, Zone}

class QueryCostSuite extends AnyFunSuite {
  private def normalized(v: Long) = NormalizedLong(v)
  private def between(min: Long, max: Long): Zone = Zone.Between(normalized(min), normalized(max))
  private def tens(column: Int, low: Long, high: Long) =
    Query.of(column -> Condition.between(normalized(low), normalized(high)))

  private val blocks = Seq(
    Block(10, IndexedSeq(between(0, 9), between(5, 5)), nullFree = Set(0, 1)),
    Block(20, IndexedSeq(between(10, 19), Zone.OnlyNulls)),
    Block(30, IndexedSeq(between(20, 29), between(0, 9)), nullFree = Set(0)),
    Block(40, IndexedSeq(Zone.Unknown, between(8, 9)), nullFree = Set(1)))

  private def share(query: Query) = QueryCost.share(blocks, query)

  test("equality, ranges and lists touch the blocks whose zones they meet; unknown is read") {
    assert(share(Query.of(0 -> Condition.equal(normalized(9)))) == 0.5)
    assert(share(Query.of(0 -> Condition.equal(normalized(99)))) == 0.4)
    assert(share(tens(0, 9, 10)) == 0.7)
    assert(share(Query.of(0 -> Condition.in(Seq(normalized(25), normalized(3))))) == 0.8)
    assert(share(Query.of(0 -> Condition(
      IndexedSeq(Interval(Some(normalized(15)), None)),
      orNull = false))) == 0.9)
    assert(share(Query.of(0 -> Condition(
      IndexedSeq(Interval(None, Some(normalized(5)))),
      orNull = false))) == 0.5)
  }

  test("a conjunction reads what all its conditions admit, an OR of boxes what any admits") {
    val both =
      Query.of(0 -> Condition.between(normalized(0), normalized(19)), 1 -> Condition.equal(normalized(5)))
    assert(share(both) == 0.1)
    val either = Query(both.conjunctions ++ tens(0, 20, 20).conjunctions, 1.0)
    assert(share(either) == 0.8)
    assert(share(Query(IndexedSeq(Conjunction(Map.empty)), 1.0)) == 1.0)
  }

  test("IS NULL reads blocks that hold or may hold NULL, IS NOT NULL those with a value") {
    assert(share(Query.of(1 -> Condition.IsNull)) == 0.5)
    assert(share(Query.of(1 -> Condition.IsNotNull)) == 0.8)
    assert(share(Query.of(0 -> Condition.IsNull)) == 0.6)
    assert(share(Query.of(1 -> Condition(IndexedSeq(Interval.point(normalized(5))), orNull = true))) == 0.6)
  }

  test("an impossible box reads nothing, not even what is unknown") {
    assert(share(tens(0, 5, 4)) == 0.0)
    assert(share(Query.of(0 -> Condition.in(Nil))) == 0.0)
    assert(share(Query(IndexedSeq.empty, 1.0)) == 0.0)
    assert(QueryCost.share(Nil, tens(0, 1, 2)) == 0.0)
  }

  test("the mean goes by weight") {
    val queries = Seq(tens(0, 9, 10).copy(weight = 3.0), tens(0, 99, 99))
    assert(math.abs(QueryCost.mean(blocks, queries) - (3 * 0.7 + 0.4) / 4) < 1e-12)
    assert(QueryCost.mean(blocks, queries.map(_.copy(weight = 0.0))) == 0.0)
    assert(QueryCost.mean(blocks, Nil) == 0.0)
  }

  test(
    "a query on some of its columns is as large or larger, numbered by their places; the impossible stays so") {
    val five = Condition.equal(NormalizedLong(5))
    val query = Query(
      IndexedSeq(
        Conjunction(Map(0 -> five, 2 -> Condition.IsNull)),
        Conjunction(Map(1 -> five)),
        Conjunction(Map(0 -> five, 1 -> Condition.Impossible))),
      3.0)
    assert(query.columns === Set(0, 1, 2))
    assert(query.over(Seq(2, 0)) === Query(
      IndexedSeq(Conjunction(Map(1 -> five, 0 -> Condition.IsNull)), Conjunction(Map.empty)),
      3.0))
    assert(query.over(Nil).conjunctions === IndexedSeq(Conjunction(Map.empty), Conjunction(Map.empty)))
  }
}
