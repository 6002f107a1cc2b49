package org.apache.spark.sql.zorder.skipping.join

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.LongTest

import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.zorder.skipping.SkippedScans
import sparkzorder.SameOnAllLines

/** Joins with a small table: the keys that it has decide which files of the large one are opened. */
class JoinKeysSuite extends AnyFunSuite with SkippedScans {

  private val in = 3L
  private val one = 1L

  private val queries = Seq(
    "SELECT * FROM t JOIN small ON t.id = small.id" -> (in + one),
    "SELECT * FROM small JOIN t ON t.id = small.id" -> (in + one),
    "SELECT t.* FROM t JOIN small ON t.id = small.id WHERE kind = 'x'" -> (1 + one),
    "SELECT * FROM t JOIN small ON t.s = small.s" -> (in + one),
    "SELECT * FROM t JOIN small ON t.i = small.i AND t.g = small.g" -> (in + one),
    "SELECT * FROM t WHERE id IN (SELECT id FROM small)" -> (in + one),
    "SELECT * FROM t LEFT JOIN small ON t.id = small.id" -> (10 + one),
    "SELECT * FROM t LEFT ANTI JOIN small ON t.id = small.id" -> (10 + one))

  /** The keys go to each part of a union, whatever its columns are called there. */
  private val unions = Seq(
    "SELECT u.* FROM (SELECT id, g FROM t UNION ALL SELECT n, i FROM t WHERE g > 0) u JOIN small ON u.id = small.id" ->
      (in + in - 1 + one),
    "SELECT u.* FROM small JOIN (SELECT id k, 1 part FROM t UNION ALL SELECT id + 1, 2 FROM t) u ON u.k = small.id" ->
      (in + 10 + one),
    "SELECT u.* FROM (SELECT id FROM t UNION ALL SELECT id FROM small) u LEFT SEMI JOIN small ON u.id = small.id" ->
      (in + 2 * one),
    "SELECT u.* FROM (SELECT id FROM t UNION ALL SELECT n FROM t) u LEFT ANTI JOIN small ON u.id = small.id" ->
      (20 + one))

  private val furtherQueries = Seq(
    "SELECT t.* FROM t JOIN small ON t.id = small.id WHERE kind = 'none'" -> 0L,
    "SELECT * FROM t JOIN small ON t.i = small.i" -> (in + one),
    "SELECT * FROM t JOIN small ON t.day = small.day" -> (in + one),
    "SELECT * FROM t JOIN small ON t.w = small.w" -> (in + one),
    "SELECT * FROM t JOIN small ON t.g = small.g AND t.i = small.i AND t.id = small.id" -> (in + one),
    "SELECT * FROM t JOIN small ON t.n = small.id AND t.s > small.s" -> (in + one),
    "SELECT * FROM t LEFT SEMI JOIN small ON t.id = small.id" -> (in + one),
    "SELECT x, count(*) FROM (SELECT id AS x, g FROM t WHERE g > 0) JOIN small ON x = small.id GROUP BY x" ->
      (2 + one),
    "SELECT * FROM t WHERE id NOT IN (SELECT id FROM small WHERE id > 5)" -> (10 + one),
    "SELECT *, EXISTS (SELECT 1 FROM small WHERE small.id = t.id) e FROM t" -> (10 + one),
    "SELECT * FROM t FULL JOIN small ON t.id = small.id" -> (10 + one),
    "SELECT * FROM t JOIN small ON t.d = small.d" -> (10 + one),
    "SELECT * FROM t JOIN small ON t.id + 1 = small.id" -> (10 + one),
    "SELECT * FROM t JOIN small ON t.id <=> small.id" -> (10 + one),
    "SELECT * FROM t a JOIN t b ON a.id = b.id JOIN small ON a.id = small.id" -> -1L,
    "SELECT /*+ BROADCAST(small) */ * FROM t JOIN small ON t.id = small.id JOIN small AS s2 ON t.g = s2.g" ->
      (in + 2 * one))

  private val two = 2 * one

  /** What is joined to the small table decides which of its rows count. */
  private val chains = Seq(
    "SELECT t.* FROM t JOIN small s ON t.id = s.id JOIN groups ON s.g = groups.g WHERE name = 'three'" -> (1 + two),
    "SELECT t.* FROM t JOIN small s ON t.s = s.s JOIN groups ON s.g = groups.g WHERE name = 'three'" -> (1 + two),
    "SELECT t.id, o.owner FROM t JOIN small s ON t.id = s.id JOIN groups ON s.g = groups.g " +
      "JOIN owners o ON groups.name = o.name WHERE o.owner = 'y'" -> (1 + 3 * one),
    // Spark takes the product of two small tables for larger than the large one here
    "SELECT /*+ BROADCAST(d) */ t.* FROM t JOIN (SELECT s.id FROM small s JOIN groups ON s.g = groups.g WHERE name = 'three') d " +
      "ON t.id = d.id" -> (1 + two),
    "SELECT * FROM t WHERE id IN " +
      "(SELECT /*+ BROADCAST(groups) */ id FROM small WHERE g IN (SELECT g FROM groups WHERE name = 'three'))" ->
      (1 + two),
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM small WHERE small.id = t.id AND kind = 'x')" -> (1 + one),
    "SELECT * FROM t JOIN small s ON t.id = s.id LEFT JOIN groups ON s.g = groups.g AND name = 'three'" ->
      (in + two),
    "SELECT * FROM t LEFT JOIN small s ON t.id = s.id LEFT JOIN groups ON s.g = groups.g" -> (10 + two))

  private val furtherChains = Seq(
    "SELECT t.* FROM t JOIN small s ON t.i = s.i AND t.g = s.g JOIN groups ON s.g = groups.g WHERE name = 'three'" ->
      (1 + two),
    "SELECT t.* FROM t JOIN small s ON t.id = s.id LEFT SEMI JOIN (SELECT g FROM groups WHERE name = 'nine') n " +
      "ON s.g = n.g" -> (1 + two),
    // Spark puts this one below the join with the large table
    "SELECT t.* FROM t JOIN small s ON t.id = s.id LEFT ANTI JOIN (SELECT g FROM groups WHERE name = 'nine') n " +
      "ON s.g = n.g" -> (2 + two),
    "SELECT t.* FROM t LEFT ANTI JOIN small s ON t.id = s.id AND s.g IN (SELECT g FROM groups WHERE name = 'nine')" ->
      -1L,
    "SELECT t.* FROM t LEFT SEMI JOIN small s ON t.id = s.id JOIN groups ON t.g = groups.g WHERE name = 'three'" ->
      (1 + two),
    // Spark takes the first two for larger than the large table, and broadcasts that
    "SELECT t.* FROM groups JOIN small s ON s.g = groups.g JOIN t ON t.id = s.id WHERE name = 'three'" -> -1L,
    // no group has a row of the small table
    "SELECT t.* FROM t JOIN small s ON t.id = s.id JOIN groups ON s.g = groups.g WHERE name = 'four'" -> -1L,
    "SELECT t.* FROM t JOIN small s ON t.id = s.id JOIN groups ON s.g <=> groups.g WHERE name = 'three'" ->
      (in + two),
    "SELECT a.id FROM t a JOIN t b ON a.id = b.id JOIN small s ON b.id = s.id JOIN groups ON s.g = groups.g " +
      "WHERE name = 'three'" -> -1L,
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM small WHERE small.id = t.id AND small.s >= t.s)" -> (in + one),
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM small WHERE small.id = t.id)" -> (10 + one),
    "SELECT * FROM t WHERE id IN (SELECT id FROM small) OR g = 5" -> (10 + one))

  /** A table in the order of its ids, and one with few of them, in a file so that the optimizer does not know them. */
  private def tables(dir: Path): Unit = {
    val path = dir.resolve("t").toString
    spark.range(0, 1000, 1, 10).selectExpr(
      "id",
      "cast(id as int) i",
      "cast(id div 100 as int) g",
      "concat('k', lpad(cast(id as string), 6, '0')) s",
      "date_add(date'2020-01-01', cast(id div 100 as int)) day",
      "if(id % 10 = 3, null, id) n",
      "cast(id as decimal(25, 1)) w",
      "cast(id as double) d").write.parquet(path)
    index(dir.resolve("t"))
    spark.read.parquet(path).createOrReplaceTempView("t")
    val small = dir.resolve("small").toString
    spark.sql("SELECT id, cast(id as int) i, cast(id div 100 as int) g, concat('k', lpad(cast(id as string), 6, '0')) s, " +
      "date_add(date'2020-01-01', cast(id div 100 as int)) day, cast(id as decimal(25, 1)) w, cast(id as double) d, " +
      "if(id = 17, 'x', 'y') kind FROM VALUES (17L), (317L), (318L), (912L), (-5L), (null) AS v(id)")
      .coalesce(1).write.parquet(small)
    spark.read.parquet(small).createOrReplaceTempView("small")
    Seq(
      "groups" -> "VALUES (0, 'zero'), (3, 'three'), (4, 'four'), (9, 'nine'), (null, 'three') AS v(g, name)",
      "owners" -> "VALUES ('three', 'x'), ('nine', 'y'), ('four', 'y'), (null, 'y') AS v(name, owner)").foreach {
      case (name, values) =>
        spark.sql(s"SELECT * FROM $values").coalesce(1).write.parquet(dir.resolve(name).toString)
        spark.read.parquet(dir.resolve(name).toString).createOrReplaceTempView(name)
    }
  }

  private def check(queries: Seq[(String, Long)]): Unit = queries.foreach { case (query, files) =>
    val read = opens(spark.sql(query))
    if (files >= 0) assert(read === files, query)
  }

  test("a broadcast join opens the files that an IN of its keys would open, and no other join skips any") {
    withTempDir { dir =>
      tables(dir)
      quick {
        assert(opens(spark.sql("SELECT * FROM t WHERE id IN (17, 317, 318, 912, -5)")) === in)
        check(queries)
      }
      // with generated code, too
      check(queries.take(1))
    }
  }

  test("a dimension of a dimension, IN and EXISTS decide which files are opened", SameOnAllLines) {
    withTempDir { dir =>
      tables(dir)
      quick(check(chains))
    }
  }

  test(
    "a dimension with one key in all of its many rows is read once, not once for each row",
    SameOnAllLines) {
    withTempDir { dir =>
      tables(dir)
      val many = dir.resolve("many").toString
      spark.range(60000).selectExpr(
        "'k000317' AS s",
        "cast(id % 5 as int) AS g").coalesce(1).write.parquet(many)
      spark.read.parquet(many).createOrReplaceTempView("many")
      quick(check(Seq(
        "SELECT count(*) FROM t JOIN many m ON t.s = m.s JOIN groups ON m.g = groups.g WHERE name = 'three'" ->
          (1 + two))))
    }
  }

  test("the keys go to each part of a union", SameOnAllLines) {
    withTempDir { dir =>
      tables(dir)
      quick(check(unions))
    }
  }

  test("chains of further kinds of joins", LongTest) {
    withTempDir { dir =>
      tables(dir)
      quick(check(furtherChains))
      check(chains.take(2))
    }
  }

  test("joins of further types of keys and kinds, and sessions that do without", LongTest) {
    withTempDir { dir =>
      tables(dir)
      quick(check(furtherQueries))
      // a right join keeps the rows of the small side, and is none of ours
      assert(opens(spark.sql("SELECT * FROM t RIGHT JOIN small ON t.id = small.id")) >= in + 1)
      withConf("spark.sql.adaptive.enabled" -> "false") {
        assert(opens(spark.sql("SELECT * FROM t JOIN small ON t.id = small.id")) === 10 + one)
      }
      withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
        assert(opens(spark.sql("SELECT * FROM t JOIN small ON t.id = small.id")) === 10 + one)
      }
      val twice = "WITH j AS (SELECT t.g, count(*) n FROM t JOIN small ON t.id = small.id GROUP BY t.g) " +
        "SELECT * FROM j UNION ALL SELECT * FROM j"
      assert(opens(spark.sql(twice)) === in + one)
      assert(reused(twice) === withConf("spark.zorder.skipping.enabled" -> "false")(reused(twice)))
    }
  }

  test(
    "more keys than are listed become a range, and packed keys of any sign come out as they were",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t").toString
      spark.range(
        -50000,
        50000,
        1,
        10).selectExpr("id", "cast(id as int) i", "cast(-id % 7 as int) m", "id % 3 r")
        .write.parquet(path)
      index(dir.resolve("t"))
      spark.read.parquet(path).createOrReplaceTempView("t")
      val keys = dir.resolve("keys").toString
      spark.range(0, 12000, 1, 1).selectExpr(
        "id - 6000 id",
        "cast(id - 6000 as int) i",
        "cast(-(id - 6000) % 7 as int) m")
        .write.parquet(keys)
      spark.read.parquet(keys).createOrReplaceTempView("keys")
      quick {
        // range: the files from -6000 to 5999
        assert(opens(spark.sql("SELECT count(*), sum(t.r) FROM t JOIN keys ON t.id = keys.id")) === 3)
        assert(
          opens(
            spark.sql("SELECT count(*), sum(t.r) FROM t JOIN keys ON t.i = keys.i AND t.m = keys.m")) === 3)
        assert(
          opens(spark.sql("SELECT count(*), sum(t.r) FROM t JOIN (SELECT * FROM keys WHERE i < -5000) k " +
            "ON t.i = k.i AND t.m = k.m")) === 2)
      }
    }
  }

  private def reused(query: String): Int = {
    val df = spark.sql(query)
    df.collect()
    collectWithSubqueries(df.queryExecution.executedPlan) { case r: ReusedExchangeExec => r }.size
  }
}
