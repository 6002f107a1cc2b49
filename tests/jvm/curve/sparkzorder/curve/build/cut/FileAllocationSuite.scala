package sparkzorder.curve.build.cut

import org.scalatest.funsuite.AnyFunSuite

class FileAllocationSuite extends AnyFunSuite {

  /** All rows of a sample, which are to become so many files. */
  private def cell(rows: Int, files: Int, target: Double): SampleCell = {
    val sample = new RankedSample(IndexedSeq.empty, Array(new Array[Int](rows)))
    SampleCell.root(sample, IndexedSeq.empty, Array.range(0, rows), files, target, 0)
  }

  test("fewer sampled rows than files: the load is a fraction of a row") {
    assert(cell(50, 64, 50.0 / 64).load(25, 32) == 1.0)
  }

  test("few sampled rows a file: bounds hold for the mean rows a file, not for its whole part") {
    // the other side has 50 rows in 10 files, so the mean of the table
    assert(!FileAllocation.alike(cell(79 + 50, 20, 5.0), 79, 10))
    assert(FileAllocation.alike(cell(39 + 50, 20, 5.0), 39, 10))
  }
}
