package sparkzorder.curve.page

import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.LongTest
import sparkzorder.curve.{NormalizedLong, Zone}
import sparkzorder.curve.build.{AlignedZ, Placed, Table}
import sparkzorder.curve.layout.{InFileOrder, LongScale, PageSides, Scale, ScaleBuilder}

class PageTreeSuite extends AnyFunSuite {
  private val random = new SplittableRandom(3)

  private def scale(values: Array[Long], nulls: Int): LongScale = {
    val sorted = values.clone()
    java.util.Arrays.sort(sorted)
    ScaleBuilder.ofLongs(sorted, nulls).asInstanceOf[LongScale]
  }

  /** Ranks of columns with many or few values and NULLs, and what pages are cut by. */
  private def columns(rows: Int): (Array[Array[Int]], PageSides) = {
    val made = Array.fill(1 + random.nextInt(4)) {
      val distinct = Array(2L, 30L, 1L << 30)(random.nextInt(3))
      val values = Array.fill(rows)(random.nextLong(distinct))
      val isNull = Array.fill(rows)(random.nextInt(5) == 0)
      val own = scale(values.indices.filterNot(isNull(_)).map(values(_)).toArray, isNull.count(n => n))
      (own, values.indices.map(i => if (isNull(i)) 0 else own.rank(values(i))).toArray)
    }
    (made.map(_._2), PageSides.of(made.map(_._1: Scale), InFileOrder.Hilbert).get)
  }

  /** The same tree by sorting: rows by rank, equal ones as they come. */
  private def reference(
      ranks: Array[Array[Int]],
      sides: PageSides,
      pageRows: Double,
      groupPages: Int): Seq[Int] = {
    val n = ranks(0).length
    val choice = new CutChoice(ranks, sides)
    def cut(rows: Seq[Int], first: Int, end: Int): Seq[Int] =
      if (end - first <= 1) rows
      else {
        val half = (first + end) / 2
        val borders = (first + 1 until end).filter(_ % groupPages == 0)
        val middle = if (borders.isEmpty) half else borders.minBy(b => math.abs(b - half))
        def start(page: Int) = math.min(n.toLong, math.round(page * pageRows)).toInt
        val left = start(middle) - start(first)
        if (left == 0 || left == rows.length)
          cut(rows.take(left), first, middle) ++ cut(rows.drop(left), middle, end)
        else {
          val by = ranks(choice.column(rows.toArray, 0, rows.length, left))
          val (l, r) = rows.sortBy(by(_)).splitAt(left)
          cut(l.sorted, first, middle) ++ cut(r.sorted, middle, end)
        }
      }
    cut(0 until n, 0, PageTree.pages(n, pageRows))
  }

  private def tree(
      ranks: Array[Array[Int]],
      sides: PageSides,
      pageRows: Double,
      groupPages: Int = Int.MaxValue): Seq[Int] = {
    val order = Array.range(0, ranks(0).length)
    PageTree.arrange(order, 0, order.length, ranks, sides, pageRows, groupPages)
    order.toSeq
  }

  test("selection makes the same tree as sorting, with ties, NULLs, fractions of rows and row groups") {
    for (_ <- 1 to 200) {
      val n = 2 + random.nextInt(3000)
      val (ranks, sides) = columns(n)
      val pageRows = if (random.nextBoolean()) 1.0 + random.nextInt(n) else 1.5 + random.nextDouble() * n
      val groupPages = if (random.nextBoolean()) Int.MaxValue else 1 + random.nextInt(9)
      assert(tree(ranks, sides, pageRows, groupPages) === reference(ranks, sides, pageRows, groupPages))
    }
  }

  test("only the rows of the file are moved, and inside a page they keep their order") {
    val (ranks, sides) = columns(1000)
    val order = Array.range(0, 1000)
    PageTree.arrange(order, 200, 900, ranks, sides, 100.0)
    assert(order.take(200).toSeq === (0 until 200) && order.drop(900).toSeq === (900 until 1000))
    order.slice(200, 900).grouped(100).foreach(page => assert(page.toSeq === page.sorted.toSeq))
    assert(order.sorted.toSeq === (0 until 1000))
  }

  test("the n-th of many ranks, whatever they are") {
    val selection = new RankSelection
    val kinds = Seq[Int => Int](
      _ => random.nextInt(1 << 30),
      _ => 7,
      i => i,
      _ => random.nextInt(3),
      i => if (i == 0) (1 << 30) - 1 else random.nextInt(50))
    for (kind <- kinds; n <- Seq(1, 2, 64, 65, 5000)) {
      val ranks = Array.tabulate(n)(kind)
      val place = random.nextInt(n)
      assert(selection.nth(ranks.clone(), n, place) === ranks.sorted.apply(place))
    }
  }

  test("a page is no longer in a column for a value that it holds whole") {
    val values = Array.tabulate(1000)(i => if (i < 500) 1L else i.toLong)
    val own = scale(values, 0)
    val sides = PageSides.of(Array[Scale](own), InFileOrder.Hilbert).get
    val heavy = own.rank(1L)
    assert(math.abs(sides(0, heavy, heavy) / Scale.One - 0.5) < 0.01)
    assert(math.abs(sides(0, own.rank(500L), own.rank(999L)) / Scale.One - 0.5) < 0.01)
    assert(sides(0, Int.MaxValue, -1) === 0.0)
    assert(PageSides.of(Array[Scale](own), InFileOrder.Lexical).isEmpty)
  }

  test("a column that queries prefer is cut more often") {
    val ranks = Array.fill(2)(Array.fill(16000)(1 + random.nextInt((1 << 30) - 1)))
    val scales = ranks.map(r => scale(r.map(_.toLong), 0): Scale)
    def width(column: Int, order: InFileOrder): Double = {
      val sorted = tree(ranks, PageSides.of(scales, order).get, 1000.0)
      sorted.grouped(1000).map { page =>
        val here = page.map(ranks(column)(_))
        (here.max - here.min).toDouble / Scale.One
      }.sum / 16
    }
    val stretched = InFileOrder.Stretched(IndexedSeq(0, 2))
    assert(math.abs(width(0, InFileOrder.Hilbert) - 0.25) < 0.03)
    assert(math.abs(width(0, stretched) - 0.5) < 0.03 && math.abs(width(1, stretched) - 0.125) < 0.03)
  }

  test("pages of even size where all files have as many, else as large as they may be") {
    assert(PagePlan.rows(Seq(45006.0), 20000) === 15903)
    assert(PagePlan.rows(Seq(45006.0, 30000.0), 20000) === 20000)
    assert(PagePlan.rows(Seq(45006.0, 41000.0), 20000) === 15903)
    assert(PagePlan.rows(Seq(15000.0), 20000) === 20000)
    assert(PagePlan.rows(Seq(39900.0), 20000) === 20000)
  }

  test("row groups of even size, of whole pages, where all files have as many; else of the usual size") {
    def counted(files: Seq[Double], rowGroupRows: Double) = PagePlan.counted(files, 20000, rowGroupRows)
    // one row group a file: pages as without row groups, and a limit that no file reaches
    assert(counted(Seq(45006.0), 1e6) === PageCut(15903, 63 * 15903, counted = true))
    assert(counted(Seq(65000.0), 6e4) === PageCut(17225, 4 * 17225, counted = true))
    // files of a million rows, usual row groups of 600,000: two of 27 pages
    assert(counted(Seq(1e6), 6e5) === PageCut(19630, 27 * 19630, counted = true))
    assert(counted(Seq(1e6, 3e5), 6e5) === PageCut(20000, 6e5, counted = true))
    assert(counted(Seq(1e7), 6e5) === PageCut(20000, 6e5, counted = true))
    assert(counted(Nil, 6e5) === PageCut(20000, 6e5, counted = true))
    // no page without a row, nor a row group
    assert(counted(Seq(1e6), 0.5) === PageCut(1, 1, counted = true))
    assert(counted(Seq(100.0), Double.MaxValue).rowGroupRows <= Int.MaxValue)
    assert(counted(Seq(1e6), 6e5).groupPages === 27 && PageCut(100, 1000).groupPages === Int.MaxValue)
  }

  test("row groups do not shrink or grow from one rewrite to the next") {
    val random = new SplittableRandom(4)
    for (_ <- 1 to 1000) {
      val files = Seq(1000 + random.nextDouble() * 1e7)
      val first = PagePlan.counted(files, 1 + random.nextInt(20000), 1000 + random.nextDouble() * 1e7)
      val again = PagePlan.counted(files, first.pageRows.toInt, first.rowGroupRows)
      // a page more at most, as both are whole numbers
      assert(
        math.abs(again.rowGroupRows - first.rowGroupRows) <= 2 * first.pageRows + 1,
        s"$files $first $again")
    }
  }

  test("a file of several row groups: those are boxes, and their pages are") {
    val ranks = Array.fill(2)(Array.fill(16000)(1 + random.nextInt((1 << 30) - 1)))
    val sides = PageSides.of(ranks.map(r => scale(r.map(_.toLong), 0): Scale), InFileOrder.Hilbert).get
    val sorted = tree(ranks, sides, 250.0, groupPages = 16)
    def read(rows: Int): Double = sorted.grouped(rows).map { block =>
      ranks.map(r => (block.map(r(_)).max - block.map(r(_)).min).toDouble / Scale.One).sum / 2 * rows / 16000
    }.sum
    assert(read(4000) < 0.52 && read(250) < 0.14)
  }

  /** Pages that look-ups read, over the bound for as many pages. */
  private def overBound(columns: Int, rows: Int, files: Int, pageRows: Int): Double = {
    val table = Table(s"uniform $columns", rows)(Seq.fill(columns)(Table.below(1L << 30)): _*)
    val placed = Placed(table, files, AlignedZ, 100000)
    val starts = placed.paged(pageRows)
    val ratio = placed.shares(starts).sum / placed.bound(starts.length - 1).sum
    info(f"$columns columns, $files files, ${starts.length - 1} pages: $ratio%.3f x the bound")
    ratio
  }

  for (columns <- 2 to 4)
    test(s"$columns uniform columns in 64 files: pages <= 1.10 x the bound") {
      assert(overBound(columns, 300000, 64, 500) <= 1.10)
    }

  test("boxes of 1 % of each of two columns read at least 20 % fewer pages than along the curve") {
    val values = 1L << 30
    val placed = Placed(Table("uniform", 300000)(Seq.fill(2)(Table.below(values)): _*), 64, AlignedZ, 100000)
    val corners = Seq.fill(4000)(Seq.fill(2)(random.nextLong(values - values / 100)))
    def read(starts: Array[Int]): Int = {
      val pages = starts.sliding(2).map(s => (0 to 1).map(placed.zone(_, s(0), s(1)))).toSeq
      corners.map { corner =>
        pages.count(_.zip(corner).forall {
          case (Zone.Between(NormalizedLong(min), NormalizedLong(max)), low) =>
            min <= low + values / 100 && max >= low
          case _ => false
        })
      }.sum
    }
    val curve = read(placed.pageStarts(500))
    val tree = read(placed.paged(500))
    info(f"${1 - tree / curve.toDouble}%.3f fewer")
    assert(tree <= 0.8 * curve)
  }

  for (pageRows <- Seq(20000, 2000); columns <- 2 to 3)
    test(s"a million rows of $columns columns in 4 files, $pageRows rows a page: <= 1.08 x", LongTest) {
      assert(overBound(columns, 1000000, 4, pageRows) <= 1.08)
    }
}
