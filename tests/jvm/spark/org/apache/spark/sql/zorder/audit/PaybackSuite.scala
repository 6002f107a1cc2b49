package org.apache.spark.sql.zorder.audit

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.zorder.run.RunFixture
import org.apache.spark.sql.zorder.skip.scan.{ScanBytes, TimedScan}

/** Whether a run paid: what real scans read before it and after it. */
class PaybackSuite extends AnyFunSuite with RunFixture {

  private def payback(path: Path): Seq[Row] =
    spark.sql(s"SELECT * FROM clustering_payback('$path')").collect().toSeq

  private def long(row: Row, name: String): Long = row.getAs[Long](name)

  /** Files and bytes that the scans of look-ups read, by Spark's own metrics. */
  private def lookUps(path: Path): (Long, Long) = {
    val read = (0 until 10).map { i =>
      val query = spark.read.parquet(path.toString).where(s"a = ${100 * i + 7}")
      query.collect()
      val scan = query.queryExecution.executedPlan.collectFirst { case s: FileSourceScanExec => s }.get
      (scan.metrics("numFiles").value, scan.metrics("filesSize").value)
    }
    (read.map(_._1).sum, read.map(_._2).sum)
  }

  test("scans before a run and after it, by Spark's own metrics, beside what the run wrote") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(8000).repartition(16).write.parquet(path.toString)
      // entries of files that have only just been written are not trusted
      Files.list(path).forEach(f => {
        val _ = f.toFile.setLastModified(System.currentTimeMillis() - 3600000)
      })
      assert(payback(path).map(_.toString) === Seq("[null,null,null,null,0,0,0,0,0,null,null,null]"))
      spark.sql(s"ZORDER INDEX '$path'").collect()
      val before = lookUps(path)
      val run = done(zorder(path, "BY (a, b) WITH (fileCount = 16)"))
      Files.list(path).filter(_.toString.endsWith(".parquet"))
        .forEach(f => { val _ = f.toFile.setLastModified(System.currentTimeMillis() - 3600000) })
      spark.sql(s"ZORDER REFRESH INDEX '$path'").collect()
      val after = lookUps(path)
      val rows = payback(path)
      assert(rows.length === 2 && rows.map(long(_, "scans")) === Seq(10, 10), rows)
      Seq(before, after).zip(rows).foreach { case ((files, bytes), row) =>
        assert(long(
          row,
          "files_considered") === 160 && long(row, "files_considered") - long(row, "files_pruned") === files)
        assert(long(row, "bytes_considered") - long(row, "bytes_pruned") === bytes)
      }
      val (first, second) = (rows.head, rows.last)
      assert(first.isNullAt(0) && first.isNullAt(first.fieldIndex("bytes_saved")))
      assert(second.getInt(0) === 1 && long(
        second,
        "bytes_written") === metric[Row](run, "filesAdded").getAs[Long]("totalSize"))
      assert(second.getAs[Double]("pruned_share") > 0.6 && first.getAs[Double]("pruned_share") < 0.1)
      assert(long(
        second,
        "bytes_saved") > 0.6 * long(second, "bytes_considered") - 1 && second.getAs[Boolean]("paid_off"))
    }
  }

  test("each period is compared with the one before it") {
    def scan(at: Long, pruned: Long) = TimedScan(at, 10, pruned / 10, ScanBytes(100, pruned))
    val runs = Seq(PaidRun(1, "x", 1000, 500), PaidRun(3, "y", 2000, 60))
    val rows =
      Payback.rows(runs, Seq(scan(10, 20), scan(999, 0), scan(1000, 90), scan(2500, 80), scan(2600, 20)))
    assert(rows.map(_.get(4)) === Seq(2L, 1L, 2L))
    assert(rows.map(_.get(10)) === Seq(null, 80L, -80L))
    assert(rows.map(_.get(11)) === Seq(null, false, false))
    assert(Payback.rows(runs, Seq(scan(1500, 10), scan(2500, 80))).map(_.get(10)) === Seq(null, null, 70L))
  }
}
