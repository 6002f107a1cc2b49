package sparkzorder.curve.layout

import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

class CompiledLayoutSuite extends AnyFunSuite {
  private val random = new SplittableRandom(3)

  private def scale(n: Int, nulls: Int): Scale =
    ScaleBuilder.ofLongs(Array.tabulate(n)(_.toLong), nulls)

  private def layout(tree: CutTree, columns: Int, inFile: InFileOrder = InFileOrder.Hilbert): CompiledLayout =
    new CompiledLayout(Array.fill(columns)(scale(5000, 500)), tree, inFile)

  private def randomTree(columns: Int, box: Seq[RankSpan], depth: Int): CutTree = {
    val c = random.nextInt(columns)
    if (depth == 0 || box(c).width < 4 || random.nextInt(8) == 0) Leaf(if (random.nextInt(6) == 0) 3 else 1)
    else {
      val rank = box(c).from + 1 + random.nextInt(box(c).width - 1)
      Cut(
        c,
        rank,
        randomTree(columns, box.updated(c, RankSpan(box(c).from, rank)), depth - 1),
        randomTree(columns, box.updated(c, RankSpan(rank, box(c).until)), depth - 1))
    }
  }

  private def slowCell(tree: CutTree, ranks: Array[Int]): (Int, Int, Int) = {
    def leaves(t: CutTree): Int = t match {
      case Leaf(_) => 1
      case Cut(_, _, l, r) => leaves(l) + leaves(r)
    }
    def walk(t: CutTree, cell: Int, file: Int): (Int, Int, Int) = t match {
      case Leaf(n) => (cell, file, n)
      case Cut(c, rank, l, r) =>
        if (ranks(c) < rank) walk(l, cell, file) else walk(r, cell + leaves(l), file + l.files)
    }
    walk(tree, 0, 0)
  }

  for (columns <- Seq(1, 2, 3, 8); order <- Seq(InFileOrder.Hilbert, InFileOrder.Lexical))
    test(s"cell, file and key against a slow walk of random trees: $columns columns, ${order.name}") {
      for (_ <- 0 until 20) {
        val tree = randomTree(columns, Seq.fill(columns)(RankSpan(0, Scale.One)), 8)
        val compiled = layout(tree, columns, order)
        val scratch = new Array[Int](columns)
        for (_ <- 0 until 500) {
          val ranks =
            Array.fill(columns)(if (random.nextInt(10) == 0) 0 else 1 + random.nextInt(Scale.One - 1))
          val (cell, file, spread) = slowCell(tree, ranks)
          assert(compiled.cell(ranks) == cell)
          assert(compiled.fileOf(cell) == file && compiled.spreadOf(cell) == spread)
          val chosen = compiled.file(cell, random.nextInt())
          assert(chosen >= file && chosen < file + spread)
          val key = compiled.key(cell, chosen, ranks, scratch)
          assert(key >= 0 && compiled.fileOfKey(key) == chosen)
        }
      }
    }

  test("keys put rows into the order of the files") {
    val tree = randomTree(2, Seq.fill(2)(RankSpan(0, Scale.One)), 10)
    val compiled = layout(tree, 2)
    val keys = Seq.fill(3000) {
      val ranks = Array.fill(2)(random.nextInt(Scale.One))
      val cell = compiled.cell(ranks)
      val file = compiled.file(cell, random.nextInt())
      (compiled.key(cell, file, ranks, new Array[Int](2)), file)
    }.sorted
    assert(keys.map(_._2) == keys.map(_._2).sorted)
  }

  test("a single file, and a single cell of many files") {
    for (files <- Seq(1, 2, 1000)) {
      val compiled = layout(Leaf(files), 2)
      val ranks = Array(5, 7)
      assert(compiled.cell(ranks) == 0)
      val seen = (-5000 to 5000).map(compiled.file(0, _)).toSet
      assert(seen == (0 until files).toSet)
      assert(compiled.file(0, Int.MinValue) >= 0)
    }
  }

  test("more than 2^16 files: file numbers survive the key") {
    def balanced(from: Int, until: Int, depth: Int): CutTree =
      if (depth == 0) Leaf(1)
      else {
        val mid = (from + until) / 2
        Cut(0, mid, balanced(from, mid, depth - 1), balanced(mid, until, depth - 1))
      }
    val tree = balanced(0, Scale.One, 17)
    val compiled = layout(tree, 2)
    assert(compiled.files == 1 << 17)
    for (_ <- 0 until 1000) {
      val ranks = Array(random.nextInt(Scale.One), random.nextInt(Scale.One))
      val cell = compiled.cell(ranks)
      assert(cell == ranks(0) >> 13)
      val key = compiled.key(cell, compiled.file(cell, 0), ranks, new Array[Int](2))
      assert(key >= 0 && compiled.fileOfKey(key) == cell)
    }
  }

  test("a column that is constant in the data drops out: the rest is a sort") {
    val constant = ScaleBuilder.ofLongs(Array.fill(1000)(4L), 0)
    val compiled = new CompiledLayout(Array(constant, scale(1000, 0), constant), Leaf(1), InFileOrder.Hilbert)
    val keys = (0 until 1000).map { v =>
      val ranks = Array(compiled.rank(0, 4L), compiled.rank(1, v.toLong), compiled.rank(2, 4L))
      compiled.key(0, 0, ranks, new Array[Int](3))
    }
    assert(keys == keys.sorted && keys.distinct.length == 1000)
  }

  test("lexical keys: the first column decides, as exactly as its ranks; up to 60 columns") {
    for (columns <- Seq(2, 8, 60)) {
      val compiled = layout(Leaf(1), columns, InFileOrder.Lexical)
      for (_ <- 0 until 500) {
        val a = Array.fill(columns)(1 + random.nextInt(Scale.One - 1))
        val b = Array.fill(columns)(1 + random.nextInt(Scale.One - 1))
        val (x, y) =
          (compiled.key(0, 0, a, new Array[Int](columns)), compiled.key(0, 0, b, new Array[Int](columns)))
        assert(x >= 0 && y >= 0)
        if (a(0) - b(0) > 128) assert(x > y)
        if (b(0) - a(0) > 128) assert(x < y)
      }
    }
  }

  test("60 columns along the curve: keys stay within their bits") {
    val compiled = layout(Cut(0, Scale.One / 2, Leaf(1), Leaf(1)), 60)
    for (_ <- 0 until 500) {
      val ranks = Array.fill(60)(random.nextInt(Scale.One))
      val cell = compiled.cell(ranks)
      val key = compiled.key(cell, cell, ranks, new Array[Int](60))
      assert(key >= 0 && compiled.fileOfKey(key) == cell)
    }
  }

  test("neighbours along the curve: consecutive rows of a file differ little in every column") {
    val compiled = new CompiledLayout(Array.fill(2)(scale(64, 0)), Leaf(1), InFileOrder.Hilbert)
    val points = for (x <- 0 until 64; y <- 0 until 64) yield {
      val ranks = Array(compiled.rank(0, x.toLong), compiled.rank(1, y.toLong))
      (compiled.key(0, 0, ranks, new Array[Int](2)), x, y)
    }
    assert(points.map(_._1).distinct.length == 64 * 64)
    points.sorted.sliding(2).foreach { p =>
      assert(math.abs(p(0)._2 - p(1)._2) + math.abs(p(0)._3 - p(1)._3) == 1)
    }
  }
}
