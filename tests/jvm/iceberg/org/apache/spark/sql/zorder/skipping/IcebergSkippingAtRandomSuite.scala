package org.apache.spark.sql.zorder.skipping

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.LongTest

/**
 * Queries of Iceberg tables at random, some with writes between planning and running: a list that is narrowed gives the
 * answer of the whole one. Says of each kind of query how many it took files from: a kind that took none was not tested.
 */
class IcebergSkippingAtRandomSuite extends AnyFunSuite with NarrowedIcebergTables {

  private val kinds = Seq("ORDER BY ... LIMIT", "list", "function", "join", "index")

  /** A table and what its name may be followed by: a branch, or a snapshot. */
  private case class Versions(table: String, clauses: Seq[String])

  test("30 queries at random")(atRandom(seeds = Seq(0), queries = 30))

  for ((seeds, name) <- RandomQueries.parts)
    test(name, LongTest)(atRandom(seeds, RandomQueries.ofTables))

  private def atRandom(seeds: Seq[Int], queries: Int): Unit = quick {
    val asked, narrowed = mutable.Map.empty[String, Int].withDefaultValue(0)
    for (seed <- seeds) {
      val random = new Random(13000L + seed)
      val tables = made(random, s"random_$seed")
      (0 until queries).foreach { n =>
        val kind = kinds(n % kinds.length)
        val table = if (kind == "index") tables.last else pick(random, tables)
        asked(kind) += 1
        val change = if (n % 6 == 3) Some(write(random)) else None
        val text = query(random, kind, table.clauses)
        val isOrdered = kind.startsWith("ORDER") && !text.contains("LATERAL")
        if (opensFewer(text, isOrdered, change)(on(table.table, _))) narrowed(kind) += 1
      }
      (tables.map(_.table) :+ keysOf(tables.head.table)).foreach(t => sql(s"DROP TABLE $t PURGE"))
    }
    kinds.foreach(k => info(s"$k: narrowed ${narrowed(k)} of ${asked(k)}"))
    kinds.foreach(k => assert(narrowed(k) > 0 || asked(k) < 20, k))
    assert(narrowed.values.sum > asked.values.sum / 4)
  }

  private def pick[A](random: Random, all: Seq[A]): A = all(random.nextInt(all.length))

  private val columnsBefore =
    "id BIGINT, old INT, d DECIMAL(20, 2), ts TIMESTAMP, day DATE, s STRING, f DOUBLE, b INT, part INT"

  private val columnsOfAll = s"$columnsBefore, w BIGINT, late INT"

  /**
   * A table of rows deleted and columns renamed, one in partitions that change, and one as the first with an index. The
   * first and the last may also have a column that was widened and one that was added.
   */
  private def made(random: Random, name: String): Seq[Versions] = {
    val start = random.nextInt(50)
    def merging: String = s"TBLPROPERTIES ('format-version' = '${2 + random.nextInt(2)}', " +
      s"'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = '${pick(random, Seq("file", "partition"))}')"
    def table(name: String): String = {
      val evolves = random.nextInt(3) > 0
      val t = create(name, if (evolves) s"$columnsBefore, w INT" else columnsOfAll, merging)
      add(t, 0, 12, start)
      // the snapshot has the new schema
      on(t, "ALTER TABLE <t> RENAME COLUMN old TO i")
      if (evolves) {
        on(t, "ALTER TABLE <t> ALTER COLUMN w TYPE BIGINT")
        on(t, "ALTER TABLE <t> ADD COLUMN late INT")
      }
      on(t, s"DELETE FROM <t> WHERE hash(id, $start) % 3 = 0 AND id DIV 100 IN (0, 5, 11)")
      on(t, "ALTER TABLE <t> CREATE BRANCH side")
      t
    }
    def versions(t: String, snapshot: Long): Versions =
      Versions(t, Seq("", "", "VERSION AS OF 'side'", s"VERSION AS OF $snapshot"))

    val deleted = table(s"${name}_deleted")
    val before = load(deleted).currentSnapshot.snapshotId
    deleteEqual(deleted, random.nextInt(97), random.nextInt(97))
    add(deleted, 1200, 2, start)
    add(s"$deleted.branch_side", 1300, 1, start)
    if (random.nextBoolean()) deleteEqual(deleted, 97 - random.nextInt(9))

    val parted = create(s"${name}_parted", columnsOfAll, s"PARTITIONED BY (part) $merging")
    def insert(from: Int, until: Int): Unit = {
      on(parted, s"INSERT INTO <t> SELECT * FROM $deleted WHERE id >= $from AND id < $until")
      ()
    }
    insert(0, 600)
    on(parted, "ALTER TABLE <t> ADD PARTITION FIELD bucket(2, b)")
    insert(600, 1300)
    on(parted, "ALTER TABLE <t> RENAME COLUMN old TO i")
    on(parted, s"DELETE FROM <t> WHERE hash(id, ${random.nextInt(99)}) % 4 = 0")

    val indexed = table(s"${name}_indexed")
    on(
      indexed,
      "ZORDER INDEX <t> COLUMNS (lower(s), i % 7) WITH (bloom = 'id, i, s', values = 'i, s', bloomBudget = '1000%')")
    val indexedBefore = load(indexed).currentSnapshot.snapshotId
    on(indexed, s"DELETE FROM <t> WHERE hash(id, ${random.nextInt(99)}) % 5 = 0")
    deleteEqual(indexed, random.nextInt(97))
    add(indexed, 1200, 1, start)
    add(s"$indexed.branch_side", 1300, 1, start)

    val keys = create(keysOf(deleted).stripPrefix("ice.db."), "id BIGINT, i INT")
    spark.range(0, 4, 1, 1).selectExpr(s"id * ${1 + random.nextInt(300)} id", "cast(id * 5 as int) i")
      .writeTo(keys).append()
    sql(s"SELECT * FROM $keys").createOrReplaceTempView("few_keys")
    Seq(versions(deleted, before), Versions(parted, Seq("")), versions(indexed, indexedBefore))
  }

  private def keysOf(table: String): String = s"${table.stripSuffix("_deleted")}_keys"

  /** Files of a hundred ids each that overlap a little, with NULLs, NaN, and texts that are longer than bounds. */
  private def add(table: String, from: Long, files: Int, start: Int): Unit = {
    val values = Seq(
      "id",
      s"if(hash(id, $start) % 7 = 0 OR id DIV 100 = 3, null, int(id DIV 4 + hash(id) % 20))",
      "cast(id DIV 6 * 10 AS DECIMAL(20, 2))",
      s"timestamp_seconds(1700000000 + id * 4000 + hash(id, $start) % 9000)",
      "date_add(date'2023-11-15', int(id DIV 20))",
      "if(id % 5 = 0, null, concat(if(id DIV 100 = 4, repeat('z', 20), ''), if(id % 2 = 0, 'A', 'a'), " +
        "lpad(string(id), 5, '0')))",
      "if(id % 50 = 3, double('NaN'), cast(id AS DOUBLE))",
      "int(id % 97)",
      "int(id DIV 100 % 3)",
      // in files that come later, too large for an INT
      "if(id < 1200, 0, 3000000000) + id DIV 10",
      "if(id % 9 = 4, null, id % 40)")
    spark.range(from, from + files * 100L, 1, files).selectExpr(spark.table(table).schema.zip(values).map {
      case (column, value) => s"cast($value AS ${column.dataType.sql}) AS ${column.name}"
    }: _*).writeTo(table).option("distribution-mode", "none").append()
  }

  /** What somebody else does to a table. */
  private def write(random: Random): String = pick(
    random,
    Seq(
      s"DELETE FROM <t> WHERE hash(id, ${random.nextInt(99)}) % 5 = 0 AND id DIV 100 IN (1, 6, 12)",
      s"DELETE FROM <t> WHERE id DIV 100 = ${random.nextInt(14)}",
      s"INSERT INTO <t> SELECT * FROM <t> WHERE id % 50 = ${random.nextInt(50)}"))

  /** A query whose answer does not depend on the order of rows. */
  private def query(random: Random, kind: String, clauses: Seq[String]): String = {
    def one(all: String*): String = pick(random, all)
    def id: Int = random.nextInt(1500) - 50
    def text: String = f"${one("A", "a")}${random.nextInt(1500)}%05d"
    val t = s"<t> ${pick(random, clauses)}"
    def condition: String = one(
      s"id >= $id",
      s"id IN (${listed(id, 210)})",
      s"i IN (${listed(random.nextInt(300), 205)})",
      s"i IS ${one("", "NOT ")}NULL",
      s"NOT (id BETWEEN $id AND ${id + 300})",
      s"s ${one("<", ">=", "=")} '$text'",
      s"part = ${random.nextInt(4)}",
      s"b < ${random.nextInt(97)}",
      s"d + 1 > ${random.nextInt(2000)}",
      "f > 300",
      s"w ${one("<", ">=")} ${random.nextInt(150)}",
      "w > 3000000000",
      s"late < ${random.nextInt(40)}",
      "late IS NULL")
    def some: String = if (random.nextBoolean()) s" ${one("AND", "AND", "OR")} $condition" else ""
    kind match {
      case "ORDER BY ... LIMIT" =>
        val column = one("id", "i", "d", "ts", "day", "s", "f", "w", "late")
        val order = s"ORDER BY $column ${one("", "DESC")} ${one("", "NULLS FIRST", "NULLS LAST")} " +
          s"LIMIT ${one("1", "5", "80", "101", "350")} ${one("", "", s"OFFSET ${random.nextInt(150)}")}"
        val first =
          s"SELECT * FROM $t WHERE true${if (random.nextBoolean()) s" AND $condition" else ""} $order"
        // the plan of the subquery, which the rules have seen, becomes a part of the query around it
        if (random.nextInt(4) == 0) s"SELECT e.$column FROM (SELECT 1 AS one) o, LATERAL ($first) e"
        else s"SELECT $column FROM ($first)"
      case "list" =>
        val (column, value) = pick(
          random,
          Seq[(String, () => String)](
            "id" -> (() => s"$id"),
            "i" -> (() => s"${random.nextInt(330)}"),
            "d" -> (() => s"${random.nextInt(230) * 10}.00"),
            "day" -> (() => s"date_add(date'2023-11-15', ${random.nextInt(70)})"),
            "w" -> (() => s"${random.nextInt(150) + pick(random, Seq(0L, 3000000000L))}"),
            "late" -> (() => s"${random.nextInt(40)}"),
            "s" -> (() => s"'$text'")
          ))
        val values = Seq.fill(2 + random.nextInt(14))(value()).mkString(", ")
        s"SELECT id, i FROM $t WHERE $column ${one("IN", "IN", "NOT IN")} ($values)$some"
      case "function" =>
        val day = s"2023-${11 + random.nextInt(2)}-${15 + random.nextInt(15)}"
        val test = one(
          s"to_date(ts) ${one("=", "<", ">=")} date'$day'",
          s"date_trunc('DAY', ts) = timestamp'$day 00:00:00'",
          s"cast(day as timestamp) < timestamp'$day 00:00:00'",
          s"cast(day as string) LIKE '$day%'",
          s"cast(i as double) = ${random.nextInt(330)}.0")
        s"SELECT id, i FROM $t WHERE ($test)$some"
      case "index" =>
        val lower = text.toLowerCase(java.util.Locale.ROOT)
        val test = one(
          s"id = $id",
          s"i = ${random.nextInt(330)}",
          s"i <=> ${random.nextInt(330)} OR i IS NULL",
          s"lower(s) = '$lower'",
          s"NOT (lower(s) <> '$lower')",
          s"i % 7 IN (${random.nextInt(7)}, 9)",
          s"s = '$text' OR id = $id")
        s"SELECT id, i FROM $t WHERE ($test)$some"
      case _ =>
        val column = one("id", "i")
        val join = one("JOIN", "JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "LEFT JOIN")
        val chain =
          if (join == "JOIN" && random.nextBoolean())
            s" JOIN few_keys l ON k.i = l.i AND l.id > ${random.nextInt(300)}"
          else ""
        val large =
          if (random.nextInt(4) > 0) s"(SELECT * FROM $t)"
          else s"(SELECT id, i FROM $t UNION ALL SELECT id, i FROM $t WHERE id > $id)"
        s"SELECT x.id, x.i FROM $large x $join few_keys k ON x.$column = k.$column$chain WHERE true"
    }
  }
}
