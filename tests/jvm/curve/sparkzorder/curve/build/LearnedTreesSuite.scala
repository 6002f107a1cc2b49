package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{Condition, Query, RankQueries}
import sparkzorder.curve.layout.{Cut, CutTree, Leaf}

/** That each builder learns from queries what it is meant to. */
class LearnedTreesSuite extends AnyFunSuite {
  private val Rows = 30000
  private val wide = Table.below(1000000)
  private val uniform = Placed.ranked(Table("uniform", Rows)(wide, wide))

  private def ranked(sample: RankedSample, queries: Query*): RankQueries =
    RankQueries.of(queries, sample.scales)

  private def range(column: Int, low: Long, high: Long): Query =
    Query.of(column -> Condition.between(NormalizedLong(low), NormalizedLong(high)))

  private def lookUps(column: Int, n: Int): Seq[Query] =
    Seq.tabulate(n)(i => Query.of(column -> Condition.equal(NormalizedLong((i * 618034L) % 1000000))))

  /** How often each column is cut. */
  private def cuts(tree: CutTree): Map[Int, Int] = tree match {
    case _: Leaf => Map.empty
    case Cut(column, _, left, right) =>
      val below = Seq(cuts(left), cuts(right))
      (below.flatMap(_.keys) :+ column).distinct.map(c =>
        c -> (below.map(_.getOrElse(c, 0)).sum + (if (c == column) 1 else 0))).toMap
  }

  private def read(sample: RankedSample, tree: CutTree, queries: RankQueries): Double =
    PlacedRows.of(sample, tree, AlignedZ.inFile).files.share(queries)

  test("look-ups in one column only: all cuts are in that column, 1 / files is read") {
    val asked = ranked(uniform, lookUps(1, 100): _*)
    for (builder <- Seq(SliceTree, QueryTree)) {
      val tree = builder.build(uniform, asked, 32)
      assert(tree.files == 32 && cuts(tree) == Map(1 -> 31), builder.name)
      assert(math.abs(read(uniform, tree, asked) - 1.0 / 32) < 0.006, builder.name)
    }
  }

  test("a range that comes again is cut out at its literals; quantiles alone cannot") {
    val again = ranked(uniform, range(0, 137000, 216999))
    val literal = read(uniform, LiteralTree.build(uniform, again, 16), again)
    val quantile = read(uniform, QueryTree.build(uniform, again, 16), again)
    assert(literal < 0.085 && literal >= 0.079)
    assert(quantile > literal)
  }

  test("slices: 42 files of two columns asked alike are 6 by 7") {
    val tree = SliceTree.build(uniform, ranked(uniform, lookUps(0, 50) ++ lookUps(1, 50): _*), 42)
    val perColumn = cuts(tree)
    assert(tree.files == 42)
    assert(perColumn == Map(0 -> 5, 1 -> 36) || perColumn == Map(0 -> 6, 1 -> 35) ||
      perColumn == Map(1 -> 5, 0 -> 36) || perColumn == Map(1 -> 6, 0 -> 35))
  }

  test("queries for NULL: the NULLs are cut off, and only their files are read") {
    val sample = Placed.ranked(Table("NULL", Rows)(Table.often(0.25, Table.Null, wide), wide))
    val asked = ranked(sample, Query.of(0 -> Condition.IsNull))
    assert(math.abs(read(sample, QueryTree.build(sample, asked, 16), asked) - 0.25) < 0.01)
  }

  test("without weight a builder falls back to what everybody asks") {
    val nothing = ranked(uniform, range(0, 1, 2).copy(weight = 0.0))
    for (builder <- Seq(SliceTree, QueryTree, LiteralTree))
      assert(builder.build(uniform, nothing, 16) == builder.build(uniform, 16), builder.name)
  }

  test("unequal queries make pages narrower in the column that is asked more") {
    val log = ranked(uniform, lookUps(0, 20) ++ lookUps(1, 180): _*)
    val chosen = AutoChoice.fit(uniform, log, 16, 16, CurveRegistry.Auto.builders(2))
    val pages = (order: sparkzorder.curve.layout.InFileOrder) =>
      PlacedRows.of(uniform, chosen.tree, order).pages(Rows / 256).share(log)
    assert(pages(chosen.inFile) < 0.9 * pages(AlignedZ.inFile))
  }
}
