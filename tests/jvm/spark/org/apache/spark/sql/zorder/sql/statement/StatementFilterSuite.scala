package org.apache.spark.sql.zorder.sql.statement

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ZOrderException

/** docs/spec.md, section 6: the first words decide; everything else goes untouched to the parser below. */
class StatementFilterSuite extends AnyFunSuite with ZOrderSession {

  /** The statement that is ours, and the mode of EXPLAIN. */
  private def ours(sql: String): Option[(String, String)] =
    StatementFilter(sql).map { own =>
      assert(own.tokens === new Lexer(own.sql).tokens())
      (own.sql, own.explain.fold("none")(_.name))
    }

  test("statements of others are left alone") {
    Seq(
      "SELECT optimize FROM zorder",
      "SELECT zorder(a, b) FROM t",
      "(SELECT 1)",
      "SET spark.zorder.force=true",
      "SET optimize=1",
      "EXPLAIN SELECT optimize",
      "EXPLAIN EXTENDED SELECT 1",
      "-- OPTIMIZE t\nSELECT 1",
      "",
      "/* OPTIMIZE t */ SELECT 1",
      "optimized t",
      "`OPTIMIZE` t",
      "'OPTIMIZE t'",
      "CREATE TABLE optimize (zorder INT)",
      "/* OPTIMIZE",
      "'unclosed",
      "EXPLAIN",
      "EXPLAIN EXTENDED",
      "ALTER TABLE t ZORDER BY (a)"
    ).foreach { sql =>
      assert(ours(sql) === None, sql)
    }
  }

  test("ours in any case, behind comments, blanks and EXPLAIN") {
    assert(ours("OPTIMIZE t") === Some(("OPTIMIZE t", "none")))
    val commented = "  -- why\n/* and how */ zOrDeR table t"
    assert(ours(commented) === Some((commented, "none")))
    assert(ours("explain /* it */ optimize t;") === Some(("optimize t;", "simple")))
    assert(ours("EXPLAIN formatted ZORDER TABLE t") === Some(("ZORDER TABLE t", "formatted")))
    // not well-formed, but begins like ours: so it is ours to say what is wrong, and where in the statement itself
    Seq("OPTIMIZE t WHERE 'x", "EXPLAIN COST OPTIMIZE t WHERE 'x").foreach { sql =>
      assert(intercept[ZOrderException](ours(sql)).getMessage.contains("line 1, column 18: the quote '"), sql)
    }
  }

  test("variables are substituted before anything is recognised") {
    withConf("spark.zordertest.verb" -> "OPTIMIZE", "spark.zordertest.t" -> "db.t") {
      assert(ours("${spark.zordertest.verb} ${spark.zordertest.t}") === Some(("OPTIMIZE db.t", "none")))
      assert(ours("ZORDER TABLE ${spark.zordertest.t}") === Some(("ZORDER TABLE db.t", "none")))
      assert(ours("${spark.zordertest.t}") === None)
    }
  }

  test("Spark's own statements with our words in them run") {
    assert(spark.sql("SELECT 1 AS optimize, 2 AS zorder").columns.toSeq == Seq("optimize", "zorder"))
    withTable("optimize") {
      spark.sql("CREATE TABLE optimize (zorder INT) USING parquet")
      assert(spark.sql("SELECT zorder FROM optimize").count() == 0)
    }
    assert(spark.sql("SET optimize=1").head().getString(1) == "1")
    spark.conf.unset("optimize")
  }
}
