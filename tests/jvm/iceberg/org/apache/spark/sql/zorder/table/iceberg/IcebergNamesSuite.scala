package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

/** What is read from Iceberg's file names, and what its writer is told. */
class IcebergNamesSuite extends AnyFunSuite {
  private val uuid = "b18086c5-2830-42a0-b90d-7f1f80244588"

  test("the task that wrote a file, wherever its table keeps files") {
    assert(IcebergWrite.number(s"file:/t/data/00007-28-$uuid-0-00001.parquet") == 7)
    assert(IcebergWrite.number(s"/t/data/day=2026-01-01/00012-0-$uuid-00001.parquet") == 12)
    assert(IcebergWrite.number(s"s3://b/0101/1110/0011/10110010/00003-9-$uuid-0-00002.parquet") == 3)
    // write.object-storage.partitioned-paths=false puts the hash before the name
    assert(IcebergWrite.number(s"s3://b/data/0101/1110/0011/10110010-00003-9-$uuid-0-00001.parquet") == 3)
    intercept[IllegalStateException](IcebergWrite.number("part-00000-x.snappy.parquet"))
  }

  test("options of Parquet's writer by Iceberg's names") {
    assert(
      IcebergWriteProperties.of(Map(
        "parquet.block.size" -> "1",
        "parquet.page.row.count.limit" -> "2",
        "parquet.page.size" -> "6",
        "parquet.bloom.filter.max.bytes" -> "3",
        "parquet.bloom.filter.enabled#s.f" -> "true",
        "parquet.bloom.filter.expected.ndv#s.f" -> "4",
        "compression" -> "lz4raw",
        "unknown" -> "5")) == Map(
        "write.parquet.row-group-size-bytes" -> "1",
        "write.parquet.page-row-limit" -> "2",
        "write.parquet.page-size-bytes" -> "6",
        "write.parquet.bloom-filter-max-bytes" -> "3",
        "write.parquet.bloom-filter-enabled.column.s.f" -> "true",
        "write.parquet.bloom-filter-ndv.column.s.f" -> "4",
        "write.parquet.compression-codec" -> "lz4_raw"))
    // as many bytes of a row group as Iceberg can count
    assert(
      IcebergWriteProperties.of(Map("parquet.block.size" -> (2L << 30).toString)) == Map(
        "write.parquet.row-group-size-bytes" -> Int.MaxValue.toString))
  }
}
