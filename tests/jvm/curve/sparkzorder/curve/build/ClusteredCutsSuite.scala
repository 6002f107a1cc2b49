package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite

/** Rows in clusters, whose gaps are not where halves end. */
class ClusteredCutsSuite extends AnyFunSuite {
  private val Rows = 60000
  private val SampleRows = 30000

  /** The mean share that look-ups read of the whole table; layouts are fitted on a sample of it. */
  private def read(table: Table, files: Int, layout: LayoutBuilder): Double = {
    val placed = Placed(table, files, layout, SampleRows)
    placed.shares(placed.fileStarts).sum / table.columns
  }

  test("what is chosen is as good as the best k-d tree, with cuts at thirds or without") {
    val zipf = Table("zipf 1.2, 3 columns", Rows)(Seq.fill(3)(Table.zipf(1.2)): _*)
    val towns = Seq(Table.towns(Rows, 5L, 40), Table.towns(Rows, 6L, 5))
    for (table <- towns ++ Seq(zipf, Table.correlated("correlation .9", Rows, 0.9), Table.named(Rows).head)) {
      val best = KdTrees.all.map(read(table, 64, _)).min
      assert(read(table, 64, AlignedZ) <= 1.01 * best, table.name)
    }
  }

  test("rows in clusters gain from cuts at thirds and from cuts that count for all columns") {
    val gains = for (seed <- 1L to 4L; files <- Seq(32, 100)) yield {
      val table = Table.towns(Rows, seed, 12)
      math.log(read(table, files, AlignedZ) / read(table, files, KdTrees.halves))
    }
    assert(math.exp(gains.sum / gains.size) < 0.97)
  }
}
