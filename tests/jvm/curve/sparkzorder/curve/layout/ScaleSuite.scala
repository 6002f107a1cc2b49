package sparkzorder.curve.layout

import java.nio.charset.StandardCharsets.UTF_8
import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.NormalizedBytes
import sparkzorder.LongTest

class ScaleSuite extends AnyFunSuite {
  private val random = new SplittableRandom(11)

  private def sortedLongs(n: Int)(f: => Long): Array[Long] = {
    val a = Array.fill(n)(f)
    java.util.Arrays.sort(a)
    a
  }

  private val longSamples: Seq[(String, Array[Long])] = Seq(
    "one value" -> Array(5L),
    "all equal" -> Array.fill(1000)(-3L),
    "extremes" -> Array(
      Long.MinValue,
      Long.MinValue,
      -1L,
      0L,
      Long.MaxValue - 1,
      Long.MaxValue,
      Long.MaxValue),
    "only the greatest" -> Array.fill(10)(Long.MaxValue),
    "only the least" -> Array.fill(10)(Long.MinValue),
    "few values" -> sortedLongs(5000)(random.nextLong(40)),
    "few far values" -> sortedLongs(5000)(random.nextLong(40) * (1L << 57) + Long.MinValue),
    "all longs" -> sortedLongs(20000)(random.nextLong()),
    "wide" -> sortedLongs(20000)(random.nextLong(1000000)),
    "skewed" -> sortedLongs(50000)((1.0 / (1e-9 + random.nextDouble() * random.nextDouble())).toLong),
    "heavy ends" -> sortedLongs(20000)(Seq(
      Long.MinValue,
      Long.MaxValue,
      random.nextLong())(random.nextInt(3))),
    "many points" -> sortedLongs(60000)(if (random.nextInt(10) < 9) 2 * random.nextLong(900)
    else random.nextLong(5000)),
    "dense" -> Array.range(0, 5000).map(_.toLong))

  private def neighbours(starts: Array[Long]): Array[Long] = {
    val all = (starts ++ Array(Long.MinValue, Long.MaxValue, 0L) ++ Array.fill(2000)(random.nextLong()))
      .flatMap(v =>
        Seq(v, if (v == Long.MinValue) v else v - 1, if (v == Long.MaxValue) v else v + 1)).distinct
    java.util.Arrays.sort(all)
    all
  }

  for ((name, sample) <- longSamples; nulls <- Seq(0, 3, sample.length + 7, 30 * sample.length + 40))
    test(s"numbers: monotone, above NULL, few bins, rebuilt alike: $name, $nulls NULLs") {
      val scale = ScaleBuilder.ofLongs(sample, nulls).asInstanceOf[LongScale]
      assert(scale.bins <= ScaleSuite.MostBins)
      assert(scale.rows.map(_.toLong).sum == sample.length)
      val again = ScaleBuilder.longScale(scale.starts, scale.rows, scale.nulls)
      var last = 1
      (neighbours(scale.starts) ++ sample).sorted.foreach { v =>
        val rank = scale.rank(v)
        assert(rank >= last && rank < Scale.One, s"rank of $v")
        assert(again.rank(v) == rank)
        last = rank
      }
    }

  test("numbers: a rank is the share of the rows below, within one bin", LongTest) {
    longSamples.foreach { case (name, sample) =>
      val scale = ScaleBuilder.ofLongs(sample, 0).asInstanceOf[LongScale]
      sample.indices.by(7).foreach { i =>
        val v = sample(i)
        val below = sample.count(_ < v).toDouble
        val middle = (below + sample.count(_ == v) / 2.0) / sample.length
        val rank = scale.rank(v).toDouble / Scale.One
        val bin = scale.starts.lastIndexWhere(_ <= v)
        if (bin < scale.bins && scale.isPoint(bin))
          assert(math.abs(rank - middle) < 1e-6 || v >= Long.MaxValue - 1, s"$name $v")
        else assert(math.abs(rank - middle) < 3.0 / 1024 + 1.0 / sample.length, s"$name $v")
      }
    }
  }

  test("numbers: values never sampled fall between their neighbours, outside heavy spans") {
    val sample = Array.fill(400)(10L) ++ Array.fill(200)(20L) ++ Array.fill(400)(30L)
    val scale = ScaleBuilder.ofLongs(sample, 1000).asInstanceOf[LongScale]
    val ranks = Seq(9L, 10L, 11L, 19L, 20L, 21L, 29L, 30L, 31L).map(scale.rank(_).toDouble / Scale.One)
    val wanted = Seq(0.5, 0.6, 0.7, 0.7, 0.75, 0.8, 0.8, 0.9, 1.0)
    ranks.zip(wanted).foreach { case (r, w) => assert(math.abs(r - w) < 1e-6, ranks) }
    val spans = scale.heavy(0.15).map(s => (s.from.toDouble / Scale.One, s.until.toDouble / Scale.One)).toSeq
    val expected = Seq((0.0, 0.5), (0.5, 0.7), (0.8, 1.0))
    assert(spans.length == 3)
    spans.zip(expected).foreach { case ((a, b), (c, d)) =>
      assert(math.abs(a - c) < 1e-6 && math.abs(b - d) < 1e-6)
    }
  }

  test("occupied: only where rows were sampled, NULL included") {
    val scale = ScaleBuilder.ofLongs(Array.fill(50)(1L) ++ Array.fill(50)(9L), 100)
    val half = Scale.One / 2
    assert(scale.occupied(0, half) == RankSpan(0, 1))
    assert(scale.occupied(half, Scale.One / 8 * 6) == RankSpan(Scale.One / 8 * 5, Scale.One / 8 * 5 + 1))
    assert(scale.occupied(half, Scale.One).width == Scale.One / 8 * 2 + 1)
    assert(scale.occupied(1, half).width == 0)
    assert(scale.occupied(Scale.One / 8 * 6, Scale.One / 8 * 6 + 5).width == 0)
  }

  /** A scan over all bins. */
  private def slowOccupied(scale: Scale, from: Int, until: Int): RankSpan = {
    val spans = (0 until scale.bins).filter(scale.rows(_) > 0)
      .map(i => (scale.low(i), math.max(scale.high(i), scale.low(i) + 1)))
      .filter { case (low, end) => low < until && end > from }
      .map { case (low, end) => (math.max(low, from), math.min(end, until)) } ++
      (if (from == 0 && scale.nulls > 0) Seq((0, 1)) else Nil)
    if (spans.isEmpty) RankSpan(from, from) else RankSpan(spans.map(_._1).min, spans.map(_._2).max)
  }

  test("occupied: as a scan over all bins finds it") {
    for ((name, sample) <- longSamples; nulls <- Seq(0, 5, sample.length)) {
      val scale = ScaleBuilder.ofLongs(sample, nulls)
      for (k <- 0 until 60) {
        val from = if (k % 4 == 0) 0 else random.nextInt(Scale.One)
        val width = if (k % 2 == 0) Scale.One - from else math.min(Scale.One - from, 1 << 20)
        val until = from + 1 + random.nextInt(width)
        assert(scale.occupied(from, until) == slowOccupied(scale, from, until), s"$name $from $until")
      }
    }
  }

  test("a column of NULLs: a value that turns up later is not NULL") {
    assert(ScaleBuilder.ofLongs(Array.empty, 10).rank(sparkzorder.curve.NormalizedLong(5)) > 0)
    assert(ScaleBuilder.ofBytes(
      Array.empty[Array[Byte]],
      10,
      1).rank(NormalizedBytes("x".getBytes(UTF_8))) > 0)
    assert(ScaleBuilder.ofLongs(Array.empty, 0).rank(sparkzorder.curve.NormalizedLong(-5)) > 0)
  }

  private def bytes(s: String): Array[Byte] = s.getBytes(UTF_8)

  private val order: Ordering[Array[Byte]] = new Ordering[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = NormalizedBytes.compareBytes(a, b)
  }

  private def word(alphabet: Int, most: Int): Array[Byte] =
    Array.fill(random.nextInt(most + 1))((random.nextInt(alphabet) * (255 / math.max(
      1,
      alphabet - 1))).toByte)

  private val stringSamples: Seq[(String, Array[Array[Byte]])] = Seq(
    "one" -> Array(bytes("a")),
    "empty string" -> Array.fill(20)(bytes("")),
    "empty and one" -> Array(bytes(""), bytes("a")),
    "prefixes of each other" -> Array.tabulate(3000)(n => Array.fill(n % 300)(0.toByte)),
    "few" -> Array.fill(3000)(bytes("k" + random.nextInt(50))),
    "long common prefix" -> Array.fill(20000)(
      bytes("https://example.org/a/very/long/path/" + random.nextInt(1000000))),
    "random bytes" -> Array.fill(20000)(word(256, 12)),
    "two letters" -> Array.fill(20000)(word(2, 9)),
    "heavy" -> Array.fill(20000)(if (random.nextInt(3) == 0) bytes("m") else word(256, 5)))

  for ((name, sample) <- stringSamples; nulls <- Seq(0, sample.length + 7))
    test(s"strings: monotone, above NULL, few bins, rebuilt alike: $name, $nulls NULLs") {
      val sorted = sample.sorted(order)
      val scale = ScaleBuilder.ofBytes(sorted, nulls, 1).asInstanceOf[BytesScale]
      assert(scale.bins <= ScaleSuite.MostBins)
      assert(scale.rows.sum == sample.length)
      assert(scale.starts.sliding(2).forall(p => p.length < 2 || order.lt(p(0), p(1))))
      val again = ScaleBuilder.bytesScale(scale.starts, scale.point, scale.rows, scale.nulls)
      val around = scale.starts.flatMap { s =>
        Seq(s, s :+ 0.toByte, s :+ (-1).toByte, s.dropRight(1)) ++
          (if (s.isEmpty) Nil else Seq(s.init :+ (s.last - 1).toByte, s.init :+ (s.last + 1).toByte))
      }
      val probes = (around ++ Array.fill(500)(word(256, 6)) ++ sorted.take(2000)).sorted(order)
      var last = 1
      probes.foreach { v =>
        val rank = scale.rank(v)
        assert(rank >= last && rank < Scale.One)
        assert(again.rank(v) == rank)
        assert(rank == slowRank(scale, v))
        last = rank
      }
    }

  test("strings of many files have two bins a file, and as many as there are values at most") {
    val sorted = Array.fill(20000)(word(256, 12)).sorted(order)
    def bins(files: Int) = ScaleBuilder.ofBytes(sorted, 0, files).bins
    assert(bins(1) == bins(512) && bins(1) <= 1025)
    assert(bins(3000) > 4200 && bins(3000) <= 6001)
    assert(bins(Int.MaxValue) == sorted.map(_.toSeq).distinct.length)
  }

  private def slowRank(scale: BytesScale, v: Array[Byte]): Int = {
    val bin = scale.starts.lastIndexWhere(s => order.lteq(s, v))
    val rank = if (bin < 0) Scale.rankOf(scale.nulls.toLong, scale.sampled) else scale.low(bin)
    math.max(1, math.min(Scale.One - 1, rank))
  }

  test("separators are the shortest strings above the one and not above the other") {
    for (_ <- 0 until 5000) {
      val pair = Seq(word(3, 5), word(3, 5)).sorted(order)
      if (order.lt(pair(0), pair(1))) {
        val s = ScaleBuilder.separator(pair(0), pair(1))
        assert(order.lt(pair(0), s) && order.lteq(s, pair(1)))
        assert(s.isEmpty || order.lteq(s.init, pair(0)))
      }
    }
  }
}

object ScaleSuite {

  /** No sample makes more bins. */
  val MostBins = 4096
}
