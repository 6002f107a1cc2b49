package sparkzorder.curve.layout

import org.scalatest.funsuite.AnyFunSuite

class InFileOrderSuite extends AnyFunSuite {
  private val scale = ScaleBuilder.ofLongs(Array.tabulate(4096)(_.toLong), 0)
  private val columns = IndexedSeq("a", "b").map(LayoutColumn(_, "BIGINT", scale))

  test("an order is made again from its name") {
    val orders = Seq(InFileOrder.Hilbert, InFileOrder.Lexical, InFileOrder.Stretched(IndexedSeq(0, 3, 12)))
    assert(orders.map(_.name) == Seq("hilbert", "lexical", "hilbert 0 3 12"))
    assert(orders.map(o => InFileOrder.named(o.name)) == orders)
  }

  test("a name that is none is an error that quotes it") {
    for (name <- Seq("peano", "hilbert ", "hilbert x", "hilbert 123", "Hilbert"))
      assert(intercept[IllegalArgumentException](InFileOrder.named(name)).getMessage.contains(name))
  }

  test("a sort takes the values of strings that are too many for ranks of their own, and else the ranks") {
    def strings(n: Int) = ScaleBuilder.ofBytes(Array.tabulate(n)(i => f"$i%06d".getBytes), 0, 1)
    def byValues(scale: Scale, order: InFileOrder) =
      Layout(columns :+ LayoutColumn("s", "STRING", scale), Leaf(1), "lexical", order).sortsByValues
    assert(byValues(strings(5000), InFileOrder.Lexical))
    assert(!byValues(strings(500), InFileOrder.Lexical) && !byValues(strings(5000), InFileOrder.Hilbert))
    assert(!byValues(scale, InFileOrder.Lexical))
  }

  test("a layout wants one number of bits a column") {
    val e = intercept[IllegalArgumentException](
      Layout(columns, Leaf(1), "zorder", InFileOrder.Stretched(IndexedSeq(1))))
    assert(e.getMessage.contains("one number of bits a column"))
  }

  test("stretched by k bits, a column is halved k times before the other") {
    for (k <- 0 to 4) {
      val layout = Layout(columns, Leaf(1), "zorder", InFileOrder.Stretched(IndexedSeq(0, k))).compiled
      val scratch = new Array[Int](2)
      val keys = for (a <- 0 until 4096 by 64; b <- 0 until 4096 by 64)
        yield (layout.key(0, 0, Array(layout.rank(0, a.toLong), layout.rank(1, b.toLong)), scratch), b)
      // the first 2^-k of the curve holds one slice of the second column
      val first = keys.sortBy(_._1).take(keys.length >> k).map(_._2)
      assert(first.max - first.min < (4096 >> k) + 64)
    }
  }
}
