package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.LongTest
import sparkzorder.curve.Zone
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/** Sizes of the files, and that the leaves part the space, on the whole of each table. */
class TreeSuite extends AnyFunSuite {
  private val Rows = 60000
  private val learners = Seq(KdTree, SliceTree, QueryTree, LiteralTree)
  private val tables = Table.named(Rows) ++ Table.hard(Rows)

  private val short =
    Set(
      "uniform",
      "zipf 1.5",
      "30 % NULL in one",
      "40 % heavy",
      "8 values and wide",
      "flags",
      "uniform, 3 columns")

  for (table <- tables)
    test(
      s"no file above 2 x the mean or below a quarter: ${table.name}",
      LongTest.unless(short(table.name)): _*) {
      val plain =
        for (files <- Seq(1, 3, 7, 50, 64, 128); builder <- Seq(AlignedZ, Lexical)) yield (files, builder)
      val learned = for (files <- Seq(7, 64); builder <- learners) yield (files, builder)
      for ((files, builder) <- plain ++ learned) {
        val placed = Placed(table, files, builder, 30000)
        val where = s"${builder.name} $files files"
        val sizes = placed.sizes
        assert(sizes.length == placed.layout.files, where)
        assert(sizes.max <= 2.0, where)
        assert(sizes.min >= 0.25, where)
        assert(math.abs(placed.layout.files - files) <= math.max(2, files / 16), where)
      }
    }

  for (table <- tables) test(s"every row lies in the box of its one cell: ${table.name}") {
    val placed = Placed(table, 50, AlignedZ, 20000)
    val cells = CutTree.cells(placed.layout.tree, table.columns)
    assert(cells.map(_.files).sum == placed.layout.files)
    assert(cells.map(_.firstFile) == cells.map(_.files).scanLeft(0)(_ + _).init)
    (0 until table.rows by 97).foreach { i =>
      val holding = cells.indices.filter(k =>
        (0 until table.columns).forall { c =>
          val r = placed.rankOf(c, i)
          r >= cells(k).box(c).from && r < cells(k).box(c).until
        })
      assert(holding == Seq(placed.cell(i)))
    }
  }

  test("the same sample gives the same tree") {
    tables.foreach { t =>
      val sample = t.sample(20000)
      assert(Placed.fit(sample, 64, AlignedZ).tree == Placed.fit(sample, 64, AlignedZ).tree, t.name)
    }
  }

  test("samples of 0 to 200 rows give trees that hold together") {
    for (rows <- Seq(0, 1, 2, 3, 10, 63, 200); table <- tables; builder <- Seq(AlignedZ, Lexical)) {
      val sample = table.sample(1000).sample(math.max(rows, 1))
      val layout =
        if (rows > 0) Placed.fit(sample, 64, builder)
        else {
          val none = new Table(
            "none",
            table.values.map(_ => Array.empty[Long]),
            table.isNull.map(_ => Array.empty[Boolean]))
          Placed.fit(none, 64, builder)
        }
      val placed = new Placed(table.sample(500), layout)
      assert(placed.keys.forall(_ >= 0))
      assert(layout.files >= 1 && layout.files <= 80)
    }
  }

  test("a heavy value and NULL have cells of their own") {
    val table = Table("heavy", Rows)(
      Table.often(0.4, 500000, Table.often(0.2, Table.Null, Table.below(1000000))),
      Table.below(1000))
    val placed = Placed(table, 64)
    val mixed = placed.fileStarts.sliding(2).count { s =>
      val values = (s(0) until s(1)).map(placed.order(_)).map(i =>
        if (table.isNull(0)(i)) "NULL"
        else if (table.values(0)(i) == 500000) "heavy" else "light").groupBy(identity).map { case (k, v) =>
        k -> v.size
      }
      values.contains("heavy") && values("heavy") < 0.99 * (s(1) - s(0)) ||
      values.contains("NULL") && values("NULL") < 0.99 * (s(1) - s(0))
    }
    // what is left of a value beside its own files may be too little for one more file
    assert(mixed <= 3)
  }

  test("lexical: files and pages are ranges of the first column, of the second within one value") {
    val table = Table("few and wide", Rows)(Table.below(4), Table.below(1000000), Table.below(10))
    val placed = Placed(table, 64, Lexical, 50000)
    assert(placed.layout.inFile == InFileOrder.Lexical)
    val shares = placed.shares(placed.fileStarts)
    assert(math.abs(shares(0) - 0.25) < 0.01)
    assert(math.abs(shares(1) - 4.0 / 64) < 0.01)
    val wide = Table("8 wide columns", Rows)(Seq.fill(8)(Table.below(1000000)): _*)
    val sorted = Placed(wide, 8, Lexical, 50000)
    val pages = sorted.shares(sorted.pageStarts(Rows / 500))
    assert(pages(0) < 0.003) // about 500 pages
  }

  test("look-ups on an all-NULL column read nothing; its zone says so") {
    val placed = Placed(tables.find(_.name == "all NULL").get, 32)
    assert(placed.zone(0, 0, Rows) == Zone.OnlyNulls)
    assert(placed.shares(placed.fileStarts) == Seq(0.0, 0.0))
    assert(placed.sizes.forall(s => s > 0.9 && s < 1.1))
  }

  test("more than 2^16 files") {
    val table = Table("wide", 140000)(Table.below(1L << 40), Table.below(1L << 40))
    val placed = Placed(table, 70000, Lexical, 140000)
    assert(placed.layout.files > 65536)
    assert(placed.keys.forall(_ >= 0))
    assert(placed.keys.map(placed.compiled.fileOfKey).max < placed.layout.files)
  }
}
