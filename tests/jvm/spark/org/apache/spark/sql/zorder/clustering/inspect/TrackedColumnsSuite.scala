package org.apache.spark.sql.zorder.clustering.inspect

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.clustering.request.RunStatistics
import org.apache.spark.sql.zorder.stats.{FileFooter, FileSchema, LeafNumbers, RowGroup}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{Block, NormalizedBytes, NormalizedLong, NormalizedValue, Zone}
import sparkzorder.curve.cost.{ShareRead, SortedValues}
import sparkzorder.mark.SameOnAllLines

/** Which columns a run samples along with those that it clusters by. */
@SameOnAllLines
class TrackedColumnsSuite extends AnyFunSuite {

  private def footer(zones: Zone*): FileFooter = FileFooter(
    DataFile("f", 1, 1, ""),
    100,
    "",
    Map.empty,
    FileSchema(IndexedSeq.empty, new StructType(), Nil, Nil),
    nulls = LeafNumbers.Empty,
    values = LeafNumbers.Empty,
    bytes = LeafNumbers.Empty,
    rawBytes = LeafNumbers.Empty,
    codecBytes = Map.empty,
    rowGroups = IndexedSeq(RowGroup(100, 1, 0, 1, zones.toIndexedSeq, Set.empty)),
    encrypted = false)

  private def between(a: Long, b: Long): Zone = Zone.Between(NormalizedLong(a), NormalizedLong(b))
  private def text(a: String, b: String): Zone =
    Zone.Between(NormalizedBytes(a.getBytes), NormalizedBytes(b.getBytes))

  test("columns that files skip by, the best first; not those in no order, constant, NULL or unknown") {
    val footers = (0 until 10).map { i =>
      footer(
        between(i * 100L, i * 100L + 99), // in order
        between(i, 99999L - i), // in no order: all ends differ
        text(f"key-$i%03d0", f"key-${i + 4}%03d9"), // each file overlaps others
        between(7, 7),
        Zone.OnlyNulls,
        Zone.Unknown)
    }
    assert(TrackedColumns.skippedBy(footers, 0 to 5) === Seq(0, 2))
    assert(TrackedColumns.skippedBy(footers, 1 to 1).isEmpty)
  }

  test("words inside a range, numbers and strings, the whole range of longs too") {
    def inside(min: NormalizedValue, max: NormalizedValue): Unit = {
      val found = Seq(0.125, 0.5, 0.875).map(Probes.between(min, max, _))
      assert((min +: found :+ max).sliding(2).forall(w => w.head <= w.last), found)
    }
    inside(NormalizedLong(3), NormalizedLong(3))
    inside(NormalizedLong(-5), NormalizedLong(1000))
    inside(NormalizedLong(Long.MinValue), NormalizedLong(Long.MaxValue))
    inside(NormalizedBytes("abc".getBytes), NormalizedBytes("abd".getBytes))
    inside(NormalizedBytes("".getBytes), NormalizedBytes(Array.fill(20)(0xff.toByte)))
    assert(Probes.between(NormalizedLong(0), NormalizedLong(100), 0.5) === NormalizedLong(50))
  }

  test("look-ups of a large file's values count as its rows do, beside those of many small files") {
    val small = (0 until 200).map(i => (10L, between(1000000L + 10 * i, 1000009L + 10 * i)))
    val files = (100000L, between(0, 999999)) +: small
    // nearly all rows are in the large file, and nearly all files are small
    val exact = files.map { case (rows, _) => rows.toDouble * rows }.sum / math.pow(102000, 2)
    val probes = Probes.byRows(files)
    assert(math.abs(ShareRead.of(files, SortedValues.of(probes)) - exact) < 0.02)
    assert(math.abs(probes.length - 4 * files.length) <= 1)
    assert(Probes.byRows(small) === small.flatMap { case (_, zone) => Probes.of(zone) })
    assert(Probes.byRows(Nil).isEmpty && Probes.byRows(Seq((0L, Zone.OnlyNulls))).isEmpty)
  }

  test(
    "points of a file lie inside its box and at unlike places of it; other files hold them by all columns") {
    val (days, keys) = (between(0, 80), between(100, 180))
    val points = Probes.points(IndexedSeq(days, keys)).map(_.map {
      case NormalizedLong(v) => v; case _ => -1L
    })
    assert(points === Seq(Seq(10L, 130L), Seq(30L, 150L), Seq(50L, 170L), Seq(70L, 110L)))
    assert(Probes.points(IndexedSeq(days, Zone.Unknown)).isEmpty)
    def holds(zones: Zone*): Int =
      Probes.points(IndexedSeq(days, keys)).count(Block(1, zones.toIndexedSeq).mayHold(_))
    assert(holds(days, keys) === 4 && holds(between(30, 50), keys) === 2)
    assert(holds(between(30, 50), between(151, 200)) === 1 && holds(between(81, 90), keys) === 0)
    assert(holds(days, Zone.Unknown) === 4 && holds(days, Zone.OnlyNulls) === 0)
  }

  test("nested fields and partition columns; what is asked for comes before what is not") {
    val schema =
      StructType.fromDDL("a INT, s STRUCT<x: INT, y: ARRAY<INT>>, m MAP<INT, INT>, z INT, p STRING")
    val found = RunStatistics.of(schema, Seq("p"), Nil, Set("z"), 3)
    assert(found.columns.map(_.path) === Seq(Seq("z"), Seq("a"), Seq("s", "x")))
    assert(found.clustering === 0 && found.bases === 0 && found.otherNumbers === (0 until 3))
    assert(RunStatistics.of(
      schema,
      Seq("p"),
      Nil,
      Set("z"),
      1000000).columns.map(_.path) === Seq(Seq("z")))
  }
}
