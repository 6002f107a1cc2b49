package sparkzorder.curve.cost

import org.scalatest.funsuite.AnyFunSuite

class WorkloadBoundSuite extends AnyFunSuite {
  private val Unlimited = IndexedSeq.fill(8)(30.0)

  private def shape(weight: Double, factors: Factor*) = Shape(factors.toIndexedSeq, weight)
  private def lookUp(column: Int, weight: Double = 1.0) = shape(weight, Factor.equality(column, 0.0))
  private def near(a: Double, b: Double, by: Double = 1e-4) =
    math.abs(a - b) <= by * math.max(1e-9, math.abs(b))

  test("look-ups by d columns alike: blocks^(-1/d), and the bits are shared evenly") {
    for (d <- 1 to 8; blocks <- Seq(1.0, 50.0, 256.0, 10000.0)) {
      val bound = WorkloadBound.of((0 until d).map(lookUp(_)), Unlimited.take(d), blocks)
      assert(near(bound.share, math.pow(blocks, -1.0 / d)), s"$d columns, $blocks blocks")
      assert(bound.bits.forall(b => math.abs(b - math.log(blocks) / math.log(2) / d) < 0.01))
    }
  }

  test("weights: each column costs the same; twice the queries are one more bit") {
    val w = Seq(0.1, 0.2, 0.7)
    val bound = WorkloadBound.of(w.indices.map(c => lookUp(c, w(c))), Unlimited.take(3), 256)
    assert(near(bound.share, 3 * math.cbrt(w.product / 256)))
    assert(math.abs(bound.bits(1) - bound.bits(0) - 1) < 0.01)
    assert(math.abs(bound.bits.sum - 8) < 1e-6)
  }

  test("a column that is hardly asked gets no bit and is named; one that is not asked gets none") {
    val bound = WorkloadBound.of(Seq(lookUp(0), lookUp(1, 1e-4)), Unlimited.take(3), 64)
    assert(bound.unused == Seq(1, 2))
    assert(near(bound.share, (1.0 / 64 + 1e-4) / (1 + 1e-4)))
  }

  test("caps: a column of two values takes one bit, the rest goes to the other; all full: less is cut") {
    val shapes = Seq(lookUp(0), lookUp(1))
    assert(near(WorkloadBound.of(shapes, IndexedSeq(1.0, 30.0), 64).share, (0.5 + 1.0 / 32) / 2))
    assert(near(WorkloadBound.of(shapes, IndexedSeq(1.0, 2.0), 64).share, (0.5 + 0.25) / 2))
  }

  test("a heavy value costs its mass, NULL its share, whatever the layout") {
    val heavy = WorkloadBound.of(Seq(shape(1, Factor.equality(0, 0.4))), Unlimited.take(1), 64)
    assert(heavy.share == 0.4)
    val nulls = WorkloadBound.of(Seq(shape(1, Factor.ofNull(0, 0.3))), Unlimited.take(2), 64)
    assert(near(nulls.share, 0.3))
  }

  test("boxes over all columns follow the surface law") {
    for (d <- 1 to 4; r <- Seq(0.01, 0.1)) {
      val conjunction = shape(1, (0 until d).map(Factor.range(_, r, 0.0)): _*)
      val side = math.pow(256, -1.0 / d)
      assert(near(
        WorkloadBound.of(Seq(conjunction), Unlimited.take(d), 256).share,
        math.pow(side + r * (1 - side), d)))
    }
  }

  test("no better point on a grid of quarter bits") {
    val random = new java.util.SplittableRandom(3)
    for (_ <- 0 until 20) {
      val shapes = Seq.fill(12) {
        val columns = (0 until 3).filter(_ => random.nextBoolean())
        shape(
          random.nextDouble(),
          columns.map { c =>
            if (random.nextBoolean()) Factor.equality(c, random.nextDouble() * 0.05)
            else Factor.range(c, random.nextDouble() * 0.3, 0.0)
          }: _*)
      }
      val bound = WorkloadBound.of(shapes, Unlimited.take(3), 256)
      val grid = for (a <- 0 to 32; b <- 0 to 32 - a) yield {
        val x = Seq(a, b, 32 - a - b).map(quarters => math.pow(2, -quarters / 4.0))
        shapes.map(s => s.weight * s.factors.map(f => f.at(x(f.column))).product).sum / shapes.map(
          _.weight).sum
      }
      assert(bound.share <= grid.min * 1.001)
      assert(bound.share >= grid.min * 0.95)
    }
  }

  test("shapes that are alike are one, in the order in which they come first") {
    val columns = Seq(7, 2, 5, 0, 6, 1, 4, 3)
    assert(
      WorkloadBound.merged((columns ++ columns.sorted).map(lookUp(_))) ==
        columns.map(lookUp(_, weight = 2.0)))
  }

  test("no queries, no columns, no weight: nothing is read") {
    assert(WorkloadBound.of(Nil, Unlimited.take(2), 64).share == 0.0)
    assert(WorkloadBound.of(Nil, IndexedSeq.empty, 64).share == 0.0)
    assert(WorkloadBound.of(Seq(lookUp(0, 0.0)), Unlimited.take(1), 64).share == 0.0)
  }

  test("known queries read what matches, and one block") {
    assert(near(WorkloadBound.floor(Array(0.5, 0.0), Array(1.0, 3.0), 64), (0.5 + 3.0 / 64) / 4))
    assert(WorkloadBound.floor(Array.empty, Array.empty, 64) == 0.0)
  }
}
