package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.zorder.SharedTables
import sparkzorder.mark.SameOnAllLines

/** Bad input changes nothing and gets one sentence. */
@SameOnAllLines
class BadInputSuite extends AnyFunSuite with RunFixture with SharedTables {
  private val options = "WITH (fileCount = 4, force = true)"

  private lazy val path: Path = {
    val path = shared.resolve("sales")
    numbers(2000).selectExpr(
      "*",
      "array(a) arr",
      "map(a, b) m",
      "named_struct('f', a, 'g', array(b)) st",
      "a % 2 p")
      .repartition(2).write.partitionBy("p").parquet(path.toString)
    path
  }

  private lazy val t = s"'$path'"

  private def no(statement: String, words: String*): Unit = refused(path, statement, words: _*)

  test("a path where nothing is, with the one that may be meant") {
    no(s"ZORDER TABLE '${path}s' BY (a)", "nothing at", "Did you mean sales?")
  }

  test("columns that are not there, have no order, or cannot be clustered by") {
    no(s"ZORDER TABLE $t BY (aa) $options", "no column aa", "Did you mean")
    no(s"ZORDER TABLE $t BY (a, nosuchcolumn) $options", "no column nosuchcolumn")
    no(s"ZORDER TABLE $t BY (st.h) $options", "st.h")
    no(s"ZORDER TABLE $t BY (arr) $options", "ARRAY<INT>", "no order")
    no(s"ZORDER TABLE $t BY (m) $options", "MAP<INT, BIGINT>")
    no(s"ZORDER TABLE $t BY (st) $options", "st.f")
    for (element <- Seq("arr[0]", "st.g[0]", "m[3]", "size(arr)"))
      no(
        s"ZORDER TABLE $t BY (a, $element)",
        s"$element is computed from",
        "no min and max",
        "a column of its own")
    no(s"ZORDER TABLE $t BY (a, b, A) $options", "named twice")
    no(s"ZORDER TABLE $t BY (st.f, st.f) $options", "named twice")
    no(s"ZORDER TABLE $t BY (a, p) $options", "p is a partition column")
    no(s"ZORDER TABLE $t BY (rand()) $options", "not deterministic")
    no(s"ZORDER TABLE $t BY (sum(a)) $options", "sum(a)")
    no(s"ZORDER TABLE $t BY (a +) $options", "a +")
  }

  test("a statement without columns") {
    no(s"ZORDER TABLE $t $options", ": add BY (a, b),", "zorder.by")
    no(s"OPTIMIZE $t", ": add ZORDER BY (a, b),", "zorder.by")
  }

  test("options, values and curves that there are not") {
    no(s"ZORDER TABLE $t BY (a) WITH (fileCuont = 4)", "fileCuont", "fileCount")
    no(s"ZORDER TABLE $t BY (a) WITH (fileCount = many)", "fileCount", "many")
    no(s"ZORDER TABLE $t BY (a) USING CURVE peano $options", "peano", "hilbert")
  }

  test("statements that end or stop in the middle") {
    no(s"ZORDER TABLE $t BY a USING $options", "USING")
    no(s"OPTIMIZE $t ZORDER BY () $options", "empty")
    val where = s"ZORDER TABLE $t WHERE"
    no(s"$where BY (a) $options", "WHERE")
  }

  test("INTO the table itself") {
    no(s"ZORDER TABLE $t BY (a) $options INTO '$path/copy'", "copy")
    no(s"ZORDER TABLE $t BY (a) $options INTO '$path'", "a directory outside of it")
  }

  test("tables that are missing, empty or foreign") {
    withTempDir { dir =>
      val path = dir.resolve("empty")
      numbers(100).where("id < 0").write.parquet(path.toString)
      refused(path, s"ZORDER TABLE '$path' BY (aa) $options", "no column aa")
      withTable("run_nofiles") {
        spark.sql("CREATE TABLE run_nofiles (a INT, b INT) USING parquet")
        refused(path, s"ZORDER TABLE run_nofiles BY (c) $options", "no column c")
        refused(path, s"ZORDER TABLE run_nofile BY (a) $options", "run_nofile", "run_nofiles")
        refused(path, s"ZORDER TABLE nodb.run_nofiles BY (a) $options", "nodb")
        spark.sql("CREATE OR REPLACE TEMP VIEW run_view AS SELECT * FROM run_nofiles")
        refused(path, s"ZORDER TABLE run_view BY (a) $options", "view")
      }
      for (format <- Seq("json", "orc")) withTable("run_other") {
        numbers(100).write.format(format).saveAsTable("run_other")
        refused(path, s"ZORDER TABLE run_other BY (a) $options", format)
      }
      withTable("run_buckets") {
        numbers(100).write.bucketBy(4, "a").saveAsTable("run_buckets")
        refused(path, s"ZORDER TABLE run_buckets BY (a) $options", "bucket")
      }
      val csv = dir.resolve("csv")
      numbers(100).write.csv(csv.toString)
      refused(csv, s"ZORDER TABLE '$csv' BY (a) $options", "not Parquet", "csv")
      refused(csv, s"ZORDER TABLE '$dir/*' BY (a) $options", "*")
    }
  }

  test("timestamps without statistics are refused by name, and done with micros") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def rows = numbers(4000).selectExpr("a", "timestamp_seconds(b * 1000) t")
      withConf(
        "spark.sql.parquet.outputTimestampType" -> "INT96")(rows.repartition(2).write.parquet(path.toString))
      refused(path, s"ZORDER TABLE '$path' BY (a, t) $options", "t is stored as INT96", "micros")
      done(zorder(path, "BY (a, t) WITH (fileCount = 8, timestampType = micros)"))
      sameRows(rows, read(path))
      assert(shareRead(read(path), "t") < 0.5)
      // later runs take the INT96 that was appended since without being told again
      withConf("spark.sql.parquet.outputTimestampType" -> "INT96")(
        rows.limit(10).repartition(1).write.mode("append").parquet(path.toString))
      val again = read(path).collect().toSeq
      done(zorder(path, "FULL"))
      assert(read(path).collect().map(_.toString).sorted.toSeq === again.map(_.toString).sorted)
    }
  }

  test("what cannot be parsed is Spark's own error or ours, and changes nothing") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(100).write.parquet(path.toString)
      val before = listing(path)
      for (text <-
          Seq(s"ZORDER '$path' BY (a)", s"ZORDER TABLE '$path' ORDER BY (a)", "ZORDER TABLE BY (a)")) {
        val e = intercept[Exception](spark.sql(text))
        assert(e.isInstanceOf[AnalysisException] || e.getClass.getSimpleName == "ZOrderException", text)
      }
      assert(listing(path) === before)
    }
  }
}
