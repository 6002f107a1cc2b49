package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.JobWatch

/** A run reads an Iceberg table with all cores, however small the table is beside the limit of a split. */
class ReadSplitsSuite extends AnyFunSuite with IcebergFixture {
  private val mega = 1L << 20

  test("splits are the cores' shares, within the table's limit and not below what opening a file costs") {
    def bytes(lengths: Seq[Long], cores: Int) = ReadSplits.bytes(lengths, cores, 128 * mega, 4 * mega)
    assert(bytes(Seq(60 * mega, 60 * mega), 2) == 60 * mega)
    assert(bytes(Seq(1000 * mega, 1000 * mega), 4) == 128 * mega)
    assert(bytes(Seq(60 * mega, 60 * mega), 200) == 4 * mega)
    // 100 small files count as 4 MB each, as in the filling of splits
    assert(bytes(Seq.fill(100)(1000L), 4) == 100 * mega)
    assert(bytes(Nil, 4) == 4 * mega)
    assert(ReadSplits.bytes(Seq(0L), 1, 128 * mega, 0) == 1)
  }

  test("every core reads: the rows, and the sample before them") {
    val t = create(
      "splits",
      "id BIGINT, a INT, b INT",
      "TBLPROPERTIES ('read.split.open-file-cost' = '1')")
    fill(t, 8000, 8, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    val before = content(t)
    val cores = spark.sparkContext.defaultParallelism
    assert(cores > 1)
    val (row, watch) = JobWatch(spark)(cluster(t, "a, b"))
    assert(status(row) == "DONE" && content(t) == before)
    assert(watch.readingTasks.values.forall(_ >= cores), watch.readingTasks)
    assert(watch.readingTasks.nonEmpty)
  }

  test("a table's smaller limit is kept") {
    val t = create(
      "limited",
      "id BIGINT, a INT, b INT",
      "TBLPROPERTIES ('read.split.open-file-cost' = '1', 'read.split.target-size' = '1')")
    fill(t, 8000, 8, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    val (row, watch) = JobWatch(spark)(cluster(t, "a, b"))
    assert(status(row) == "DONE")
    assert(watch.readingTasks.values.forall(_ == 8), watch.readingTasks)
  }
}
