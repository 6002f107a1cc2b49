package org.apache.spark.sql.zorder.clustering.sort

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.functions.{col, expr, lit}
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** The order of the sort is that of the BINARY key: for every type, however many columns, whatever the way. */
class ZOrderSortSuite extends AnyFunSuite with SortFixture {
  // above the 4,096 that a prefix is told from
  private val rows = 4600L

  /** One column of every type, NULLs and edge values among them; `late` differs in its last rows only. */
  private lazy val table: DataFrame = {
    def edge(column: String, every: Int, value: String) =
      s"CASE WHEN id % $every = 3 THEN NULL WHEN id % $every = 5 THEN $value ELSE $column END"
    val hash = (0 to 12).map(i => s"xxhash64(id, $i)")
    val df = spark.range(0, rows, 1, 1).selectExpr(
      "id",
      s"${edge(s"${hash(0)} % 2 = 0", 7, "true")} bool",
      s"${edge(s"cast(pmod(${hash(1)}, 256) - 128 as tinyint)", 11, "cast(-128 as tinyint)")} tiny",
      s"${edge(s"cast(pmod(${hash(2)}, 65536) - 32768 as smallint)", 11, "cast(32767 as smallint)")} small",
      s"${edge(s"cast(pmod(${hash(3)}, 700) as int)", 13, "-2147483648")} i",
      s"${edge(s"pmod(${hash(4)}, 3000000)", 17, "9223372036854775807")} big",
      s"${edge(hash(5), 19, "-9223372036854775808")} wide",
      s"${edge(s"cast(${hash(6)} as float)", 11, "float('NaN')")} f",
      s"${edge(s"cast(${hash(7)} as double) / 3", 13, "-0.0D")} d",
      s"${edge(s"cast(${hash(8)} % 1000000 as decimal(9, 2))", 13, "cast(-1 as decimal(9, 2))")} dec9",
      s"${edge(s"cast(${hash(8)} % 100000000 as decimal(18, 4))", 13, "cast(-1 as decimal(18, 4))")} dec18",
      s"${edge(s"cast(${hash(9)} as decimal(38, 6))", 13, "cast(-1 as decimal(38, 6))")} dec38",
      s"${edge(s"concat('customer/', hex(${hash(10)}))", 13, "''")} s",
      s"${edge(s"cast(hex(${hash(11)}) as binary)", 13, "cast('' as binary)")} bin",
      s"${edge(s"date_add(date'2020-01-01', cast(${hash(12)} % 4000 as int))", 13, "date'9999-12-31'")} day",
      s"${edge(s"timestamp_micros(1700000000000000 + ${hash(1)} % 1000000000)", 13, "timestamp'0001-01-01 00:00:00'")} ts",
      s"${edge(s"make_dt_interval(0, 0, 0, ${hash(2)} % 100000)", 13, "make_dt_interval(-9)")} dt",
      s"${edge(s"make_ym_interval(0, cast(${hash(3)} % 1000 as int))", 13, "make_ym_interval(-9)")} ym",
      "cast(id % 3 as int) same",
      s"CASE WHEN id >= ${rows - 40} THEN id * 1000003 ELSE 5L END late"
    )
    df.localCheckpoint()
  }

  private val all = Seq(
    "bool",
    "tiny",
    "small",
    "i",
    "big",
    "wide",
    "f",
    "d",
    "dec9",
    "dec18",
    "dec38",
    "s",
    "bin",
    "day",
    "ts",
    "dt",
    "ym",
    "same",
    "late")

  private def z(columns: Seq[String]): String = columns.mkString("zorder(", ", ", ")")
  private def h(columns: Seq[String]): String = columns.mkString("hilbert(", ", ", ")")

  private def byCurve(columns: Seq[String], curves: Seq[Seq[String] => String] = Seq(z, h)): Unit =
    curves.foreach { curve =>
      val key = curve(columns)
      checkSorted(table, Seq(expr(key)), Seq(key -> true))
      checkSorted(table, Seq(expr(key).desc), Seq(key -> false))
    }

  /** The words of a type are the same on all lines: one of each way to hold them in a row is sorted on every line. */
  private def once(column: String): Seq[Tag] =
    if (Seq("i", "s", "dec38", "bool").contains(column)) Nil else Seq(SameOnAllLines)

  for (column <- all) test(s"by $column alone, and beside an INT: ascending, descending", once(column): _*) {
    byCurve(Seq(column), Seq(z))
    val (zorder, hilbert) = (z(Seq("i", column)), h(Seq("i", column)))
    checkSorted(table, Seq(expr(zorder)), Seq(zorder -> true))
    checkSorted(table, Seq(expr(hilbert).desc), Seq(hilbert -> false))
  }

  test("by every type beside an INT, by both curves in both directions", LongTest) {
    for (column <- all) byCurve(Seq("i", column))
  }

  for (n <- 3 to 8) test(s"by $n columns", LongTest.unless(n == 8): _*) {
    for (shift <- Seq(0, 5, 11)) byCurve((0 until n).map(k => all((k * 5 + shift) % all.length)).distinct)
  }

  test("with code generation off") {
    withConf("spark.sql.codegen.factoryMode" -> "NO_CODEGEN", "spark.sql.codegen.wholeStage" -> "false") {
      for (columns <- Seq(Seq("i", "big"), Seq("s", "wide", "dec38"), all)) byCurve(columns)
    }
  }

  test("with spills every 500 rows, with and without radix sort", LongTest) {
    for (radix <- Seq("true", "false")) withConf("spark.sql.sort.enableRadixSort" -> radix) {
      spillingEvery(500) {
        for (columns <- Seq(Seq("i", "big"), Seq("wide", "d"), Seq("s", "bin", "dec38"), Seq("late", "i")))
          byCurve(columns)
        checkSorted(
          table,
          Seq(expr("zorder(same)"), col("wide")),
          Seq("zorder(same)" -> true, "wide" -> true))
      }
    }
  }

  test("the order is that of a slow reference, one bit at a time") {
    for (columns <- Seq(Seq("i", "big"), Seq("s", "f", "bool"), all)) {
      val some = table.where("id % 3 = 1")
      val sorted = some.sortWithinPartitions(expr(z(columns))).select(columns.map(col): _*)
      val types = sorted.schema.map(_.dataType)
      val keys = sorted.queryExecution.toRdd.map { row =>
        SlowKey.bits(types, types.indices.map(i => row.get(i, types(i))))
      }.collect().toSeq
      assert(keys === keys.sorted)
    }
  }

  test("later orders break ties, in short runs and in runs too long for the buffer", SameOnAllLines) {
    for (later <- Seq("s", "wide", "bin");
      first <- Seq("zorder(same)", "zorder(same, bool)", "zorder(tiny)")) {
      checkSorted(table, Seq(expr(first), col(later).desc), Seq(first -> true, later -> false))
      checkSorted(table, Seq(expr(first).desc, col(later)), Seq(first -> false, later -> true))
    }
    val two = "zorder(wide, d)"
    checkSorted(
      table,
      Seq(expr(z(Seq("same", "bool"))), expr(two)),
      Seq(z(Seq("same", "bool")) -> true, two -> true))
  }

  test("orders in front: one value, a few, many, NULLs", SameOnAllLines) {
    val one = table.withColumn("p", lit("x"))
    checkSorted(
      one,
      Seq(expr("substr(p, 1)"), expr("zorder(i, big)")),
      Seq("p" -> true, "zorder(i, big)" -> true))
    for (p <- Seq("same", "bool", "tiny", "s")) {
      checkSorted(table, Seq(col(p), expr("zorder(i, wide)")), Seq(p -> true, "zorder(i, wide)" -> true))
      checkSorted(
        table,
        Seq(col(p), col("bool").desc, expr("hilbert(i, big)").desc, col("id")),
        Seq(p -> true, "bool" -> false, "hilbert(i, big)" -> false, "id" -> true))
    }
    spillingEvery(300) {
      checkSorted(
        table,
        Seq(col("same"), expr("zorder(i, wide)")),
        Seq("same" -> true, "zorder(i, wide)" -> true))
    }
  }

  test("long common prefixes: runs that agree in 64 bits and more, long and short", SameOnAllLines) {
    val common = table.selectExpr(
      "id",
      "concat('0123456789ab', lpad(cast(id % 4000 as string), 4, '0')) a",
      "cast(id % 5 as decimal(38, 0)) b",
      "wide",
      "if(id % 100 = 0, wide, 7L) c",
      "if(id < 0, '', 'same') d")
    for (columns <- Seq(
        Seq("a", "b"),
        Seq("d", "a"),
        Seq("wide", "a"),
        Seq("c", "wide"),
        Seq("c", "c", "a", "d"),
        Seq("d")))
      for (curve <- Seq(z(columns), h(columns)))
        checkSorted(common, Seq(expr(curve), col("id")), Seq(curve -> true, "id" -> true))
  }

  test("late rows widen the prefix, and a metric counts it", SameOnAllLines) {
    val ascending = spark.range(0, 200000, 1, 1).selectExpr("id", "cast(id % 700 as int) i")
    val sorted = checkSorted(ascending, Seq(expr("zorder(id, i)")), Seq("zorder(id, i)" -> true))
    sorted.collect()
    // 4,096 ids vary in bits 0 to 11; then come bit 12 with its byte (9 to 16 in the words) and bit 17
    assert(widenings(sorted) === 2)
    val once = checkSorted(table, Seq(expr("zorder(late, i)")), Seq("zorder(late, i)" -> true))
    once.collect()
    assert(widenings(once) >= 1 && widenings(once) <= 8)
  }

  private def widenings(df: DataFrame): Long = curveSorts(df).head.metrics("widenings").value

  test(
    "empty partitions, single rows, equal rows, and exactly as many rows as the prefix is told from",
    SameOnAllLines) {
    for (n <- Seq(2L, 64L, 1024L, 1025L, 4095L, 4096L, 4097L)) {
      val df = spark.range(0, n, 1, 1).selectExpr("id", "id % 2 a", "if(id < 0, 2, 1) b", "xxhash64(id) c")
      for (key <- Seq("zorder(a, b)", "zorder(b)", "zorder(c, id)", "hilbert(a, c)"))
        checkSorted(df, Seq(expr(key)), Seq(key -> true))
    }
    val few = spark.range(0, 5, 1, 1).selectExpr("id", "id a").repartition(40)
    checkSorted(few, Seq(expr("zorder(a)")), Seq("zorder(a)" -> true))
  }

  test("rows larger than the buffer of a run") {
    val wide =
      spark.range(0, 60, 1, 1).selectExpr("id", "id % 3 a", "repeat(cast(id % 7 as string), 700000) v")
    checkSorted(wide, Seq(expr("zorder(a)"), col("id").desc), Seq("zorder(a)" -> true, "id" -> false))
  }

  test("expressions as arguments") {
    val key = "zorder(i + 1, upper(substr(s, 10)), struct(big).big)"
    checkSorted(table, Seq(expr(key)), Seq(key -> true))
    val sub = "zorder(i, least(big, 100000) + (SELECT max(id) FROM range(10)))"
    checkSorted(table, Seq(expr(sub)), Seq("zorder(i, least(big, 100000) + 9)" -> true))
  }

  test("zorder_key behind other columns: the key itself is the prefix") {
    val json =
      org.apache.spark.sql.zorder.sql.PythonBridge.fit(table.select("i", "big"), Array("i", "big"), 8)
    val key = s"zorder_key('$json', i, big)"
    checkSorted(table, Seq(col("same"), expr(key)), Seq("same" -> true, key -> true))
    val lone = table.sortWithinPartitions(expr(key))
    assert(curveSorts(lone).isEmpty, "a lone BIGINT key stays with Spark's own sort")
  }

  private def sorts(order: Column*): DataFrame = table.orderBy(order: _*)

  test("global order, by SQL, with AQE on and off") {
    for (aqe <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> aqe) {
      val df = table.repartition(3).selectExpr("*", "zorder(i, big) k")
      df.createOrReplaceTempView("zorder_sort_test")
      for (q <- Seq("ORDER BY", "SORT BY")) {
        val sorted = spark.sql(s"SELECT * FROM zorder_sort_test $q zorder(i, big), id")
        val rows = if (q == "ORDER BY") Seq(sorted.collect().toSeq) else partitions(sorted)
        assert(curveSorts(sorted).length === 1 && curveSorts(sorted).head.global === (q == "ORDER BY"))
        for (part <- rows; (a, b) <- part.zip(part.drop(1)))
          assert(SortFixture.compare(a.getAs[Any]("k"), b.getAs[Any]("k")) <= 0)
        assert(rows.flatten.map(_.getLong(0)).sorted === (0L until this.rows))
      }
    }
  }

  test("ORDER BY ... LIMIT stays with Spark's own operator") {
    val top = sorts(expr("zorder(i, big)")).limit(10)
    assert(operators(top).exists(_.nodeName == "TakeOrderedAndProject") && curveSorts(top).isEmpty)
    assert(top.collect().length === 10)
  }

  test("a key turns it off, and Spark's own sort gives the same answer") {
    val key = expr("zorder(i, wide, s)")
    val ours = table.sortWithinPartitions(key, col("id"))
    val theirs = withConf("spark.zorder.sort.enabled" -> "false") {
      val df = table.sortWithinPartitions(key, col("id"))
      assert(curveSorts(df).isEmpty)
      df.collect()
    }
    assert(ours.collect().map(_.getLong(0)).toSeq === theirs.map(_.getLong(0)).toSeq)
  }

  test("EXPLAIN names it and says how it sorts; metrics are filled") {
    val df = table.sortWithinPartitions(expr("zorder(i, wide)"))
    for (mode <- Seq("", "FORMATTED")) {
      table.createOrReplaceTempView("zorder_sort_test")
      val plan =
        spark.sql(s"EXPLAIN $mode SELECT * FROM zorder_sort_test SORT BY zorder(i, wide)").head().getString(0)
      assert(plan.contains("ZOrderSort") && plan.contains("no key column"), plan)
    }
    spillingEvery(1000)(df.collect())
    val metrics = curveSorts(df).head.metrics
    assert(metrics("peakMemory").value > 0 && metrics("spillSize").value > 0)
    assert(metrics("sortTime").value >= 0 && metrics("widenings").value === 0)
  }

  test("columns that nobody reads are pruned below it") {
    val df = spark.range(0, 10, 1, 1).selectExpr("id", "id % 2 a", "id * 2 unread")
      .sortWithinPartitions(expr("zorder(a)")).select("id")
    assert(!curveSorts(df).head.output.exists(_.name == "unread"))
    assert(df.count() === 10)
  }
}
