package org.apache.spark.sql.zorder.insight.brief

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.Steps
import sparkzorder.mark.SameOnAllLines

/** `ZORDER AUDIT` and `ZORDER HISTORY`: the figures of the long rows, without a struct. */
@SameOnAllLines
class BriefRowsSuite extends AnyFunSuite with RunFixture with Steps {
  private def rows(statement: String): Seq[Row] = spark.sql(statement).collect().toSeq

  private def flat(row: Row): Boolean =
    row.toSeq.forall(v => !v.isInstanceOf[Row] && !v.isInstanceOf[scala.collection.Iterable[_]])

  test("a row for the table, one for each column, one for each run and column") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).repartitionByRange(16, col("id")).write.parquet(path.toString)
      step("the audit, the whole first") {
        val found = rows(s"ZORDER AUDIT '$path' BY (a, b)")
        val long = spark.sql(s"SELECT * FROM clustering_information('$path', 'a, b')").head()
        assert(found.map(_.getAs[String]("column")) === Seq(null, "a", "b") && found.forall(flat))
        val whole = found.head
        assert(Seq("verdict", "reason", "statement").forall(n =>
          whole.getAs[String](n) == long.getAs[String](n)))
        val levels = list(long, "levels").filter(_.getAs[String]("level") == "file")
        Seq("now" -> "look_up_share", "bound" -> "look_up_bound", "depth" -> "average_depth").foreach {
          case (short, full) => assert(found.map(_.getAs[Any](short)) === levels.map(_.getAs[Any](full)))
        }
        val record = new ObjectMapper().readTree(whole.getAs[String]("record"))
        assert(record.path("levels").size === list(long, "levels").size)
      }
      step("a dry run and a run as rows: the run first, then its columns, with the figures of the one row") {
        def figures(row: Row): Seq[Any] =
          Seq("before", "forecast", "measured", "bound").map(n => row.get(row.fieldIndex(n)))
        val statement = s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 16) DRY RUN"
        val one = spark.sql(statement).head()
        val found = rows(s"$statement AS ROWS")
        assert(found.map(r => (r.getAs[String]("status"), r.getAs[String]("column"))) ===
          Seq(("DRY_RUN", null), (null, "a"), (null, "b")) && found.forall(flat))
        assert(found.tail.map(figures) === list(one, "columns").map(_.getAs[Row]("files").toSeq))
        val mean = found.tail.map(_.getAs[Double]("forecast")).sum / 2
        assert(found.head.getAs[Double]("forecast") === mean && figures(found.head)(2) == null)
        assert(found.head.getAs[String]("reason") === one.getAs[String]("reason"))
        val record = new ObjectMapper().readTree(found.head.getAs[String]("record"))
        assert(record.path("metrics").path("targetFiles").asInt === 16)
        val small = rows(s"ZORDER TABLE '$path' BY (a) DRY RUN AS ROWS")
        assert(small.map(_.getAs[String]("status")).head === "TOO_SMALL")
      }
      step("no run: no row; a run: its columns") {
        assert(rows(s"ZORDER HISTORY '$path'").isEmpty)
        val run = done(zorder(path, "BY (a, b) WITH (fileCount = 16)"))
        val found = rows(s"ZORDER HISTORY '$path'")
        assert(found.map(_.getAs[String]("column")) === Seq("a", "b") && found.forall(flat))
        assert(found.map(_.getAs[Double]("measured")) === Seq(0, 1).map(share(run, _, "files", "measured")))
        assert(found.map(r => r.isNullAt(r.fieldIndex("record"))) === Seq(false, true))
        assert(found.map(_.getAs[String]("status")) === Seq("DONE", "DONE"))
      }
      step("columns of the last run, and what is not understood") {
        assert(rows(s"ZORDER AUDIT '$path'").map(_.getAs[String]("column")) === Seq(null, "a", "b"))
        val refused = intercept[Exception](spark.sql(s"ZORDER HISTORY '$path' BY (a)")).getMessage
        assert(refused.contains("expected ZORDER HISTORY table"), refused)
      }
    }
  }

  test("partitions stand below the columns") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).selectExpr("*", "id % 2 AS p").write.partitionBy("p").parquet(path.toString)
      val found = rows(s"ZORDER AUDIT '$path' BY (a)")
      assert(found.map(r => (r.getAs[String]("partition"), r.getAs[String]("column"))) ===
        Seq((null, null), (null, "a"), ("p=0", null), ("p=1", null)))
    }
  }
}
