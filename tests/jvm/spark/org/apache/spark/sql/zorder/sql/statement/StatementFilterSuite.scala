package org.apache.spark.sql.zorder.sql.statement

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession

/** docs/spec.md, section 6: the first words decide; everything else goes untouched to the parser below. */
class StatementFilterSuite extends AnyFunSuite with ZOrderSession {

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
      assert(StatementFilter(sql) == StatementFilter.NotOurs, sql)
    }
  }

  test("ours in any case, behind comments, blanks and EXPLAIN") {
    assert(StatementFilter("OPTIMIZE t") == StatementFilter.Ours("OPTIMIZE t"))
    assert(
      StatementFilter("  -- why\n/* and how */ zOrDeR table t") == StatementFilter.Ours(
        "  -- why\n/* and how */ zOrDeR table t"))
    assert(StatementFilter("explain optimize t") == StatementFilter.Explain("", "optimize t"))
    assert(StatementFilter("EXPLAIN formatted ZORDER TABLE t") == StatementFilter.Explain(
      "FORMATTED",
      "ZORDER TABLE t"))
    // not well-formed, but begins like ours: so it is ours to say what is wrong
    assert(StatementFilter("OPTIMIZE t WHERE 'x") == StatementFilter.Ours("OPTIMIZE t WHERE 'x"))
  }

  test("variables are substituted before anything is recognised") {
    withConf("spark.zordertest.verb" -> "OPTIMIZE", "spark.zordertest.t" -> "db.t") {
      assert(StatementFilter(
        "${spark.zordertest.verb} ${spark.zordertest.t}") == StatementFilter.Ours("OPTIMIZE db.t"))
      assert(
        StatementFilter("ZORDER TABLE ${spark.zordertest.t}") == StatementFilter.Ours("ZORDER TABLE db.t"))
      assert(StatementFilter("${spark.zordertest.t}") == StatementFilter.NotOurs)
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
