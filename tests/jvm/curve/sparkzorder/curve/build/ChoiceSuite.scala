package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.{Layout, LayoutColumn}

/** What `USING CURVE auto` makes of tables that are not well-behaved: each test states what to expect. */
class ChoiceSuite extends AnyFunSuite {
  private val Rows = 60000
  private val wide = Table.below(1000000)
  private val noLog = RankQueries.none

  private def chosen(table: Table, files: Int, curve: String = CurveRegistry.Auto.name): (Placed, Chosen) = {
    val sample = Placed.ranked(table.sample(30000))
    val choice =
      AutoChoice.fit(sample, noLog, files, 16, CurveRegistry.builders(curve, table.columns))
    val columns = sample.scales.zipWithIndex.map { case (s, c) => LayoutColumn(s"c$c", "BIGINT", s) }
    (new Placed(table, Layout(columns, choice.tree, choice.name, choice.inFile)), choice)
  }

  private def shares(table: Table, files: Int): (Placed, Seq[Double]) = {
    val (placed, choice) = chosen(table, files)
    val read = placed.shares(placed.fileStarts)
    info(s"${choice.name}: ${placed.layout.files} files, " + read.map(s => f"$s%.4f").mkString(" "))
    assert(placed.sizes.max <= 2.0)
    (placed, read)
  }

  private def near(share: Double, expected: Double): Boolean = math.abs(share - expected) <= 0.1 * expected

  /** Files that hold both rows for which `special` holds and others, but for less than 1 % of either. */
  private def mixed(placed: Placed, special: Int => Boolean): Int =
    placed.fileStarts.sliding(2).count { s =>
      val n = (s(0) until s(1)).count(i => special(placed.order(i)))
      n > 0.01 * (s(1) - s(0)) && n < 0.99 * (s(1) - s(0))
    }

  test("a value with 40 % of the rows has files of its own, and the others read near the bound") {
    val table = Table("heavy", Rows)(Table.often(0.4, 500000, wide), wide)
    val (placed, read) = shares(table, 64)
    assert(mixed(placed, table.values(0)(_) == 500000) <= 3)
    assert(read.sum <= 1.12 * placed.bound(64).sum)
  }

  for ((share, files) <- Seq((0.3, 64), (0.9, 64), (0.9, 8), (0.9, 16), (0.92, 8), (0.9, 4)))
    test(f"${share * 100}%.0f %% NULL, $files files: NULLs lie apart, look-ups of values do not read them") {
      for (nullFirst <- Seq(true, false)) {
        val some = Table.often(share, Table.Null, wide)
        val table = if (nullFirst) Table("NULL", Rows)(some, wide) else Table("NULL", Rows)(wide, some)
        val c = if (nullFirst) 0 else 1
        val (placed, read) = shares(table, files)
        assert(mixed(placed, table.isNull(c)(_)) <= 2)
        assert(read(c) <= 1 - share + 1.5 / files)
      }
    }

  test("without a log the Z-order stays, though slices of three columns would read 5 % less on average") {
    val table = Table("three", Rows)(wide, wide, wide)
    val (placed, choice) = chosen(table, 256)
    val (z, _) = chosen(table, 256, "zorder")
    assert(choice.name == "zorder")
    assert(placed.shares(placed.fileStarts) == z.shares(z.fileStarts))
    val costs = choice.candidates.map(c => c.name -> c.files).toMap
    assert(costs("slices") < 0.98 * costs("zorder"))
  }

  test("eight values beside a wide column: each value is apart, the wide column gets what is left") {
    val (_, read) = shares(Table("low cardinality", Rows)(Table.below(8), wide), 64)
    assert(near(read(0), 1.0 / 8) && near(read(1), 1.0 / 8))
  }

  test("correlation .95: auto reads no more than the aligned Z-order") {
    val table = Table.correlated("correlated", Rows, 0.95)
    val (z, _) = chosen(table, 64, "zorder")
    val (_, read) = shares(table, 64)
    assert(read.sum <= z.shares(z.fileStarts).sum)
  }

  test("a constant column is not cut; the other is as if it were alone") {
    val (placed, read) = shares(Table("constant", Rows)(Table.constant(7), wide), 64)
    assert(placed.layout.files == 64)
    assert(read(0) == 1.0 && near(read(1), 1.0 / 64))
  }

  test("more files than distinct values: the rows of a value are spread over its files") {
    val (placed, read) = shares(Table("five keys", Rows)(Table.below(5), Table.constant(0)), 64)
    assert(math.abs(placed.layout.files - 64) <= 3)
    assert(near(read(0), 0.2) && read(1) == 1.0)
  }

  test("one column: a plain sort, 1 / files") {
    val (placed, read) = shares(Table("one", Rows)(wide), 50)
    assert(placed.layout.files == 50)
    assert(near(read(0), 1.0 / 50))
  }

  test("eight columns and 64 files: six of them are halved once, or as good as that") {
    val (placed, read) = shares(Table("eight", Rows)(Seq.fill(8)(wide): _*), 64)
    assert(read.sum <= 1.1 * placed.bound(64).sum)
  }

  test("tiny tables give trees that hold together, whatever the curve") {
    for (rows <- Seq(1, 2, 3, 10, 63); curve <- CurveRegistry.names) {
      val table = Table("tiny", rows)(wide, Table.often(0.5, Table.Null, Table.below(3)))
      val (placed, choice) = chosen(table, 16, curve)
      assert(choice.tree.files >= 1 && choice.tree.files <= 20)
      assert(placed.keys.forall(_ >= 0))
    }
    val none = new RankedSample(Placed.ranked(Table("one", 1)(wide)).scales, Array(Array.empty[Int]))
    assert(AutoChoice.fit(none, noLog, 8, 16, CurveRegistry.builders("auto", 1)).tree.files == 1)
  }

  test("NULLs alone: files of equal size, nothing is read for a look-up") {
    val (placed, read) = shares(Table("NULL", Rows)(Table.constant(Table.Null)), 16)
    assert(placed.layout.files == 16 && read.head == 0.0)
  }

  test("the same sample and log give the same choice") {
    val table = Table("uniform", Rows)(wide, wide, Table.zipf(1.2))
    assert(chosen(table, 64)._2 == chosen(table, 64)._2)
  }

  test("a curve that is not known is an error that names those that are") {
    val e = intercept[IllegalArgumentException](CurveRegistry.builders("peano", 2))
    assert(e.getMessage.contains("auto, zorder, hilbert, lexical, tree"))
  }
}
