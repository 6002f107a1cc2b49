package org.apache.spark.sql.zorder.table.iceberg

import scala.util.{Failure, Success, Try}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** A table that is larger than a batch: `replace` snapshots of a part of it at a time. */
@SameOnAllLines
class IcebergStepsSuite extends AnyFunSuite with IcebergFixture {
  private val columns =
    Seq("id", "cast(pmod(xxhash64(id, 1), 1000) as int) a", "pmod(xxhash64(id, 2), 100000) b")

  /** Bytes that each snapshot of ours replaced, by its id. */
  private def replaced(table: String): Map[Long, Long] =
    sql(s"SELECT snapshot_id, summary['removed-files-size'] FROM $table.snapshots " +
      "WHERE operation = 'replace'").collect().map(r => r.getLong(0) -> r.getString(1).toLong).toMap

  test(
    "each snapshot replaces a batch at most, a reader of any sees all rows, the files are those of one commit") {
    val t = create("steps", "id BIGINT, a INT, b BIGINT")
    fill(t, 8000, 8, columns: _*)
    val before = content(t)
    val bytes = tasks(t).map(_.file.fileSizeInBytes)
    val limit = bytes.sum / 2
    val first = filesOf(t)
    val row = cluster(t, "a, b", s"WITH (fileCount = 8, force = true, maxBytesInFlight = $limit)")
    assert(status(row) == "DONE" && content(t) == before)
    val metrics = row.getAs[Row]("metrics")
    val steps = replaced(t)
    sql(s"ZORDER ROLLBACK $t").collect()
    assert(filesOf(t) == first && content(t) == before)
    cluster(t, "a, b", s"WITH (fileCount = 8, force = true, maxBytesInFlight = $limit)")
    assert(metrics.getAs[Long]("numBatches") == steps.size && steps.size >= 4)
    assert(steps.values.forall(_ <= limit), steps)
    assert(metrics.getAs[Long]("numFilesAdded") == 8 && tasks(t).size == 8)
    for (snapshot <- steps.keys)
      assert(sql(s"SELECT * FROM $t VERSION AS OF $snapshot").count() == 8000)
    assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
  }

  private val (marked, copied) = ("merge-on-read", "copy-on-write")

  for ((name, statement, version, mode, commits) <- Seq(
      // rows of all files: those of earlier steps, of this one, and those that wait
      ("DELETE by positions", "DELETE FROM <t> WHERE id % 500 = <n>", 2, marked, Seq(1, 5)),
      ("DELETE by vectors", "DELETE FROM <t> WHERE id % 500 = <n>", 3, marked, Seq(1, 5)),
      ("UPDATE, copy-on-write of one file", "UPDATE <t> SET a = -5 WHERE id = <n>", 2, copied, Seq(1, 5)),
      ("UPDATE, copy-on-write of all", "UPDATE <t> SET a = -5 WHERE id % 500 = <n>", 2, copied, Seq(1)),
      ("UPDATE, copy-on-write of all", "UPDATE <t> SET a = -5 WHERE id % 500 = <n>", 2, copied, Seq(5))))
    test(
      s"region by region beside a writer: $name, before commit ${commits.mkString(" and ")}",
      LongTest.unless(version == 3): _*) {
      val t = create("beside", "id BIGINT, a INT, b BIGINT", writing(version, mode))
      fill(t, 8000, 8, columns: _*)
      val limit = tasks(t).map(_.file.fileSizeInBytes).sum / 2
      def run(): Row =
        cluster(t, "a, b", s"WITH (fileCount = 8, force = true, maxBytesInFlight = $limit)")
      var (tried, after) = (0, Seq.empty[String])
      CrashPoint.meanwhile = (place: String) =>
        if (place == "iceberg-commit") {
          tried += 1
          if (commits.contains(tried)) {
            sql(statement.replace("<t>", t).replace("<n>", s"$tried"))
            after = content(t)
          }
        }
      val ended =
        try Try(run())
        finally CrashPoint.meanwhile = (_: String) => ()
      assert(after.nonEmpty && content(t) == after, "rows lost, doubled, or there again")
      val steps = replaced(t).size
      ended match {
        case Success(row) =>
          assert(status(row) == "DONE" && row.getAs[Row]("metrics").getAs[Long]("numBatches") == steps)
          val reason = row.getAs[String]("reason")
          assert(name.endsWith("all") || reason.contains("Others removed or rewrote"), reason)
        case Failure(e: ZOrderConflictException) =>
          assert(e.condition == "ZORDER_CONFLICT.COMMIT_REFUSED" && name.endsWith("all"))
          assert(steps == commits.head - 1, "earlier steps stay")
        case Failure(e) => throw e
      }
      info(ended.fold(_.getMessage.take(60), _.getAs[String]("reason")))
      // what is left to do, and then what the writer has added
      (1 to 2).foreach(_ => run())
      assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO" && content(t) == after)
    }

  test("a column that is widened between two steps: the table gets a new layout", LongTest) {
    val t = create("widened", "id BIGINT, a INT, b BIGINT")
    fill(t, 8000, 8, columns: _*)
    def steps(more: String): Row = {
      val limit = tasks(t).map(_.file.fileSizeInBytes).sum / 2
      cluster(t, "a, b", s"WITH (fileCount = 8, force = true, maxBytesInFlight = $limit$more)")
    }
    assert(status(steps(", maxDuration = '0s'")) == "PARTIAL")
    sql(s"ALTER TABLE $t ALTER COLUMN a TYPE BIGINT")
    val before = content(t)
    val row = steps("")
    assert(status(row) == "DONE" && content(t) == before && tasks(t).size == 8, row.getAs[String]("reason"))
    assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
  }

  test(
    "new files that are more than a batch are merged region by region, or appended, within the limit",
    LongTest) {
    for ((budget, how) <- Seq(100 -> "merged there", 1 -> "of their own")) {
      val t = create("growing", "id BIGINT, a INT, b BIGINT")
      fill(t, 8000, 8, columns: _*)
      cluster(t, "a, b", "WITH (fileCount = 8, force = true)")
      val first = replaced(t).keySet
      fill(t, 4000, 4, columns: _*)
      val before = content(t)
      val limit = tasks(t).map(_.file.fileSizeInBytes).sum / (if (budget > 1) 2 else 8)
      val row = cluster(t, "a, b", s"WITH (writeBudget = $budget, maxBytesInFlight = $limit)")
      val reason = row.getAs[String]("reason")
      val steps = (replaced(t) -- first).values
      assert(status(row) == "DONE" && reason.contains(how) && reason.contains("In steps of at most"), reason)
      assert(content(t) == before && steps.size >= 3 && steps.forall(_ <= limit), s"$steps of $limit")
      assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
    }
  }
}
