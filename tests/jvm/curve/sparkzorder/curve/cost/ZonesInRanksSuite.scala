package sparkzorder.curve.cost

import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{Block, NormalizedLong, Zone}
import sparkzorder.curve.layout.{Scale, ScaleBuilder}

/** Blocks of a table as it is, in ranks: what queries read is what it is in values. */
class ZonesInRanksSuite extends AnyFunSuite {
  test("random zones, unknown ones and NULLs: shares as the slow model has them") {
    val random = new SplittableRandom(11)
    // every value is a point of the scale, so that a rank tells values apart
    val scale = ScaleBuilder.ofLongs(Array.tabulate(4000)(_ / 4L), 100)
    def zone(): Zone = random.nextInt(10) match {
      case 0 => Zone.Unknown
      case 1 => Zone.OnlyNulls
      case _ =>
        val low = random.nextLong(1000)
        Zone.Between(NormalizedLong(low), NormalizedLong(math.min(999L, low + random.nextLong(200))))
    }
    val blocks = IndexedSeq.fill(300)(Block(
      1 + random.nextInt(50).toLong,
      IndexedSeq(zone(), zone()),
      if (random.nextBoolean()) Set(0) else Set.empty[Int]))
    val queries = Seq.fill(300) {
      val low = random.nextLong(1000)
      def condition(): Condition = random.nextInt(4) match {
        case 0 => Condition.equal(NormalizedLong(low))
        case 1 => Condition.between(NormalizedLong(low), NormalizedLong(low + random.nextLong(100)))
        case 2 => Condition.in(Seq(low, random.nextLong(1000)).map(NormalizedLong(_)))
        case _ => Condition.IsNull
      }
      Query(
        IndexedSeq(Conjunction(Map(0 -> condition())), Conjunction(Map(0 -> condition(), 1 -> condition()))),
        1.0)
    }
    val ranked = RankBlocks.ofZones(blocks, IndexedSeq(scale, scale))
    val shares = ranked.shares(RankQueries.of(queries, IndexedSeq(scale, scale)))
    queries.indices.foreach(q =>
      assert(math.abs(shares(q) - QueryCost.share(blocks, queries(q))) < 1e-9, queries(q)))
  }

  test("blocks of more rows than an Int counts: where nothing is known of them, every query reads them all") {
    val scales = IndexedSeq(ScaleBuilder.ofLongs(Array.tabulate(100)(_.toLong), 0))
    val blocks = IndexedSeq.fill(2)(Block(2000000000L, IndexedSeq(Zone.Unknown)))
    val queries = Seq(Condition.equal(NormalizedLong(7)), Condition.IsNull).map(c => Query.of(0 -> c))
    val shares = RankBlocks.ofZones(blocks, scales).shares(RankQueries.of(queries, scales))
    assert(shares.toSeq === Seq(1.0, 1.0))
  }

  test("blocks of a sample, widened, meet a value at an end of a column as those of all rows do; sorted ones stay") {
    val random = new SplittableRandom(12)
    val (files, perFile) = (16, 10000)
    val mixed = Array.fill(files * perFile)(1 + random.nextInt(Scale.One - 1))
    val sorted = mixed.sorted
    def blocks(column: Array[Int], each: Int): RankBlocks = {
      val taken = column.indices.filter(_ % each == 0)
      val starts = (0 to files).map(f =>
        taken.indexWhere(_ >= f * perFile) match {
          case -1 => taken.length
          case at => at
        })
      RankBlocks.of(Array(taken.map(column(_)).toArray), taken.indices.toArray, starts.toArray)
    }
    def share(of: RankBlocks, rank: Int): Double = of.share(new RankQueries(
      Array(Array(new RankRanges(Array(0), Array(Array(rank)), Array(Array(rank)), Array(false)))),
      Array(1.0)))
    for (end <- Seq(Scale.One / 1000, Scale.One - Scale.One / 1000)) {
      assert(share(blocks(mixed, 1), end) === 1.0)
      assert(share(blocks(mixed, 100), end) < 0.5, "or there is nothing to mend")
      assert(share(blocks(mixed, 100).widened(4.0), end) > 0.9)
      assert(share(blocks(sorted, 100).widened(4.0), end) <= 2.0 / files)
    }
    val one = RankBlocks.of(Array(Array(7, 7, 7)), Array(0, 1, 2), Array(0, 3)).widened(4.0)
    assert(share(one, 6) === 0.0 && share(one, 7) === 1.0 && share(one, 8) === 0.0)
    val ends = RankBlocks.of(Array(Array(1, Scale.One - 1)), Array(0, 1), Array(0, 2))
    for (distances <- Seq(2.0, 4.0); rank <- Seq(1, Scale.One - 1))
      assert(share(ends.widened(distances), rank) === 1.0)
  }
}
