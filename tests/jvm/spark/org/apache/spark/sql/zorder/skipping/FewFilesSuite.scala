package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import sparkzorder.LongTest

/**
 * How few files a query opens, in each format and on each line: of 256 files that we have laid out, and of 1,000 files
 * with an id in no order. The limits are those of `benchmarks/peers/queries.py`, whose tables are larger.
 */
trait FewFiles extends SkippedScans { this: AnyFunSuite =>

  /** A table of the rows, with a file for each partition of them; returns its name in statements. */
  protected def made(dir: Path, name: String, rows: DataFrame): String

  /** After a run: formats keep bounds by themselves. */
  protected def withBounds(dir: Path, table: String): Unit = ()

  protected def indexed(dir: Path, table: String, clause: String): Unit = {
    val _ = one(s"ZORDER INDEX $table $clause")
  }

  /** Each query opens so many files at most; their answers are those of a session that skips nothing. */
  private def few(what: String, most: Int, queries: Seq[String]): Unit = {
    val files = queries.map(q => opens(spark.sql(q)))
    info(s"$what: ${files.mkString(", ")} files")
    assert(files.forall(f => f > 0 && f <= most), what)
  }

  test("of 256 files, the first rows of an order, a list of values and a star join open few", LongTest) {
    withTempDir { dir =>
      quick {
        // one file holds the first hundred rows
        val sales = made(
          dir,
          "sales",
          spark.range(0, 256 * 110, 1, 4).selectExpr(
            "pmod(hash(id), 20000) * 1L customer",
            "pmod(hash(id, 7), 20000) * 1L product",
            "id"))
        val run = s"ZORDER TABLE $sales BY (customer, product) WITH (fileCount = 256, force = true)"
        assert(status(one(run)) === "DONE")
        withBounds(dir, sales)
        assert(opens(spark.sql(s"SELECT id FROM $sales WHERE abs(id) < 5")) === 256)
        few(
          "ORDER BY ... LIMIT 100",
          16,
          Seq("customer", "product").map(c => s"SELECT $c FROM $sales ORDER BY $c DESC LIMIT 100"))
        few(
          "five values",
          80,
          Seq("customer", "product").map(c =>
            s"SELECT id FROM $sales WHERE $c IN (17, 4955, 9804, 14750, 19971)"))
        val customers =
          made(dir, "customers", spark.range(0, 20000, 1, 4).selectExpr("id customer", "id % 4000 segment"))
        few(
          "a star join",
          90,
          Seq(s"SELECT id FROM $sales s JOIN $customers c ON s.customer = c.customer WHERE segment = 7"))
      }
    }
  }

  test("of 1,000 files, an id that is in one of them opens three at most", LongTest) {
    withTempDir { dir =>
      quick {
        // 20011 is a prime, so that no two rows have one id; each file has small ids and large ones
        def id(row: Long): Long = row * 8249 % 20011
        val events = made(
          dir,
          "events",
          spark.range(0, 10000, 1, 1000).selectExpr("id * 8249 % 20011 event", "id"))
        indexed(dir, events, "WITH (bloom = 'event', bloomBudget = '1000%')")
        // a scan of all files takes longer than all of these
        val files = (0L until 10000L by 499L).map { row =>
          val df = spark.sql(s"SELECT id FROM $events WHERE event = ${id(row)}")
          assert(df.collect().map(_.getLong(0)).toSeq === Seq(row))
          opened(df)
        }
        info(s"${files.mkString(", ")} files")
        assert(files.forall(f => f > 0 && f <= 3))
      }
    }
  }
}

/** Plain Parquet with our index. */
class FewFilesSuite extends AnyFunSuite with FewFiles {

  override protected def made(dir: Path, name: String, rows: DataFrame): String = {
    rows.write.parquet(dir.resolve(name).toString)
    s"parquet.`${dir.resolve(name)}`"
  }

  override protected def withBounds(dir: Path, table: String): Unit = indexed(dir, table, "")

  override protected def indexed(dir: Path, table: String, clause: String): Unit = {
    aged(dir)
    super.indexed(dir, table, clause)
  }
}
