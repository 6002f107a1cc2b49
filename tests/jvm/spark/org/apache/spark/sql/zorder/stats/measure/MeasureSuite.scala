package org.apache.spark.sql.zorder.stats.measure

import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{Block, NormalizedBytes, NormalizedLong, OrderedBits, Zone}
import sparkzorder.curve.cost.Bound
import sparkzorder.mark.SameOnAllLines

/** Depth, shares and bounds: tables computed by hand, and random zones against a slow, plain computation. */
@SameOnAllLines
class MeasureSuite extends AnyFunSuite {

  private def zone(low: Long, high: Long): Zone = Zone.Between(NormalizedLong(low), NormalizedLong(high))

  private def ranked(zones: Zone*): RankedColumn = RankedColumn.of(zones.toIndexedSeq)

  private def level(rows: Seq[Long], columns: Seq[Zone]*): LevelNumbers = {
    val blocks = rows.indices.map(b => Block(rows(b), columns.map(_(b)).toIndexedSeq))
    new LevelMeasure(LevelBlocks.ofFiles(blocks, columns.map(_ => Spacing.Whole).toIndexedSeq)).numbers
  }

  private def near(found: Double, expected: Double): Unit = {
    assert(math.abs(found - expected) < 1e-9, s"$found, not $expected")
    ()
  }

  test("Databend's example: overlaps 6, depths 3, 3, 3, 1") {
    val found = ColumnDepth.of(ranked(zone(1, 2), zone(2, 3), zone(2, 2), zone(4, 5)))
    assert(found.overlaps === 6.0 && found.counts.toSeq === Seq(1 -> 1L, 3 -> 3L) && found.constant === 1)
    assert(found.average === Some(2.5) && found.averageOverlaps === Some(1.5))
    assert(found.p95 === Some(3L) && found.max === Some(3L))
    assert(found.histogram === Seq("00001" -> 1L, "00002" -> 0L, "00003" -> 3L))
  }

  test("Snowflake's buckets: one by one to 16, then doubled; the 95th part of a hundred") {
    val found = Depths.of(0, 0.0, (1 to 100).toArray, _ => 1L, 0.0)
    assert(found.p95 === Some(95L))
    assert(found.histogram.drop(15) === Seq("00016" -> 1L, "00032" -> 16L, "00064" -> 32L, "00128" -> 36L))
    assert(Depths.none.histogram.isEmpty && Depths.none.average.isEmpty && Depths.none.p95.isEmpty)
  }

  test("unknown meets everything but what holds only NULL, which is alone") {
    val found = ColumnDepth.of(ranked(zone(1, 2), zone(5, 9), Zone.Unknown, Zone.OnlyNulls))
    assert(found.overlaps === 4.0 && found.counts.toSeq === Seq(1 -> 1L, 2 -> 3L) && found.constant === 1)
    val nothing = ColumnDepth.of(ranked(Zone.Unknown, Zone.Unknown))
    assert(nothing.overlaps === 2.0 && nothing.counts.toSeq === Seq(2 -> 2L))
    assert(ColumnDepth.of(ranked()).counts.isEmpty)
  }

  test("four files in order: a look-up reads a quarter; in no order, everything") {
    val sorted = level(Seq.fill(4)(100L), Seq(zone(0, 9), zone(10, 19), zone(20, 29), zone(30, 39)))
    near(sorted.joint.reads.lookUp, 0.25)
    near(sorted.joint.reads.range, 0.25)
    near(sorted.joint.reads.lookUpBound, 0.25)
    near(sorted.joint.reads.efficiency.get, 1.0)
    val mixed = level(Seq.fill(4)(100L), Seq.fill(4)(zone(0, 39)))
    near(mixed.joint.reads.lookUp, 1.0)
    near(mixed.joint.reads.lookUpBound, 0.25)
    assert(mixed.joint.depths.counts.toSeq === Seq(4 -> 4L))
  }

  test(
    "a wide file over two narrow ones: three quarters; with an unknown one: more; NULLs are not looked up") {
    val strings = Seq("a" -> "z", "a" -> "m", "n" -> "z").map { case (low, high) =>
      Zone.Between(NormalizedBytes(low.getBytes), NormalizedBytes(high.getBytes))
    }
    // a, m, n and z are the places 0, 12, 13 and 25 times 2^40: between m and n there is only the wide file
    val step = math.pow(2, 40)
    val narrow = 2 * 50.0 * (100 * (12 * step + 1) / (25 * step + 1) + 50) / 200
    near(level(Seq(100, 50, 50), strings).joint.reads.lookUp, (100.0 + narrow) / 200)
    // whole numbers that follow each other have nothing in between
    near(level(Seq(100, 50, 50), Seq(zone(0, 99), zone(0, 49), zone(50, 99))).joint.reads.lookUp, 0.75)
    val unknown = level(Seq(50, 50, 100), Seq(zone(0, 49), zone(50, 99), Zone.Unknown))
    near(unknown.joint.reads.lookUp, 0.75)
    near(level(Seq(50, 50, 100), Seq(zone(0, 49), zone(50, 99), Zone.OnlyNulls)).joint.reads.lookUp, 0.25)
    near(level(Seq(50, 150), Seq(Zone.Unknown, Zone.OnlyNulls)).joint.reads.lookUp, 0.25)
  }

  test("a hundred files in order: each hundredth of the rows is one file; of eight values it is an eighth") {
    val files = (0 until 100).map(i => zone(10L * i, 10L * i + 9))
    near(level(Seq.fill(100)(1000L), files).joint.reads.range, 0.01)
    val eight = level(Seq.fill(96)(1000L), (0L until 96L).map(i => zone(i / 12, i / 12)))
    near(
      eight.joint.reads.range,
      (96 * 1.0 / 8 + 4 * 1.0 / 4) / 100
    ) // a hundredth that has two of the values reads both
    near(eight.joint.reads.lookUp, 0.125)
    near(eight.joint.reads.lookUpBound, 0.125)
    assert(eight.joint.depths.constant === 96)
  }

  test("sixteen tiles of a square: depth 1, a quarter is read of each column, as little as possible") {
    val a = (0 until 16).map(i => zone(10L * (i / 4), 10L * (i / 4) + 9))
    val b = (0 until 16).map(i => zone(10L * (i % 4), 10L * (i % 4) + 9))
    val found = level(Seq.fill(16)(10L), a, b)
    near(found.joint.reads.lookUp, 0.25)
    near(found.joint.reads.lookUpBound, 0.25)
    assert(found.joint.depths.counts.toSeq === Seq(1 -> 16L) && found.joint.depths.overlaps === 0.0)
    assert(found.columns.map(_.depths.counts.toSeq) === Seq(Seq(4 -> 16L), Seq(4 -> 16L)))
    assert(found.joint.depths.error === 0.0)
  }

  test("a column of two values cannot be read by less than a half: the type's range tells it") {
    val flags = Seq.fill(64)(zone(0, 1))
    val others = Seq.fill(64)(zone(0, 1000000))
    val found = level(Seq.fill(64)(10L), flags, others)
    near(found.columns(0).reads.lookUpBound, 0.5)
    near(found.columns(1).reads.lookUpBound, 1.0 / 32)
  }

  test("sampled blocks: values come from all files, so that the share is that of the table") {
    val files = (0 until 100).map(i => Block(100, IndexedSeq(zone(10L * i, 10L * i + 9))))
    val some = files.zipWithIndex.collect { case (f, i) if i % 10 == 0 => f }
    val sampled = LevelBlocks.of(LevelBlocks.RowGroup, some, 10, files, IndexedSeq(Spacing.Whole))
    assert(sampled.estimated === 100)
    val found = new LevelMeasure(sampled).numbers
    near(found.joint.reads.lookUp, 0.01)
    near(found.joint.reads.lookUpBound, 0.01)
  }

  private val random = new SplittableRandom(18)

  private def randomZone(): Zone = random.nextInt(12) match {
    case 0 => Zone.Unknown
    case 1 => Zone.OnlyNulls
    case _ =>
      val low = random.nextInt(30).toLong
      zone(low, low + random.nextInt(1 + random.nextInt(20)))
  }

  private def meets(a: Zone, b: Zone): Boolean = (a, b) match {
    case (Zone.OnlyNulls, _) | (_, Zone.OnlyNulls) => false
    case (Zone.Between(l, h), Zone.Between(m, i)) => l <= i && m <= h
    case _ => true
  }

  test("random zones: depth and overlaps are those of a plain count of pairs and points") {
    (1 to 200).foreach { _ =>
      val zones = IndexedSeq.fill(random.nextInt(25))(randomZone())
      val values =
        zones.collect { case z: Zone.Between => Seq(z.min, z.max) }.flatten.map(w => Zone.Between(w, w))
      val depths = zones.map {
        case Zone.OnlyNulls => 1
        case z => (values.filter(meets(
            _,
            z)).map(v => zones.count(meets(_, v))) :+ zones.count(_ == Zone.Unknown)).max
      }
      val overlaps = zones.indices.map(i =>
        zones.indices.count(j => i != j && meets(zones(i), zones(j)))).sum
      val found = ColumnDepth.of(RankedColumn.of(zones))
      assert(found.overlaps === overlaps.toDouble, zones)
      assert(found.counts.toMap === depths.groupBy(d => d).map(x => x._1 -> x._2.size.toLong), zones)
    }
  }

  test("the middle of a box is one of its values, not of the bounds: wide boxes lie over one another") {
    val wide = (0 until 8).map(i => zone(i.toLong, 1000L - i))
    val found = level(Seq.fill(8)(10L), wide, wide)
    assert(found.joint.depths.counts.toSeq === Seq(8 -> 8L))
  }

  test("random boxes: depth at the middles, overlaps, and the sample of many") {
    (1 to 50).foreach { _ =>
      val n = 1 + random.nextInt(30)
      val boxes = IndexedSeq.fill(n)(IndexedSeq.fill(2)(randomZone()))
      val columns = (0 to 1).map(c => RankedColumn.of(boxes.map(_(c))))
      val found = new MeasuredBlocks(columns)
      def empty(b: Int) = boxes(b).contains(Zone.OnlyNulls)
      val expected = (0 until n).map { b =>
        if (empty(b)) 1
        else (0 until n).count(o =>
          !empty(o) && (0 to 1).forall { c =>
            val at = columns(c).middle(b)
            columns(c).lowPosition(o) <= at && at <= columns(c).highPosition(o)
          })
      }
      val overlaps = (0 until n).map(b =>
        (0 until n).count(o => o != b && (0 to 1).forall(c => meets(boxes(b)(c), boxes(o)(c))))).sum
      assert(found.depths.counts.toMap === expected.groupBy(d => d).map(x => x._1 -> x._2.size.toLong))
      assert((0 until n).exists(empty) || found.depths.overlaps === overlaps.toDouble)
    }
    val many = IndexedSeq.fill(5000)(randomZone())
    val sampled = new MeasuredBlocks(IndexedSeq(RankedColumn.of(many), RankedColumn.of(many)))
    assert(sampled.size === 1000 && sampled.depths.blocks === 5000 && sampled.depths.error > 0.0)
  }

  test("random zones: the share read is the mean over values that are drawn from the files") {
    (1 to 50).foreach { _ =>
      val zones = IndexedSeq.fill(2 + random.nextInt(20))(randomZone())
      val rows = zones.map(_ => 1L + random.nextInt(1000))
      var (sum, weight) = (0.0, 0.0)
      zones.indices.foreach { f =>
        zones(f) match {
          case Zone.Between(NormalizedLong(low), NormalizedLong(high)) => (low to high).foreach { v =>
              val read =
                zones.indices.filter(g => meets(zones(g), zone(v, v))).map(rows(_)).sum.toDouble / rows.sum
              sum += read * rows(f) / (high - low + 1)
              weight += rows(f).toDouble / (high - low + 1)
            }
          case _ =>
        }
      }
      if (weight > 0) near(level(rows, zones).joint.reads.lookUp, sum / weight)
    }
  }

  test(
    "fractions are evenly apart by their values, not by their bits; one value beside a wide range is not lost") {
    def real(x: Double): Zone.Between = {
      val normalized = NormalizedLong(OrderedBits.ofDouble(x))
      Zone.Between(normalized, normalized)
    }
    def reals(low: Double, high: Double): Zone = Zone.Between(real(low).min, real(high).max)
    val zones = IndexedSeq(reals(0.0, 1e6), reals(1e-6, 1e6 - 1), reals(1e-3, 1e6))
    val blocks = zones.map(z => Block(100, IndexedSeq(z)))
    val found = new LevelMeasure(LevelBlocks.ofFiles(blocks, IndexedSeq(Spacing.OfDouble))).numbers
    assert(found.joint.reads.lookUp > 0.99999)
    val mixed = level(Seq(1000000, 1000000), Seq(zone(5, 5), zone(0, 1L << 60)))
    near(mixed.joint.reads.lookUp, (1.0 + 0.5 + 0.5) / 2 - 0.25)
  }

  test("the bound is the runs' own for values that are all different") {
    val n = 64
    val zones = (0 until n).map(_ => zone(0, 1L << 50))
    val found = level(Seq.fill(n)(10L), zones, zones)
    val mass = Array.fill(2, n)(0.0)
    val runs = Bound.perColumn(mass, Array.fill(2, n)(false), n.toDouble)
    near(found.joint.reads.lookUpBound, runs.sum / 2)
  }

  test("several partitions: files of different ones never meet") {
    val one = level(Seq.fill(4)(100L), Seq.fill(4)(zone(0, 39)))
    val other = level(Seq.fill(4)(300L), Seq(zone(0, 9), zone(10, 19), zone(20, 29), zone(30, 39)))
    val both = one ++ other
    assert(both.joint.depths.counts.toSeq === Seq(1 -> 4L, 4 -> 4L) && both.joint.depths.blocks === 8)
    near(both.joint.reads.lookUp, (400 * 1.0 + 1200 * 0.25) / 1600)
  }
}
