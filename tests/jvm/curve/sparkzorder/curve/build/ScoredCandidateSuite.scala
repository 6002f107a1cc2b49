package sparkzorder.curve.build

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.InFileOrder

/** When a layout may take the place of another, on shares that are given. */
class ScoredCandidateSuite extends AnyFunSuite {
  private val four = new RankQueries(Array.fill(4)(Array.empty), Array.fill(4)(1.0))

  private def judged(files: Double, pages: Double, lookUps: Double*): ScoredCandidate =
    new ScoredCandidate(
      "some",
      InFileOrder.Hilbert,
      Array.fill(4)(files),
      Array.fill(4)(pages),
      lookUps.toIndexedSeq,
      four)

  private val z = judged(0.2, 0.1, 0.25, 0.125)

  test("costs less by the part that is asked for, and reads no more files") {
    assert(judged(0.18, 0.09).replaces(z, 0.9) && !judged(0.18, 0.091).replaces(z, 0.9))
    assert(!judged(0.21, 0.01).replaces(z, 0.9))
  }

  test("no column pays for the others: one that reads 2 % more may, one that reads more may not") {
    assert(judged(0.1, 0.1, 0.01, 0.1275).sparesColumns(z, 1.02))
    assert(!judged(0.1, 0.1, 0.01, 0.1276).sparesColumns(z, 1.02))
    assert(!judged(0.1, 0.1, 0.26, 0.01).sparesColumns(z, 1.02))
    assert(judged(0.1, 0.1, 1.0, 1.0).sparesColumns(z, Double.PositiveInfinity))
  }

  test("a column of NULLs, which no look-up reads, does not pay") {
    val alone = judged(0.2, 0.1, 0.0, 0.1)
    assert(judged(0.1, 0.1, 0.0, 0.1).sparesColumns(alone, 1.02))
  }

  test("a gain counts in standard errors of its mean; the same gain of all queries is sure") {
    def of(files: Double*) =
      new ScoredCandidate("some", InFileOrder.Hilbert, files.toArray, files.toArray, IndexedSeq.empty, four)
    val same = of(0.4, 0.4, 0.4, 0.4)
    // gains .1 .1 .1 -.1: mean .05, weights of a quarter, so the error is sqrt(4 * (1/16) * .0075)
    assert(math.abs(of(0.3, 0.3, 0.3, 0.5).surely(same) - 0.05 / math.sqrt(0.001875)) < 1e-9)
    assert(of(0.3, 0.3, 0.3, 0.3).surely(same) > 1e6)
    assert(same.surely(same) == 0.0 && of(0.5, 0.5, 0.5, 0.5).surely(same) == 0.0)
  }
}
