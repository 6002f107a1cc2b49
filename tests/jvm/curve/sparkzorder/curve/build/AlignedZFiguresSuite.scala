package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.LongTest

/** What look-ups read, on the whole table, against the bound: the figures of docs/spec.md, section 2. */
class AlignedZFiguresSuite extends AnyFunSuite {
  private val Rows = 300000

  private def figures(table: Table, files: Int): Figures = {
    val placed = Placed(table, files, AlignedZ, 100000)
    val pages = placed.pageStarts((Rows / files / 3.4).toInt)
    val f = Figures(
      placed.layout.files,
      ratios(placed.shares(placed.fileStarts), placed.bound(files)),
      ratios(placed.shares(pages), placed.bound(pages.length - 1)))
    info(f"$files files: ${f.files}, ${pages.length - 1} pages: ${f.pages}")
    f
  }

  private case class Ratios(each: Seq[Double], mean: Double) {
    override def toString: String = each.map(x => f"$x%.3f").mkString(" ") + f" mean $mean%.3f"
  }

  private case class Figures(count: Int, files: Ratios, pages: Ratios)

  /** Values that are heavier than a file or two leave a file more or less than asked for. */
  private def assertCount(table: Table, f: Figures, files: Int): Unit =
    if (table.name.startsWith("zipf")) assert(math.abs(f.count - files) <= 2, table.name)
    else assert(f.count == files, table.name)

  private def ratios(shares: Seq[Double], bound: Array[Double]): Ratios =
    Ratios(shares.indices.map(c => shares(c) / bound(c)), shares.sum / bound.sum)

  for (table <- Table.named(Rows))
    test(s"${table.name}: 64 files, each column <= 1.15 x bound, pages <= 1.35 x") {
      val f = figures(table, 64)
      assertCount(table, f, 64)
      assert(f.files.each.max <= 1.15)
      assert(f.pages.each.max <= 1.35)
    }

  for (table <- Table.named(Rows))
    test(s"${table.name}: 50 files, mean <= 1.12 x bound, each <= 1.35 x", LongTest) {
      val f = figures(table, 50)
      assertCount(table, f, 50)
      assert(f.files.mean <= 1.12)
      assert(f.files.each.max <= 1.35)
      assert(f.pages.mean <= 1.35)
    }

  for (files <- Seq(32, 100)) test(s"$files files: mean <= 1.15 x bound") {
    Table.named(60000).foreach { table =>
      val f = figures(table, files)
      assertCount(table, f, files)
      assert(f.files.mean <= 1.15, table.name)
    }
  }

  test("a heavy value, few keys, dependence, many columns: the mean stays near the bound", LongTest) {
    Table.hard(60000).filterNot(t => Set("all NULL", "97 % NULL in both", "NULL in both")(t.name)).foreach {
      table =>
        assert(figures(table, 64).files.mean <= 1.12, table.name)
    }
  }
}
