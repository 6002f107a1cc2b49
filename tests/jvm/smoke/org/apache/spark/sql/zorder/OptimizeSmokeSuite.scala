package org.apache.spark.sql.zorder

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{count, input_file_name, lit, max, min}
import sparkzorder.Steps

/** One clustering run on every Spark line: the rows stay, and look-ups read what the result row says. */
class OptimizeSmokeSuite extends AnyFunSuite with ZOrderSession with StatementRows with Steps {

  private def rows: DataFrame = spark.range(0, 6000, 1, 4).selectExpr(
    "id",
    "cast(pmod(xxhash64(id, 1), 1000) as int) a",
    "pmod(xxhash64(id, 2), 1000000) b",
    "named_struct('s', cast(id as string)) st",
    "map(id % 3, array(id)) m")

  /** The share of the rows in files whose bounds hold a value, over all values of the column. */
  private def shareRead(table: DataFrame, column: String): Double = {
    val named = table.selectExpr(s"$column AS v").withColumn("f", input_file_name())
    val files = named.groupBy("f").agg(count(lit(1)).as("n"), min("v").as("lo"), max("v").as("hi"))
    val read = named.crossJoin(
      files).where(named("v") >= files("lo") && named("v") <= files("hi")).selectExpr("sum(n)")
    read.head().getLong(0).toDouble / (6000.0 * 6000.0)
  }

  test("a run of a path, a second one, one by WHERE, and the history") {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      rows.repartition(5).write.parquet(path)
      val statement =
        s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 16, pageRowLimit = 200, verify = checksum)"
      val row = one(statement)
      assert(status(row) == "DONE", reason(row))
      step("the rows stay") {
        val (before, after) = (rows.drop("m"), spark.read.parquet(path).drop("m"))
        def texts(df: DataFrame): Seq[String] = df.collect().map(_.toString).sorted.toSeq
        assert(texts(after.select(before.columns.map(after(_)).toSeq: _*)) == texts(before))
        assert(
          spark.read.parquet(path).selectExpr("sum(m[id % 3][0])").head() ==
            rows.selectExpr("sum(id)").head())
      }
      step("look-ups read what the row says")(for ((c, i) <- Seq("a", "b").zipWithIndex) {
        val measured =
          row.getSeq[Row](row.fieldIndex("columns"))(i).getAs[Row]("files").getAs[Double]("measured")
        val found = shareRead(spark.read.parquet(path), c)
        assert(found < 0.3 && math.abs(found - measured) < 0.01, c)
      })
      step("a second run has nothing to do")(assert(status(one(statement)) == "NOTHING_TO_DO"))
      val where = one(
        s"OPTIMIZE '$path' WHERE a BETWEEN 0 AND datediff(current_date(), date'1970-01-01') ZORDER BY (b) DRY RUN")
      step("WHERE and OPTIMIZE")(assert(Set("TOO_SMALL", "DRY_RUN")(status(where))))
      step("the history")(assert(spark.sql(s"SELECT * FROM zorder_history('$path')").count() == 1))
    }
  }

  test("variants stay, however each file shreds them (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no VARIANT")
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      def append(shredded: Boolean, shape: String): Unit =
        withConf("spark.sql.variant.writeShredding.enabled" -> shredded.toString)(
          rows.drop("m").selectExpr("*", s"parse_json($shape) v")
            .selectExpr("*", "named_struct('w', if(id % 5 = 0, null, v)) sv", "array(v) av")
            .repartition(2).write.mode("append").parquet(path))
      append(shredded = false, "concat('{\"x\": ', id, '}')")
      append(shredded = true, "concat('{\"x\": ', id, '}')")
      append(shredded = true, "if(id % 3 = 0, null, concat('[', id, ', \"s\"]'))")
      def content: Seq[String] = spark.read.parquet(path)
        .selectExpr(
          "struct(id, a, b, to_json(v), to_json(sv), to_json(av)) r").collect().map(_.toString).sorted.toSeq
      val before = content
      val row = one(s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 8, verify = checksum)")
      assert(status(row) == "DONE" && content == before, reason(row))
    }
  }
}
