package sparkzorder.curve.advise

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.build.{DefaultWorkload, HeldOut, Placed, QueryHalves, Table}
import sparkzorder.curve.cost.{Condition, Query, RankQueries}

/** Which columns are found, on tables whose answer is known. */
class ColumnSearchSuite extends AnyFunSuite {
  private val Rows = 20000
  private val Files = 64
  private val wide = Table.below(1000000)

  /** Look-ups of the values of evenly spaced rows, each asking of these columns at once. */
  private def lookUps(table: Table, columns: Seq[Int], weight: Double, n: Int = 100): Seq[Query] =
    (0 until n).map { i =>
      val row = (i * 7919) % table.rows
      Query.of(columns.map(c => c -> Condition.equal(NormalizedLong(table.values(c)(row)))): _*).copy(weight =
        weight / n)
    }

  private def search(table: Table, queries: Seq[Query]): (ColumnSearch, IndexedSeq[ColumnSet]) = {
    val sample = Placed.ranked(table)
    val (even, odd) = Array.range(0, sample.rows).partition(_ % 2 == 0)
    val (known, unseen) = QueryHalves.of(RankQueries.of(queries, sample.scales))
    val rows = sample.take(even)
    val heldOut = new HeldOut(sample.take(odd), unseen, Files, 8.0, missing = 0.0)
    val found = new ColumnSearch(rows, known, logged = true, heldOut, Files, 8.0)
    (found, found.sets(4, 8).sets)
  }

  test("two columns asked alike: both with three bits, one eighth of the files; a third that is not asked has none") {
    val table = Table("three", Rows)(wide, wide, wide)
    val (found, sets) = search(table, lookUps(table, Seq(0), 1) ++ lookUps(table, Seq(1), 1))
    assert(found.unused == IndexedSeq(2))
    assert(sets.map(_.columns.toSet) == IndexedSeq(Set(sets(0).columns.head), Set(0, 1)))
    assert(sets(1).bits.forall(b => math.abs(b - 3.0) < 0.3), sets(1).bits)
    assert(math.abs(sets(1).shares.ofFiles - 0.125) < 0.02)
    // alone: 1 / 64 for itself and everything for the other, but for look-ups of its ends
    assert(
      math.abs(sets(0).shares.ofFiles - (1.0 / 64 + 1.0) / 2) < 0.025 && sets(0).isSort && !sets(1).isSort)
    assert(math.abs(sets(1).lossByLast - (0.125 - 1.0 / 64)) < 0.02)
  }

  test("weights .85 and .15: log2 of their ratio more bits, by water-filling") {
    val table = Table("two", Rows)(wide, wide)
    val (_, sets) = search(table, lookUps(table, Seq(0), 0.85) ++ lookUps(table, Seq(1), 0.15))
    assert(sets(0).columns == IndexedSeq(0) && sets(1).columns == IndexedSeq(0, 1))
    val more = sets(1).bits(0) - sets(1).bits(1)
    assert(math.abs(more - math.log(0.85 / 0.15) / math.log(2)) < 0.8, sets(1).bits)
  }

  test("a column that follows another is of no use beside it: clustering by one serves both") {
    val x = Table("one", Rows)(wide)
    val noise = new java.util.SplittableRandom(3)
    val table = new Table(
      "twins",
      Array(x.values(0), x.values(0).map(_ + noise.nextLong(1000))),
      Array.fill(2)(new Array[Boolean](Rows)))
    val (_, sets) = search(table, lookUps(table, Seq(0), 1) ++ lookUps(table, Seq(1), 1))
    assert(sets(0).shares.ofFiles < 1.5 / Files, sets(0).shares.ofFiles)
    assert(sets.minBy(s => s.shares.cost * (1 + 0.02 * s.columns.size)).columns.size == 1)
  }

  test("look-ups of a and b together, and of b alone: cuts of b serve both, a gets no bit") {
    val table = Table("two", Rows)(wide, wide)
    val (found, sets) = search(table, lookUps(table, Seq(0, 1), 1) ++ lookUps(table, Seq(1), 1))
    // with shares x of a file's range the first costs x_a * x_b = 1 / files however it is cut, the second x_b
    assert(found.unused == IndexedSeq(0) && sets.map(_.columns) == IndexedSeq(IndexedSeq(1)))
    assert(sets(0).lossByLast == 0.0)
  }

  test("a column that gets hardly a bit is in no set, wherever the search has found it, and is told") {
    val table = Table("five values", Rows)(wide, Table.below(5), wide)
    val sample = Placed.ranked(table)
    val (even, odd) = Array.range(0, sample.rows).partition(_ % 2 == 0)
    // nearly all the weight is on two columns, and four files cannot be cut by a third
    val asked = lookUps(table, Seq(0), 1) ++ lookUps(table, Seq(1), 0.02) ++ lookUps(table, Seq(2), 1)
    val (known, unseen) = QueryHalves.of(RankQueries.of(asked, sample.scales))
    val heldOut = new HeldOut(sample.take(odd), unseen, 4, 8.0, missing = 0.0)
    val search = new ColumnSearch(sample.take(even), known, logged = true, heldOut, 4, 8.0)
    val found = search.sets(4, 8)
    assert(found.sets.forall(s => s.bits.length == s.order.length && s.bits.forall(_ >= 0.05)), found)
    assert(
      found.sets.exists(_.columns.toSet == Set(0, 2)) && search.unused ++ found.withoutBits == IndexedSeq(1),
      found)
  }

  test("bits and loss of a proposed sort are those of the sort") {
    val table = Table("two", Rows)(wide, wide)
    val (_, sets) = search(table, lookUps(table, Seq(0), 1) ++ lookUps(table, Seq(1), 0.002))
    sets.filter(_.isSort).foreach { s =>
      assert(s.layout == "lexical" && s.order.head == 0 && math.abs(s.bits.head - 6.0) < 0.3, s)
      assert(math.abs(s.lossByLast) < 0.01, s)
    }
    assert(sets.head.isSort)
  }

  test("without a log: as a run without one, so three columns alike get the Z-order and not slices") {
    val table = Table("three", Rows)(wide, wide, wide)
    val sample = Placed.ranked(table)
    val (even, odd) = Array.range(0, sample.rows).partition(_ % 2 == 0)
    val (known, unseen) = QueryHalves.of(DefaultWorkload.of(sample))
    val rows = sample.take(even)
    val heldOut = new HeldOut(sample.take(odd), unseen, 48, 8.0, missing = 0.0)
    val sets = new ColumnSearch(rows, known, logged = false, heldOut, 48, 8.0).sets(3, 3).sets
    assert(sets.last.columns.toSet == Set(0, 1, 2) && sets.last.layout == "zorder")
  }

  test("halves: every kind of query in both, with its weight; a lone query in both") {
    val table = Table("two", 1000)(wide, wide)
    val sample = Placed.ranked(table)
    val log =
      lookUps(table, Seq(0), 0.6, 31) ++ lookUps(table, Seq(1), 0.3, 10) ++ lookUps(table, Seq(0, 1), 0.1, 1)
    val (a, b) = QueryHalves.of(RankQueries.of(log, sample.scales))
    def weightOf(half: RankQueries, columns: Seq[Int]): Double =
      (0 until half.size).filter(q => half.ranges(q).head.columns.toSeq == columns).map(half.weights(_)).sum
    for (half <- Seq(a, b); (columns, weight) <- Seq(Seq(0) -> 0.6, Seq(1) -> 0.3, Seq(0, 1) -> 0.1))
      assert(math.abs(weightOf(half, columns) - weight) < 1e-9)
    assert(a.size == 16 + 5 + 1 && b.size == 15 + 5 + 1)
  }
}
