package org.apache.spark.sql.zorder.clustering.draw

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.clustering.fit.{BytesSample, LongSample, Sample}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.querylog.{LoggedCondition, LoggedQuery, QueryLog}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong}
import sparkzorder.curve.cost.{Condition, Query}
import sparkzorder.mark.SameOnAllLines

/** Logged queries as boxes over the columns of a layout. */
@SameOnAllLines
class DrawnQueriesSuite extends AnyFunSuite with ZOrderSession {
  private lazy val session = Shims.classic(spark)
  private val schema = StructType.fromDDL("a INT, status STRING, n STRUCT<x: INT>, b BIGINT")

  /** Of a: 0 half of the time, else 1 to 999; of status: OPEN in one row of ten; no NULL. */
  private val rows = 2000
  private val a =
    LongSample(Array.tabulate(rows)(i => if (i % 2 == 0) 0L else i / 2L), new Array[Boolean](rows))
  private val status = BytesSample(
    Array.tabulate(rows)(i => (if (i % 10 == 0) "OPEN" else "DONE").getBytes("UTF-8")),
    new Array[Boolean](rows))

  private def query(name: String, weight: Double, boxes: Seq[LoggedCondition]*): LoggedQuery =
    LoggedQuery(None, None, name, weight, boxes)

  private def of(columns: Seq[String], sample: Seq[org.apache.spark.sql.zorder.clustering.fit.SampleColumn])(
      queries: LoggedQuery*): DrawnQueries =
    DrawnQueries.of(session, schema, QueryLog("log", queries), columns, Sample(sample.toIndexedSeq))

  private def equal(column: String, values: String*): LoggedCondition =
    LoggedCondition(column, if (values.size == 1) "equal" else "in", values = values)

  private def bytes(s: String): NormalizedBytes = NormalizedBytes(s.getBytes("UTF-8"))

  test("values are taken as they are, weights add up to one, other columns are left out and told") {
    val found = of(Seq("A", "status"), Seq(a, status))(
      query("q1", 3, Seq(equal("a", "5"), equal("b", "7"))),
      query(
        "q2",
        1,
        Seq(LoggedCondition("`a`", "range", low = Some("2"), high = Some("4"))),
        Seq(equal("status", "OPEN"))))
    assert(found.queries === IndexedSeq(
      Query(Query.of(0 -> Condition.equal(NormalizedLong(5))).conjunctions, 0.75),
      Query(
        Query.of(0 -> Condition.between(NormalizedLong(2), NormalizedLong(4))).conjunctions ++
          Query.of(1 -> Condition.equal(bytes("OPEN"))).conjunctions,
        0.25)))
    assert(found.others === Seq("b" -> 0.75))
  }

  test("prefix, NULL, not NULL, contradictions, values of another type") {
    val found = of(Seq("status", "a"), Seq(status, a))(
      query("q1", 1, Seq(LoggedCondition("status", "prefix", low = Some("OP")))),
      query("q2", 1, Seq(LoggedCondition("a", "null"))),
      query("q3", 1, Seq(LoggedCondition("a", "not_null"))),
      query("q4", 1, Seq(equal("a", "1"), equal("a", "2"))),
      query("q5", 1, Seq(equal("a", "many"))))
    val all = found.queries.map(_.conjunctions)
    val (prefix, isNull, notNull, contradiction, otherType) = (all(0), all(1), all(2), all(3), all(4))
    assert(prefix.head.conditions(0).intervals.head.meets(bytes("OPEN"), bytes("OPEN")))
    assert(!prefix.head.conditions(0).intervals.head.meets(bytes("OQ"), bytes("OQ")))
    assert(isNull.head.conditions === Map(1 -> Condition.IsNull))
    assert(notNull.head.conditions === Map(1 -> Condition.IsNotNull))
    assert(contradiction.isEmpty)
    assert(otherType.head.conditions.isEmpty)
  }

  test("without values they are drawn by how often rows have them, the same every time") {
    val q = query("q", 1, Seq(LoggedCondition("a", "equal"), LoggedCondition("status", "equal")))
    val found = of(Seq("a", "status"), Seq(a, status))(q)
    assert(
      found.queries.size === DrawnQueries.Queries && math.abs(found.queries.map(_.weight).sum - 1) < 1e-9)
    val zero = found.queries.count(_.conjunctions.head.conditions(0) == Condition.equal(NormalizedLong(0)))
    val open = found.queries.count(_.conjunctions.head.conditions(1) == Condition.equal(bytes("OPEN")))
    // 200 and 40 expected; five standard deviations
    assert(math.abs(zero - 200) <= 50 && math.abs(open - 40) <= 30)
    // a row with OPEN has an even number: both conditions are of one row
    assert(found.queries.forall(q =>
      q.conjunctions.head.conditions(1) != Condition.equal(bytes("OPEN")) ||
        q.conjunctions.head.conditions(0) == Condition.equal(NormalizedLong(0))))
    assert(of(Seq("a", "status"), Seq(a, status))(q) === found)
  }

  test("ranges are as wide as the log says, in rows") {
    val q = query("q", 1, Seq(LoggedCondition("a", "range", width = Some(0.1))))
    val shares = of(Seq("a"), Seq(a))(q).queries.map { found =>
      val range = found.conjunctions.head.conditions(0).intervals.head
      a.sorted.countBetween(range.min.get, range.max.get) / rows.toDouble
    }
    // half of the rows hold one value: a range that meets it has them all
    assert(shares.forall(s => math.abs(s - 0.1) < 1e-9 || s >= 0.5) && shares.exists(_ < 0.2))
  }

  test("queries that differ behind what is shown of their texts are of two shapes") {
    val long = (0 until 60).map(i => equal(s"column_$i", "1"))
    val found = of(Seq("a"), Seq(a))(
      query("q1", 3, long :+ equal("status", "OPEN")),
      query("q2", 1, long :+ equal("x", "OPEN")))
    assert(found.shapes.map(_.weight) === Seq(0.75, 0.25))
    assert(found.shapes.map(_.text).distinct.length === 1 && found.shapes.head.text.length <= 300)
  }

  test("more queries than are needed are thinned out by weight") {
    val many = (0 until 1000).map(i => query(s"q$i", if (i == 0) 1000 else 1, Seq(equal("a", i.toString))))
    val found = of(Seq("a"), Seq(a))(many: _*)
    assert(math.abs(found.queries.map(_.weight).sum - 1) < 1e-9)
    val heavy =
      found.queries.filter(
        _.conjunctions.head.conditions(0) == Condition.equal(NormalizedLong(0))).map(_.weight).sum
    assert(math.abs(heavy - 1000.0 / 1999) <= 1.0 / DrawnQueries.Queries)
    assert(found.queries.size <= DrawnQueries.Queries)
  }

  test("an expression is known by its own condition, and by the values of its column") {
    val open = LongSample(Array.fill(rows)(0L), new Array[Boolean](rows))
    val found = of(Seq("status = 'OPEN'", "upper(status)", "n.x"), Seq(open, status, a))(
      query("q1", 1, Seq(equal("status", "OPEN"))),
      query("q2", 1, Seq(equal("status", "done", "OPEN"))),
      query("q3", 1, Seq(equal("upper(status)", "DONE"))),
      query("q4", 1, Seq(equal("(status = 'OPEN')", "true"), equal("N.X", "4"))))
    val conjunctions = found.queries.map(_.conjunctions.head.conditions)
    assert(conjunctions(0) === Map(
      0 -> Condition.equal(NormalizedLong(1)),
      1 -> Condition.equal(bytes("OPEN"))))
    assert(conjunctions(1) === Map(
      0 -> Condition.in(Seq(NormalizedLong(0), NormalizedLong(1))),
      1 -> Condition.in(Seq(bytes("DONE"), bytes("OPEN")))))
    assert(conjunctions(2) === Map(1 -> Condition.equal(bytes("DONE"))))
    assert(conjunctions(3) === Map(
      0 -> Condition.equal(NormalizedLong(1)),
      2 -> Condition.equal(NormalizedLong(4))))
  }

  test("a condition on a function that keeps the order of a column is one on the column") {
    val range = LoggedCondition("CAST(a AS BIGINT)", "range", low = Some("2"), high = Some("4"))
    val found = of(Seq("a", "status"), Seq(a, status))(
      query("q1", 1, Seq(range)),
      query("q2", 1, Seq(range, equal("a", "3", "7"))),
      query("q3", 1, Seq(LoggedCondition("CAST(a AS BIGINT)", "equal"))),
      query("q4", 1, Seq(equal("abs(a)", "3"))))
    def conditions(n: Int) = found.queries(n).conjunctions.head.conditions
    assert(conditions(0) === Map(0 -> Condition.between(NormalizedLong(2), NormalizedLong(4))))
    assert(conditions(1) === Map(0 -> Condition.equal(NormalizedLong(3))))
    // without values nothing follows, and abs keeps no order
    assert((2 to 3).forall(conditions(_).isEmpty))
    assert(of(Seq("status"), Seq(status))(query("q1", 1, Seq(range))).others.map(_._1) === Seq(
      "CAST(a AS BIGINT)",
      "a"))
  }

  /** A view with one query of this kind, and no other column than that of conditions. */
  private def logOf(view: String, kind: String): Unit =
    spark.sql(s"SELECT array(array(named_struct('column', 'a', 'kind', '$kind'))) boxes")
      .createOrReplaceTempView(view)

  test("a log is a table, a view or a path") {
    withTempDir { dir =>
      logOf("l_min", "Equal")
      val log = QueryLog.of(session, RunOptions(queryLog = Some("l_min"))).get
      assert(log.queries.map(q => (q.table, q.weight, q.conjunctions)) ===
        Seq((None, 1.0, Seq(Seq(LoggedCondition("a", "equal"))))))
      spark.table("l_min").write.parquet(dir.resolve("log").toString)
      assert(QueryLog.read(session, dir.resolve("log").toString).queries === log.queries)
    }
  }

  test("without the option there is no log") {
    assert(QueryLog.of(session, RunOptions()).isEmpty)
  }

  test("what is no log is refused in one sentence") {
    def refused(name: String): String = intercept[ZOrderException](QueryLog.read(session, name)).sentence
    assert(refused("no_log").contains("The query log no_log cannot be read: "))
    assert(refused("/no/log").contains("The query log /no/log cannot be read: "))
    spark.range(1).createOrReplaceTempView("l_bad")
    assert(refused("l_bad") ===
      "l_bad is no query log: it has no column boxes, a list of lists of conditions (docs/guide/query-log.md).")
    // a view that somebody has written by hand
    def conditions(more: String): Unit =
      spark.sql(s"SELECT array(array(named_struct('column', 'a', $more))) boxes")
        .createOrReplaceTempView("l_bad")
    conditions("'kind', 'range', 'low', 5, 'high', 9")
    assert(refused("l_bad") === "The query log l_bad cannot be read: low is not a STRING.")
    conditions("'kind', 'range', 'selectivity', '0.1'")
    assert(refused("l_bad").contains("selectivity is not a number"))
    conditions("'kind', 'in', 'values', array(5, 9)")
    assert(refused("l_bad").contains("an item of values is not a STRING"))
    logOf("l_bad", "rang")
    assert(refused(
      "l_bad").startsWith("The query log l_bad has a condition of kind 'rang'. Did you mean range?"))
  }

  test("the queries on one table, by its names and places") {
    withTable("l_t") {
      spark.sql("CREATE TABLE l_t (a INT) USING parquet")
      spark.sql("INSERT INTO l_t VALUES (1)")
      val named = TableResolver.open(session, TableRef.Name(Seq("l_t")))
      val place = named.root.toString
      def on(table: String): Boolean = {
        val log = QueryLog("log", Seq(LoggedQuery(Some(table), None, "q", 1, Seq(Seq(equal("a", "1"))))))
        log.on(session, named).queries.nonEmpty
      }
      Seq("l_t", "default.L_T", "spark_catalog.default.l_t", place, place.stripPrefix("file:"), s"$place/")
        .foreach(t => assert(on(t), t))
      Seq("l_u", "other.l_t", "x.default.l_t", s"$place-2", "a b c").foreach(t => assert(!on(t), t))
    }
  }
}
