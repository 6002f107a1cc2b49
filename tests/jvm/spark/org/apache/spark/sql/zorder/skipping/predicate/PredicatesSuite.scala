package org.apache.spark.sql.zorder.skipping.predicate

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, InSet, Not}
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.clustering.draw.FilterFixture
import org.apache.spark.sql.zorder.querylog.LoggedRanges
import org.apache.spark.sql.zorder.querylog.scan.ColumnStatistics

/** Filters become ranges that hold every row for which they are true. */
class PredicatesSuite extends AnyFunSuite with FilterFixture {
  private val ddl = "a INT, b BIGINT, s STRING, f DOUBLE, ok BOOLEAN, n STRUCT<x: INT>"

  private def is(where: String, ranges: String*): Unit = assert(logged(ddl, where) === ranges.toSeq, where)

  test("comparisons, both ways round") {
    is("a = 5", "a equal[5]")
    is("5 = a", "a equal[5]")
    is("a < 5", "a range(..4)")
    is("5 > a", "a range(..4)")
    is("a <= 5", "a range(..5)")
    is("a > 5", "a range(6..)")
    is("5 <= a", "a range(5..)")
    is("a <=> 5", "a equal[5]")
    is("a <=> NULL", "a null")
    is("a BETWEEN 3 AND 7", "a range(3..7)")
    is("a != 5", "a range(..4)", "a range(6..)")
    is("n.x = 1", "n.x equal[1]")
    is("ok", "ok equal[true]")
    is("NOT ok", "ok equal[false]")
    is("a IN (3, 1, 2, 3)", "a in 3[1,2,3]")
    is("a IS NULL", "a null")
    is("a IS NOT NULL", "a not_null")
  }

  test("every type that has an order") {
    val types = Seq(
      ("BOOLEAN", "false", "true"),
      ("TINYINT", "-128Y", "127Y"),
      ("SMALLINT", "-32768S", "32767S"),
      ("INT", "-2147483648", "2147483647"),
      ("BIGINT", "-9223372036854775808L", "9223372036854775807L"),
      ("FLOAT", "float('-Infinity')", "float('NaN')"),
      ("DOUBLE", "double('-Infinity')", "double('NaN')"),
      ("DECIMAL(9,2)", "cast(-1234567.89 as decimal(9,2))", "cast(1234567.89 as decimal(9,2))"),
      ("DECIMAL(38,4)", "cast(-1.5 as decimal(38,4))", "cast(1e30 as decimal(38,4))"),
      ("STRING", "''", "'\u00fc'"),
      ("BINARY", "X''", "X'FFFF'"),
      ("DATE", "DATE'0001-01-01'", "DATE'9999-12-31'"),
      ("TIMESTAMP", "TIMESTAMP'0001-01-01 00:00:00'", "TIMESTAMP'9999-12-31 23:59:59.999999'"),
      ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'9999-12-31 23:59:59'"),
      ("INTERVAL DAY TO SECOND", "INTERVAL '-5 01:02:03.5' DAY TO SECOND", "INTERVAL '5' DAY"),
      ("INTERVAL YEAR TO MONTH", "INTERVAL '-7-3' YEAR TO MONTH", "INTERVAL '9-11' YEAR TO MONTH"))
    types.foreach { case (name, low, high) =>
      val values = spark.sql(s"SELECT cast($low AS $name), cast($high AS $name)").head()
      val rows = Seq(Row(values(0)), Row(values(1)), Row(null))
      Seq(
        s"c = $low",
        s"c = $high",
        s"c < $high",
        s"c <= $low",
        s"c > $low",
        s"c >= $high",
        s"c <=> $low",
        s"c IN ($low, $high)",
        s"c != $low",
        s"NOT (c <=> $high)",
        s"c BETWEEN $low AND $high",
        "c IS NULL",
        "c IS NOT NULL",
        s"c BETWEEN $high AND $low",
        s"c > $high",
        s"c < $low").foreach { where =>
        val f = filtered(s"c $name", where)
        rows.foreach { r =>
          // below a value of binary there is no nearest one, so that the value itself is taken in
          if (name != "BINARY" || f.isTrue(r)) assert(f.inRanges(r) === f.isTrue(r), s"$name $where $r")
        }
        assert(LoggedRanges.of(
          f.ranges,
          literals = true,
          ColumnStatistics.none).isEmpty === (f.ranges == FilterRanges.Nothing))
      }
    }
  }

  test("strings") {
    is("s = ''", "s equal[]")
    is("s LIKE 'ab%'", "s prefix(ab..)")
    is("startswith(s, 'ab')", "s prefix(ab..)")
    is("s LIKE 'ab'", "s equal[ab]")
    is("s LIKE 'a_b%'", "s prefix(a..)")
    is("s LIKE 'ab%c'", "s prefix(ab..)")
    is("s >= 'b' AND s < 'd'", "s range(b..d)")
    is("s LIKE '%b'", "s LIKE '%b' equal[true]")
  }

  test("and, or, not, and what each makes of the other") {
    is("a = 1 AND b = 2", "a equal[1] & b equal[2]")
    is("a = 1 OR a = 3", "a in 2[1,3]")
    is("a = 1 OR b = 2", "a equal[1]", "b equal[2]")
    is("a = 1 OR a IS NULL", "a equal[1]", "a null")
    is("NOT (a = 1 OR b > 2)", "a range(..0) & b range(..2)", "a range(2..) & b range(..2)")
    is("NOT (a < 1 AND b < 2)", "a range(1..)", "b range(2..)")
    is("a > 3 AND a <= 5", "a range(4..5)")
    is("a > 1 AND a IS NOT NULL", "a range(2..)")
    is("a < 3 OR a < 5", "a range(..4)")
    is("(a = 1 OR b = 1) AND (a = 2 OR b = 2)", "a equal[1] & b equal[2]", "a equal[2] & b equal[1]")
  }

  test("no row at all") {
    Seq(
      "a = NULL",
      "a BETWEEN 7 AND 3",
      "a > 2147483647",
      "a < -2147483648",
      "a = 1 AND a = 2",
      "false",
      "a NOT IN (1, NULL)",
      "NOT (a = NULL)",
      "a IS NULL AND a > 1",
      "f > double('NaN')").foreach { where =>
      assert(filtered(ddl, where).ranges === FilterRanges.Nothing, where)
    }
  }

  test("a list of 20,000 values, which a join may have, and all that is not in it") {
    val c = AttributeReference("c", LongType)()
    val list = InSet(c, (0L until 20000L).map(_ * 3).toSet)
    def intervals(filter: Expression): Int =
      FilterRanges.of(filter).all.map(_.conditions.values.map(_.intervals.length).sum).sum
    // joined one by one, these would take a minute
    assert(intervals(list) === 20000)
    assert(intervals(Not(list)) === 20001)
    assert(intervals(Not(InSet(c, Set(1L, 2L, Long.MinValue, Long.MaxValue)))) === 2)
  }

  test("what is not understood is free, alone and beside what is") {
    Seq("a = b", "rand() < 0.5", "true", "a = 1 OR rand() < 0.5").foreach { where =>
      val ranges = filtered(ddl, where).ranges
      assert(ranges.free || ranges.all.flatMap(_.conditions.keys).forall(_.sql.contains("=")), where)
    }
    is("a = 1 AND rand() < 0.5", "a equal[1]")
    is("a = 1 AND length(s) > 3", "a equal[1] & length(s) range(4..)")
    is("a = cast('7' as int)", "a equal[7]")
  }

  test("expressions that print alike, or not at all, are not understood") {
    // lists of patterns are not in their texts: both would be one column, true and false at once
    val patterns = filtered(ddl, "s LIKE ANY ('%a%b%', '%c%d%') AND NOT (s LIKE ANY ('%x%y%', '%v%w%'))")
    assert(patterns.inRanges(row(s = "a b")))
    assert(filtered(ddl, "s LIKE ALL ('%a%b%', '%c%d%')").ranges.free)
    val structs = (1 to 11).map(i => s"($i, ${i}L)").mkString(", ")
    assert(filtered(ddl, s"(a, b) IN ($structs)").inRanges(row(a = 11, b = 11L)))
  }

  test("floating point: one zero, NaN above all") {
    is("f = -0.0", "f equal[0.0]")
    is("f = double('NaN')", "f equal[NaN]")
    assert(filtered(ddl, "f > 1").inRanges(row(f = Double.NaN)))
    assert(!filtered(ddl, "f < 1").inRanges(row(f = Double.NaN)))
    assert(filtered(ddl, "f >= 0").inRanges(row(f = -0.0)))
  }

  test("many parts are covered by one box, never cut off") {
    val parts = (0 until 100).map(i => s"(a = $i AND b = ${i * 2})").mkString(" OR ")
    val many = filtered(ddl, parts)
    assert(many.ranges.all.size === 1)
    (0 until 100).foreach(i => assert(many.inRanges(row(a = i, b = i * 2L))))
    val product = (0 until 12).map(i => s"(a = $i OR b = $i OR f = $i)").mkString(" AND ")
    assert(filtered(ddl, product).ranges.all.size <= FilterRanges.Most)
  }

  test("random filters against Spark's own evaluation: sound always, exact where every part is understood") {
    val random = new Random(7)
    (0 until 150).foreach { i =>
      val where = filter(random, 3)
      val f = filtered(ddl, where)
      (0 until 40).foreach { _ =>
        val r = randomRow(random)
        val (truth, held) = (f.isTrue(r), f.inRanges(r))
        assert(!truth || held, s"$i: $where loses $r")
        if (!where.contains("LIKE") && !where.contains("s ") && f.ranges.all.size > 1)
          assert(held === truth, s"$i: $where takes $r")
      }
    }
  }

  private def row(a: Any = null, b: Any = null, s: Any = null, f: Any = null, ok: Any = null): Row =
    Row(a, b, s, f, ok, null)

  private def randomRow(r: Random): Row = {
    def orNull[A](v: A): Any = if (r.nextInt(5) == 0) null else v
    Row(
      orNull(r.nextInt(6)),
      orNull(r.nextInt(6).toLong),
      orNull(Seq("", "a", "ab", "abc", "b", "ba", "c")(r.nextInt(7))),
      orNull(Seq(-1.0, -0.0, 0.0, 1.5, 3.0, Double.NaN)(r.nextInt(6))),
      orNull(r.nextBoolean()),
      orNull(Row(orNull(r.nextInt(4))))
    )
  }

  private def filter(r: Random, depth: Int): String =
    if (depth == 0 || r.nextInt(4) == 0) atom(r)
    else r.nextInt(3) match {
      case 0 => s"(${filter(r, depth - 1)} AND ${filter(r, depth - 1)})"
      case 1 => s"(${filter(r, depth - 1)} OR ${filter(r, depth - 1)})"
      case _ => s"NOT (${filter(r, depth - 1)})"
    }

  private def atom(r: Random): String = {
    val column = Seq("a", "b", "f", "n.x")(r.nextInt(4))
    val op = Seq("=", "<", "<=", ">", ">=", "<=>", "!=")(r.nextInt(7))
    r.nextInt(8) match {
      case 0 => s"$column IS NULL"
      case 1 => s"$column IS NOT NULL"
      case 2 => s"$column IN (${r.nextInt(6)}, ${r.nextInt(6)}${if (r.nextInt(3) == 0) ", NULL" else ""})"
      case 3 => s"s $op '${Seq("", "a", "ab", "b")(r.nextInt(4))}'"
      case 4 => s"s LIKE '${Seq("a", "ab", "b")(r.nextInt(3))}%'"
      case 5 => "ok"
      case 6 => s"$column BETWEEN ${r.nextInt(6)} AND ${r.nextInt(6)}"
      case _ => s"$column $op ${r.nextInt(6)}"
    }
  }
}
