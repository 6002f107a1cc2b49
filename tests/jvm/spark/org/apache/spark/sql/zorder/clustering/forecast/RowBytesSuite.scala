package org.apache.spark.sql.zorder.clustering.forecast

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.clustering.fit.{LongSample, Sample}
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, RunStatistics}
import org.apache.spark.sql.zorder.stats.{
  FileFooter,
  FileSchema,
  LeafColumn,
  LeafNumbers,
  RowGroup,
  StatColumn
}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, Zone}
import sparkzorder.mark.SameOnAllLines

/** Bytes of a row in a shuffle, by the bounds of its columns. */
@SameOnAllLines
class RowBytesSuite extends AnyFunSuite {
  private val text =
    Zone.Between(NormalizedBytes("customer/0001".getBytes), NormalizedBytes("customer/0999".getBytes))
  private val zones = Map[Seq[String], Seq[Zone]](
    Seq("n") -> Seq(Zone.Between(NormalizedLong(0), NormalizedLong(1000)), Zone.Unknown),
    Seq("t") -> Seq(text))

  private def of(packed: Boolean, fields: (String, DataType)*): Double =
    new RowBytes(zones, _ => 10.0, packed).of(fields)

  test("not compressed: eight bytes a field, NULL bits, the length, strings in whole words") {
    assert(of(packed = false, "n" -> IntegerType) === 12.0 + 8)
    assert(of(packed = false, "n" -> LongType, "t" -> StringType) === 12.0 + 8 + 8 + 16)
    assert(of(packed = false, "s" -> new StructType().add("n", IntegerType)) === 12.0 + 8 + 12 + 8)
  }

  test("a sampled row has values of full length, at least as long as they are in files without bounds") {
    val row = new RowBytes(zones, _ => 500.0, packed = false)
    assert(row.ofColumn(Seq("t"), StringType) === 500.0)
    assert(new RowBytes(zones, _ => 4.0, packed = false).ofColumn(Seq("t"), StringType) === 24.0)
    assert(row.ofColumn(Nil, StringType) === 24.0)
  }

  test("the sample is limited by rows, values and bytes") {
    assert(Sampling.wanted(files = 10, columns = 2, rowBytes = 20) === 200000)
    assert(Sampling.wanted(files = 1000, columns = 2, rowBytes = 20) === 2000000)
    assert(Sampling.wanted(files = 100000, columns = 2, rowBytes = 20) === 4000000)
    assert(Sampling.wanted(files = 100000, columns = 8, rowBytes = 64) === 2000000)
    // urls, and texts of which a few are enough
    assert(Sampling.wanted(files = 2000, columns = 1, rowBytes = 280) === (256 << 20) / 280)
    assert(Sampling.wanted(files = 10, columns = 1, rowBytes = 8192) === 32768)
  }

  private val statistics =
    RunStatistics(Seq(StatColumn(Seq("t"), StringType)), clustering = 1, bases = 0)

  /** Of a thousand rows with one leaf, of which no bounds are known. */
  private def footer(rawBytes: Long): FileFooter = {
    val leaf = LeafColumn(Seq("t"), Seq("t"), "BINARY", "STRING", None, 1, 0, legacyShape = false)
    FileFooter(
      DataFile("f", 1, 1, ""),
      rows = 1000,
      createdBy = "",
      keyValues = Map.empty,
      FileSchema(IndexedSeq(leaf), new StructType(), Nil, Nil),
      nulls = LeafNumbers(Seq(0L)),
      values = LeafNumbers(Seq(1000L)),
      bytes = LeafNumbers(Seq(20000L)),
      rawBytes = LeafNumbers(Seq(rawBytes)),
      codecBytes = Map.empty,
      rowGroups = IndexedSeq(RowGroup(1000, 20000, 0, rawBytes, IndexedSeq(Zone.Unknown), Set.empty)),
      encrypted = false)
  }

  test("long texts count as they are sampled, however well files compress them, of new rows, too") {
    val column = ClusterColumn("t", AttributeReference("t", StringType)(), Some(Seq("t")))
    def held(wanted: Long): Long =
      Sampling.withinMemory(wanted, Seq(column), Seq(footer(rawBytes = 10000000)), statistics)
    assert(held(4000000) === (256 << 20) / 10000 && held(100000) === (256 << 20) / 10000)
    assert(held(20000) === 20000)
  }

  test("a nested column of less than a byte a row costs what it has") {
    val list = ArrayType(IntegerType)
    val column = ClusterColumn("t", AttributeReference("t", list)(), Some(Seq("t")))
    def sampled(rawBytes: Long): Double =
      CostForecast.ofSampledRow(Seq(footer(rawBytes)), Seq(column), statistics)
    assert(math.abs(sampled(900) - sampled(0) - 2.7) < 1e-9)
  }

  test("one share for all partitions, and more of one whose rows are few for its files") {
    // 100 GB of clicks, and 2 GB of documents
    val wide = Sampling.shares(1040000, IndexedSeq(1000000000L, 1000L), IndexedSeq(512, 8))
    assert(wide === Seq(1040000.0 / 1000001000, 1.0))
    val alike = Sampling.shares(400000, IndexedSeq(1000000L, 3000000L), IndexedSeq(100, 100))
    assert(alike === Seq(0.1, 0.1))
    val rows = IndexedSeq(1000000L, 50000L)
    val shares = Sampling.shares(400000, rows, IndexedSeq(100, 100))
    assert(shares(1) * rows(1) === 0.2 * 400000 / 200 * 100)
    // but no more than 100,000 rows in all
    assert(Sampling.shares(4000000, IndexedSeq(4000000000L, 400000L), IndexedSeq(1000, 1000))(1) === 0.125)
    assert(Sampling.shares(200000, IndexedSeq(0L, 400000L), IndexedSeq(1, 1)) === Seq(0.5, 0.5))
  }

  test("the recorded share is the one that the rows are filtered by") {
    for (share <- Seq(1e-12, 1.9e-6, 0.3, 1.0)) {
      val taken = Sampling.taken(share)
      val hashes = taken * (1 << 30)
      assert(hashes === hashes.toInt.toDouble && hashes >= 1.0)
      assert(math.abs(taken - share) <= 1.0 / (1 << 30))
    }
  }

  test("of all partitions together, values are drawn at the same share") {
    val sample = Sample(IndexedSeq(LongSample(Array.tabulate(1000)(_.toLong), new Array[Boolean](1000))))
    val sampled = SampledPartitions(IndexedSeq(sample, sample), IndexedSeq(0.01, 1.0))
    assert(sampled.ofTable.rows === 500 + 5)
    assert(sampled.rowsPerRow(0) === 100.0 && sampled.rowsPerRow(1) === 1.0)
  }

  test("compressed: what differs, and a few bytes for what does not") {
    assert(of(packed = true, "n" -> IntegerType) === 3.0 + 5)
    assert(of(packed = true, "unknown" -> DoubleType) === 3.0 + 8)
    assert(of(packed = true, "t" -> StringType) === 3.0 + 3 + (13 - (10 - 3)))
    assert(of(packed = true, "a" -> ArrayType(IntegerType)) === 3.0 + 4 + 30)
  }
}
