package org.apache.spark.sql.zorder.clustering.forecast

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Runs that would gain too little: each says why, and changes nothing. */
@SameOnAllLines
class NoGainSuite extends AnyFunSuite with RunFixture {
  private val small = "WITH (fileCount = 8, pageRowLimit = 500)"

  private def noGain(path: Path, rest: String, words: String*): Unit = {
    val before = dataFiles(path)
    val row = zorder(path, rest)
    assert(status(row) === "NO_GAIN", reason(row))
    words.foreach(w => assert(reason(row).contains(w), reason(row)))
    assert(reason(row).contains("WITH (force = true)") && dataFiles(path) === before)
    assert(list(row, "columns").nonEmpty && list(row, "alternatives").nonEmpty)
  }

  private def table(rows: DataFrame)(body: Path => Unit): Unit = withTempDir { dir =>
    val path = dir.resolve("t")
    rows.write.option("parquet.page.row.count.limit", 500).parquet(path.toString)
    body(path)
  }

  test("a constant column, and one of NULLs") {
    table(numbers(8000).selectExpr("a", "7 one", "cast(null as int) none").repartition(4)) { path =>
      noGain(path, s"BY (one) $small", "Column one holds a single value")
      noGain(path, s"BY (none) $small", "Column none holds NULL alone")
      done(keepsRows(path)(zorder(path, "BY (one) WITH (fileCount = 8, force = true)")))
    }
  }

  test("a type without min and max, and an expression over columns that rule nothing out") {
    withTable("ng_char") {
      spark.sql("CREATE TABLE ng_char (c CHAR(8), id BIGINT) USING parquet")
      numbers(8000).selectExpr("substr(s, 10, 8) c", "b id").repartition(4).write.insertInto("ng_char")
      val row = one(s"ZORDER TABLE ng_char BY (c) $small")
      assert(status(row) === "NO_GAIN")
      assert(reason(
        row).startsWith("Files keep no min and max of c that a look-up could use, for its type CHAR(8)"))
      assert(share(row, 0, "files", "forecast") === 1.0)
    }
    table(numbers(8000).repartition(4)) { path =>
      noGain(path, s"BY (b % 7) $small", "Files keep no min and max of the expression b % 7")
    }
  }

  test("values longer than statistics keep") {
    table(numbers(4000).selectExpr("concat(repeat('x', 2100), s) s").repartition(4)) { path =>
      noGain(path, "BY (s) WITH (fileCount = 4)", "Values of s are longer than the statistics of a file keep")
    }
  }

  test(
    "values that share a longer prefix than a page keeps: the files are in layout, pages cannot skip",
    LongTest) {
    def inFiles(prefix: String) =
      numbers(16000).selectExpr(s"concat('$prefix', s) s", "id").repartitionByRange(8, col("s"))
    table(inFiles("x" * 100)) { path =>
      noGain(
        path,
        s"BY (s) $small",
        "Values of s share their first 113 bytes, and those of a page keep 64: the mean share read would fall by")
    }
    // without the prefix, the pages gain
    table(inFiles("")) { path =>
      val row = done(keepsRows(path)(zorder(path, s"BY (s) $small")))
      assert(share(row, 0, "pages", "measured") < 0.5 * share(row, 0, "pages", "now"))
    }
  }

  test("columns that rise together, in a table that is sorted") {
    table(spark.range(0, 20000, 1, 8).selectExpr(
      "id + pmod(hash(id), 20) a",
      "3 * id + pmod(hash(id, 1), 40) b")) { path =>
      noGain(path, s"BY (a, b) $small", "Columns a and b rise and fall together (rank correlation 1.000)")
    }
  }

  test("a plain sort reads least, and the table is in that order") {
    table(spark.range(0, 20000, 1, 8).selectExpr("id a", "pmod(xxhash64(id), 1000000) b")) { path =>
      logOf("by_a", path, (0 until 40).map(i => s"a = ${i * 499}") :+ "b = 5")
      noGain(
        path,
        "BY (a, b) WITH (fileCount = 8, pageRowLimit = 500, queryLog = 'by_a')",
        "A plain sort by a reads least")
    }
  }

  test("too few files") {
    table(numbers(8000).repartition(4)) { path =>
      noGain(path, "BY (a, b) WITH (fileCount = 1)", "1 file leaves next to nothing to skip")
    }
  }

  test("in layout already, without a record of it") {
    table(numbers(20000).repartition(4)) { path =>
      done(zorder(path, s"BY (a, b) $small"))
      spark.sql(s"ZORDER REMOVE '$path'").collect()
      noGain(path, s"BY (a, b) $small", "The files are close to the best layout already")
    }
  }
}
