package org.apache.spark.sql.zorder.clustering.fit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.curve.layout.{Cut, CutTree, Layout, Leaf}
import sparkzorder.mark.SameOnAllLines

@SameOnAllLines
class LayoutJsonSuite extends AnyFunSuite {
  private val random = new SplittableRandom(7)

  private def strings(rows: Int)(f: => String): SampleColumn =
    BytesSample(Array.fill(rows)(f.getBytes(UTF_8)), Array.fill(rows)(random.nextInt(20) == 0))

  private def longs(rows: Int)(f: => Long): SampleColumn =
    LongSample(Array.fill(rows)(f), Array.fill(rows)(random.nextInt(20) == 0))

  private def columns(n: Int) = (0 until n).map(i => FitColumn(s"c$i", "BIGINT"))

  private def sample(rows: Int): Sample = Sample(Vector(
    longs(rows)(random.nextLong()),
    strings(rows)("https://example.org/some/path/" + random.nextInt(10000000)),
    strings(rows)(
      java.lang.Long.toHexString(random.nextLong()) + "-" + java.lang.Long.toHexString(random.nextLong())),
    longs(rows)(random.nextLong(50))))

  private def keys(sample: Sample, layout: Layout): Seq[Long] = {
    val compiled = layout.compiled
    val ranks = sample.columns.zip(layout.columns).map { case (c, l) => c.ranks(l.scale) }
    (0 until sample.rows).map { i =>
      val row = ranks.map(_(i)).toArray
      val cell = compiled.cell(row)
      compiled.key(cell, compiled.file(cell, i), row, new Array[Int](row.length))
    }
  }

  private def fitted(sample: Sample, files: Int, curve: String): Layout =
    Fit.choose(sample, columns(4), files, curve, Nil, 1.0).layout

  for ((curve, files) <- Seq(("zorder", 64), ("lexical", 50), ("tree", 50), ("auto", 1)))
    test(s"there and back: the same keys for values not seen before: $curve, $files files") {
      val layout = fitted(sample(5000), files, curve)
      val json = LayoutJson.write(layout)
      val again = LayoutJson.read(json)
      assert(LayoutJson.write(again) == json)
      assert(again.tree == layout.tree && again.curve == layout.curve && again.inFile == layout.inFile)
      assert(again.columns.map(c => (c.sql, c.dataType)) == layout.columns.map(c => (c.sql, c.dataType)))
      val others = sample(5000)
      assert(keys(others, again) == keys(others, layout))
      assert(LayoutJson.id(json).matches("[0-9a-f]{16}"))
    }

  test("layouts of one id are not mixed up, and one that is stored under an older, shorter id keeps it") {
    val texts = Seq.fill(2)(LayoutJson.write(fitted(sample(500), 8, "zorder")))
    assert(texts.distinct.length == 2)
    val short = LayoutJson.id(texts.head).take(8)
    def refs = texts.map(LayoutLookUp.stored(short, _))
    assert(refs.map(_.id) == Seq(short, short))
    assert(refs.map(r => LayoutJson.write(r.layout)) == texts)
    // each is parsed once
    assert(refs.zip(refs).forall { case (x, y) => x eq y })
    assert(texts.map(LayoutLookUp.ofJson(_).id) == texts.map(LayoutJson.id))
  }

  test("extreme numbers, empty strings, columns of NULLs come back") {
    val s = Sample(Vector(
      LongSample(Array(Long.MinValue, Long.MaxValue, 0L, -1L), Array.fill(4)(false)),
      BytesSample(Array("", "a", "ab", "").map(_.getBytes(UTF_8)), Array.fill(4)(false)),
      LongSample(new Array[Long](4), Array.fill(4)(true)),
      BytesSample(Array.fill(4)(Array.emptyByteArray), Array.fill(4)(true))))
    val layout = fitted(s, 3, "zorder")
    assert(keys(s, LayoutJson.read(LayoutJson.write(layout))) == keys(s, layout))
  }

  test("four columns, two of them strings, and 10,000 files stay within 1 MB") {
    val layout = fitted(sample(100000), 10000, "zorder")
    val bytes = LayoutJson.write(layout).getBytes(UTF_8).length
    info(s"${layout.files} files, $bytes bytes")
    assert(math.abs(layout.files - 10000) <= 100)
    assert(bytes <= 1000000)
  }

  test("a sort by one string of 4,000 files cuts each of them off") {
    val words = BytesSample(
      Array.fill(100000)(("https://example.org/" + random.nextInt(100000000)).getBytes(UTF_8)),
      new Array[Boolean](100000))
    val layout = Fit.choose(Sample(Vector(words)), columns(1), 4000, "lexical", Nil, 1.0).layout
    def leaves(tree: CutTree): Seq[Int] = tree match {
      case Cut(_, _, left, right) => leaves(left) ++ leaves(right)
      case Leaf(files) => Seq(files)
    }
    val bytes = LayoutJson.write(layout).getBytes(UTF_8).length
    info(s"${layout.files} files, $bytes bytes")
    assert(math.abs(layout.files - 4000) <= 100 && bytes <= 500000)
    assert(leaves(layout.tree).forall(_ == 1))
  }

  test("bad text gives one sentence that quotes none of it") {
    val good = LayoutJson.write(fitted(sample(500), 8, "zorder"))
    val bad = Seq(
      "",
      " ",
      "hello",
      "[]",
      "null",
      "7",
      "{}",
      "{\"version\":1}",
      "{\"version\":\"1\"}",
      "{\"version\":99}",
      "{\"version\":1,\"columns\":[],\"tree\":[-1],\"curve\":\"zorder\",\"inFile\":\"hilbert\"}",
      good.dropRight(10),
      good.replace("\"hilbert\"", "\"peano\""),
      good.replace("\"tree\":[", "\"tree\":[-1,"),
      good.replace("\"tree\":[", "\"tree\":[77,5,"),
      good.replace("\"rows\":[", "\"rows\":[3,"),
      good.replace("\"numbers\":[", "\"numbers\":[5,0,"),
      good.replace("\"nulls\":", "\"nulls\":-"),
      good.replace("\"tree\":[", "\"tree\":[" + "0,5," * 100000))
    bad.foreach { text =>
      val e = intercept[ZOrderException](LayoutJson.read(text))
      val message = e.getMessage
      assert(!message.contains('\n') && message.length < 250, message)
      assert(
        Set("ZORDER_INVALID_LAYOUT.NOT_READABLE", "ZORDER_INVALID_LAYOUT.VERSION").contains(e.condition),
        message)
    }
  }
}
