package org.apache.spark.sql.zorder.expr

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import java.util.Locale

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.functions.{col, expr, struct}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.{ZOrderSession, functions => F}
import org.apache.spark.sql.zorder.sql.function.ScalarFunctions
import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.SameOnAllLines
import scala.collection.JavaConverters._

/**
 * The golden keys, which were derived from the rules and not from this code, on every Spark line; and the
 * functions as SQL and as columns of a DataFrame.
 */
class GoldenKeysSuite extends AnyFunSuite with ZOrderSession {
  private val since = SPARK_VERSION.split('.').take(2).map(_.toInt).toSeq

  private def known(row: JsonNode): Boolean = !row.has("since") || {
    val first = row.get("since").asText.split('.').map(_.toInt)
    since.head > first(0) || (since.head == first(0) && since(1) >= first(1))
  }

  private lazy val golden: Seq[JsonNode] = {
    val file = getClass.getClassLoader.getResourceAsStream("golden/raw_keys.json")
    try new ObjectMapper().readTree(file).asScala.toSeq.filter(known)
    finally file.close()
  }

  private def keys(settings: (String, String)*): Unit =
    withConf(settings :+ ("spark.sql.timeType.enabled" -> "true"): _*) {
      val row = spark.range(1).selectExpr(golden.map(g => s"hex(${g.get("sql").asText})"): _*).head()
      for ((g, i) <- golden.zipWithIndex)
        assert(row.getString(i).toLowerCase(Locale.ROOT) === g.get("key").asText, g.get("name").asText)
    }

  private val noFolding =
    "spark.sql.optimizer.excludedRules" -> Seq("ConstantFolding", "ConvertToLocalRelation")
      .map(r => s"org.apache.spark.sql.catalyst.optimizer.$r").mkString(",")

  test("golden keys, folded", SameOnAllLines)(keys())

  test("golden keys, generated code")(keys(noFolding))

  test("golden keys, generated code without whole stages", SameOnAllLines)(keys(
    noFolding,
    "spark.sql.codegen.wholeStage" -> "false"))

  test("golden keys, interpreted", SameOnAllLines) {
    keys(
      noFolding,
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")
  }

  test("golden keys, with ANSI on and off", SameOnAllLines) {
    for (ansi <- Seq("true", "false")) keys(noFolding, "spark.sql.ansi.enabled" -> ansi)
  }

  test("the examples of the function table give what they say", SameOnAllLines) {
    for (f <- ScalarFunctions.all; example <- f.info.getExamples.split("> ").drop(1)) {
      val lines = example.split("\n").map(_.trim).filter(_.nonEmpty)
      if (lines.length > 1)
        assert(spark.sql(lines.head.stripSuffix(";")).head().get(0).toString === lines(1), lines.head)
    }
  }

  test("the functions are described, and named as they are called") {
    for (f <- ScalarFunctions.all) {
      assert(f.info.getName === f.name && f.info.getUsage.nonEmpty && f.info.getSince.nonEmpty)
      assert(f.info.getExamples.contains("SELECT"))
      assert(f.info.getArguments.contains("*") || f.name == "zorder_version")
      assert(spark.sql(s"DESCRIBE FUNCTION ${f.name}").collect().nonEmpty)
    }
  }

  private def rows = spark.range(0, 300).selectExpr(
    "cast(id % 17 - 8 as int) a",
    "if(id % 5 = 0, null, id * 4294967297) b",
    "cast(id % 3 as string) s",
    "named_struct('f', cast(id % 11 as smallint)) n")

  test("as columns, in ORDER BY, and with the fields of a struct: the comparator agrees with the order") {
    val sorted =
      rows.orderBy(F.zorder(col("a"), col("b"), col("n.f"))).select(struct("a", "b", "n.f").as("r")).collect()
    val pairs = sorted.zip(sorted.tail).map { case (x, y) => (x.getStruct(0), y.getStruct(0)) }
    val schema =
      StructType.fromDDL(Seq("x", "y").map(_ + " struct<a: int, b: bigint, f: smallint>").mkString(", "))
    val df = spark.createDataFrame(pairs.toSeq.map(p => Row(p._1, p._2)).asJava, schema)
    assert(df.where(F.zorder_compare(col("x"), col("y")) > 0).count() === 0)
    assert(df.where(expr("zorder_compare(struct(x.a, x.b, x.f), struct(y.a, y.b, y.f)) > 0")).count() === 0)
    assert(rows.select(F.hilbert(col("a"), col("b"), col("s"))).distinct().count() > 150)
  }

  test("structs of other types are compared as columns of a query, without ANSI, too") {
    def sign(left: String, right: String): Int = {
      val structs = s"SELECT struct($left AS f) AS s, struct($right AS f) AS t"
      spark.sql(s"SELECT zorder_compare(s, t) FROM ($structs)").head().getInt(0)
    }
    for (ansi <- Seq("true", "false")) withConf("spark.sql.ansi.enabled" -> ansi) {
      assert(sign("DATE'2020-01-01'", "TIMESTAMP_NTZ'2020-01-02 00:00:00'") === -1)
      assert(sign("CAST(1 AS DECIMAL(38, 0))", "CAST(2 AS DECIMAL(38, 10))") === -1)
    }
  }

  test("120 columns", SameOnAllLines) {
    val wide = spark.range(3).selectExpr((0 until 120).map(i => s"id + $i as c$i"): _*)
    val columns = wide.columns.toSeq.map(col)
    assert(wide.select(
      F.zorder(columns: _*).as("z"),
      F.hilbert(columns: _*).as("h")).distinct().count() === 3)
  }

  test("an argument without an order is refused at analysis, in a sentence") {
    def message(sql: String): String = intercept[AnalysisException](rows.selectExpr(sql)).getMessage
    assert(message("zorder(a, n)").contains("name its fields (s.f), for example n.f"))
    assert(message("zorder(array(a))").contains("cannot order array(a) of type ARRAY<INT>"))
    assert(message("hilbert(null)").contains("cast(NULL AS <type>)"))
    assert(message("zorder()").contains("needs at least one argument"))
    assert(message("zorder_compare(n, a)").contains("compares two structs"))
    assert(message("zorder_compare(n)").contains("zorder_compare takes two structs, not 1 arguments"))
  }

  private def hexOf(sql: String): String = spark.range(1).selectExpr(s"hex($sql)").head().getString(0)

  test("char and varchar columns are strings, a char with its blanks", SameOnAllLines) {
    withTable("golden_char") {
      spark.sql("CREATE TABLE golden_char (c CHAR(4), v VARCHAR(4)) USING parquet")
      spark.sql("INSERT INTO golden_char VALUES ('a', 'a')")
      val row = spark.table("golden_char").selectExpr("hex(zorder(c, v))", "hex(hilbert(v, c))").head()
      assert(row.getString(0) === hexOf("zorder('a   ', 'a')"))
      assert(row.getString(1) === hexOf("hilbert('a', 'a   ')"))
    }
  }

  test("a collated string is ordered by its collation key (Spark 4)") {
    assume(since.head >= 4, "Spark 3.5 has neither collations nor VARIANT")
    assert(hexOf("zorder('B')") < hexOf("zorder('a')"))
    assert(hexOf("zorder('a' COLLATE UTF8_LCASE)") === hexOf("zorder('A' COLLATE UTF8_LCASE)"))
    assert(hexOf("zorder('a' COLLATE UTF8_LCASE)") < hexOf("zorder('B' COLLATE UTF8_LCASE)"))
    assert(hexOf("zorder('a' COLLATE UNICODE)") < hexOf("zorder('B' COLLATE UNICODE)"))
    val compare = "zorder_compare(struct('A' COLLATE UTF8_LCASE), struct('a' COLLATE UTF8_LCASE))"
    assert(spark.range(1).selectExpr(compare).head().getInt(0) === 0)
  }

  test("a string of two collations has no order: refused at analysis (Spark 4)") {
    assume(since.head >= 4, "Spark 3.5 has neither collations nor VARIANT")
    val df = spark.range(1).selectExpr(
      "cast(id AS STRING) COLLATE UTF8_LCASE AS c1",
      "cast(id AS STRING) COLLATE UNICODE AS c2")
    for (key <- Seq(
        "zorder(c1 || c2)",
        "hilbert(1, c1 || c2)",
        "zorder_compare(struct(c1 || c2), struct(c1 || c2))")) {
      val e = intercept[AnalysisException](df.selectExpr(key))
      assert(e.getMessage.contains("different collations: choose one with COLLATE."), key)
    }
    assert(df.selectExpr("zorder((c1 || c2) COLLATE UNICODE)").head().getAs[Array[Byte]](0).nonEmpty)
  }

  test("a variant is refused by name and type (Spark 4)") {
    assume(since.head >= 4, "Spark 3.5 has neither collations nor VARIANT")
    val e = intercept[AnalysisException](spark.sql("SELECT zorder(parse_json('1'))"))
    assert(e.getMessage.contains("of type VARIANT"))
  }
}
