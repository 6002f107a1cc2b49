package sparkzorder.curve.cost

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.LongTest
import sparkzorder.curve.build.{AlignedZ, Lexical, Placed, Table}

class BoundSuite extends AnyFunSuite {
  private val Rows = 400

  private def bound(blocks: Double, mass: Double*): Array[Double] =
    Bound.perColumn(
      mass.map(Array.fill(Rows)(_)).toArray,
      mass.map(_ => new Array[Boolean](Rows)).toArray,
      blocks)

  private def near(a: Double, b: Double): Boolean = math.abs(a - b) < 1e-9

  test("without heavy values: blocks^(-1/d) on every column") {
    for (d <- 1 to 8; blocks <- Seq(1.0, 2.0, 50.0, 64.0, 10000.0))
      bound(blocks, Seq.fill(d)(1e-9): _*).foreach(b => assert(near(b, math.pow(blocks, -1.0 / d))))
  }

  test("a column of few values costs their share, and the others gain the room") {
    val b = bound(64, 1.0 / 3, 1e-9)
    assert(near(b(0), 1.0 / 3) && near(b(1), 3.0 / 64))
    val c = bound(64, 0.5, 0.5, 1e-9)
    assert(near(c(0), 0.5) && near(c(2), 4.0 / 64))
    assert(bound(1000, 1.0, 1.0).sameElements(Array(1.0, 1.0)))
    assert(near(bound(64, 1.0, 1e-9)(1), 1.0 / 64))
  }

  test("no rows, one block, more blocks than keys") {
    assert(Bound.perColumn(
      Array(Array.empty[Double]),
      Array(Array.empty[Boolean]),
      64).sameElements(Array(0.0)))
    assert(Bound.perColumn(Array.empty, Array.empty, 64).isEmpty)
    assert(near(bound(1, 1e-9, 1e-9)(0), 1.0))
    assert(near(bound(1e9, 0.1)(0), 0.1))
  }

  test("a column of NULLs alone costs nothing and takes nothing from the other") {
    val b = Placed.bound(Table("one all NULL", 5000)(Table.constant(Table.Null), Table.below(1L << 40)), 64)
    assert(b(0) == 0.0 && math.abs(b(1) - 1.0 / 64) < 0.001)
  }

  test("rows with a NULL are left out") {
    val b = Placed.bound(Table("half NULL", 5000)(Table.often(0.5, Table.Null, Table.below(1L << 40))), 64)
    assert(math.abs(b(0) - 1.0 / 64) < 0.001)
  }

  test("columns of which each row has one") {
    val odd = Array.tabulate(Rows)(_ % 2 == 1)
    for (blocks <- Seq(1.0, 8.0, 64.0)) {
      val b = Bound.perColumn(Array.fill(2)(Array.fill(Rows)(1e-9)), Array(odd, odd.map(!_)), blocks)
      assert(near(b(0), 1.0 / blocks) && near(b(1), 1.0 / blocks))
    }
  }

  test("no layout that was tried reads less than the bound, on the mean over independent columns", LongTest) {
    for (table <- Table.named(60000) ++ Table.hard(60000)
      if !table.name.startsWith("correlation") && !table.name.contains("NULL");
      files <- Seq(16, 64, 100); builder <- Seq(AlignedZ, Lexical)) {
      val placed = Placed(table, files, builder, 30000)
      val read = placed.shares(placed.fileStarts).sum
      val least = placed.bound(placed.sizes.length).sum
      if (builder == AlignedZ) info(f"${table.name}, $files files: ${read / least}%.3f")
      assert(read >= 0.96 * least, s"${table.name} $files ${builder.name}: $read, bound $least")
    }
  }
}
