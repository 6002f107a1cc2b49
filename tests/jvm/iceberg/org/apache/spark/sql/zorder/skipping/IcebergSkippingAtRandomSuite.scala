package org.apache.spark.sql.zorder.skipping

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.LongTest

/** Queries of Iceberg tables at random: a list that is narrowed gives the answer of the whole one. */
class IcebergSkippingAtRandomSuite extends AnyFunSuite with NarrowedIcebergTables {

  test("30 queries at random")(atRandom(seeds = 0 until 1, queries = 30))

  for ((seeds, name) <- RandomQueries.parts)
    test(name, LongTest)(atRandom(seeds, RandomQueries.ofTables))

  private def atRandom(seeds: Seq[Int], queries: Int): Unit = quick {
    val narrowed = seeds.flatMap { seed =>
      val random = new Random(13000L + seed)
      val table = made(random, s"random_$seed")
      (0 until queries).map { _ =>
        val (query, column) = drawn(random)
        def asked: (Long, Seq[String]) = {
          val df = on(table, query).select(column)
          val rows = df.collect().map(_.toString).toSeq
          opened(df) -> (if (query.contains("ORDER BY") && !query.contains("LATERAL")) rows else rows.sorted)
        }
        val (few, rows) = asked
        val (all, expected) = withoutSkipping(asked)
        assert(rows === expected, query)
        few < all
      }
    }
    info(s"narrowed ${narrowed.count(identity)} of ${narrowed.length}")
    assert(narrowed.count(identity) * 10 > narrowed.length)
  }

  /** Files that overlap a little, with NULLs, NaN, long texts and deleted rows. */
  private def made(random: Random, name: String): String = {
    val t = create(
      name,
      "id BIGINT, i INT, d DECIMAL(20, 2), ts TIMESTAMP, day DATE, s STRING, f DOUBLE",
      s"TBLPROPERTIES ('format-version' = '${2 + random.nextInt(2)}', 'write.delete.mode' = 'merge-on-read')")
    val start = random.nextInt(50)
    fill(
      t,
      1200,
      12,
      "id",
      s"if(hash(id, $start) % 7 = 0 OR id DIV 100 = 3, null, int(id DIV 4 + hash(id) % 20)) AS i",
      "cast(id DIV 6 * 10 AS DECIMAL(20, 2)) AS d",
      s"timestamp_seconds(1700000000 + id * 4000 + hash(id, $start) % 9000) AS ts",
      "date_add(date'2023-11-15', int(id DIV 20)) AS day",
      "if(id % 5 = 0, null, concat(if(id DIV 100 = 4, repeat('z', 20), ''), lpad(string(id), 5, '0'))) AS s",
      "if(id % 50 = 3, double('NaN'), cast(id AS DOUBLE)) AS f")
    on(t, s"DELETE FROM <t> WHERE hash(id, $start) % 3 = 0 AND id DIV 100 IN (0, 5, 11)")
    t
  }

  /** A query, and the column whose values do not depend on which of equal rows are taken. */
  private def drawn(random: Random): (String, String) = {
    def pick[A](all: A*): A = all(random.nextInt(all.length))
    def id: Int = random.nextInt(1300) - 50
    def condition: String = random.nextInt(10) match {
      case 0 => s"id IN (${listed(id, 210)})"
      case 1 => s"i IN (${listed(random.nextInt(300), 205)})"
      case 2 => s"id >= $id"
      case 3 => s"i IS ${pick("", "NOT ")}NULL"
      case 4 => s"CAST(ts AS DATE) ${pick("=", "<", ">=")} DATE'2023-12-${10 + random.nextInt(20)}'"
      case 5 => s"NOT (id BETWEEN $id AND ${id + 300})"
      case 6 => s"s ${pick("<", ">=", "=")} '00${random.nextInt(1300)}'"
      case 7 => s"i % 3 = ${random.nextInt(3)}"
      case 8 => s"day = date_add(date'2023-11-15', ${random.nextInt(60)})"
      case _ => s"d + 1 > ${random.nextInt(2000)}"
    }
    val where = Seq.fill(random.nextInt(3))(condition).mkString(pick(" AND ", " OR "))
    val filtered = s"SELECT * FROM <t>${if (where.isEmpty) "" else s" WHERE $where"}"
    val column = pick("id", "i", "d", "ts", "day", "s", "f")
    val order = s"ORDER BY $column ${pick("", "DESC")} ${pick("", "NULLS FIRST", "NULLS LAST")}"
    val limit = s"LIMIT ${pick(1, 5, 80, 101, 350)} ${pick("", "", s"OFFSET ${random.nextInt(150)}")}"
    val first = s"$filtered $order $limit"
    random.nextInt(8) match {
      case 0 | 1 => filtered -> "id"
      // the plan of the subquery, which the rules have seen, becomes a part of the query around it
      case 2 => s"SELECT e.$column FROM (SELECT 1 AS one) o, LATERAL ($first) e" -> column
      case _ => first -> column
    }
  }
}
