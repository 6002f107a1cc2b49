package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import sparkzorder.{LongTest, SameOnAllLines}

/**
 * Queries of Delta tables at random, with deleted rows, files without bounds, partitions, renamed, added and widened
 * columns, and writes between planning and running: a list that is narrowed gives the answer of the whole one. Says of
 * each kind of predicate how many queries it took files from: one that took none was not tested.
 */
class DeltaSkippingAtRandomSuite extends AnyFunSuite with NarrowedTables {

  private val kinds = Seq("ORDER BY ... LIMIT", "list", "function", "join", "index")

  // making a table takes as long as ten queries
  test("10 queries at random of one table", SameOnAllLines)(
    atRandom(seeds = Seq(0), queries = 10, Seq("indexed")))

  for ((seeds, name) <- RandomQueries.parts)
    test(s"$name: first rows, lists, functions and joins", LongTest)(
      atRandom(seeds, RandomQueries.ofTables, Seq("mapped", "parted", "indexed")))

  private def atRandom(seeds: Seq[Int], queries: Int, names: Seq[String]): Unit = {
    val asked, narrowed = mutable.Map.empty[String, Int].withDefaultValue(0)
    for (seed <- seeds) withTempDir { dir =>
      val random = new Random(12000L + seed)
      quick {
        val tables = made(random, dir, names)
        (0 until queries).foreach { n =>
          val kind = kinds(n % kinds.length)
          asked(kind) += 1
          val table = if (kind == "index") tables.last else pick(random, tables)
          val change = if (n % 6 == 3) Some(write(random)) else None
          val text = query(random, kind)
          val isOrdered = kind.startsWith("ORDER") && !text.contains("LATERAL")
          if (opensFewer(text, isOrdered, change)(on(table, _))) narrowed(kind) += 1
        }
      }
    }
    kinds.foreach(k => info(s"$k: narrowed ${narrowed(k)} of ${asked(k)}"))
    // Delta 4 looks up some functions by itself, so that a few queries may have nothing to gain
    kinds.foreach(k => assert(narrowed(k) > 0 || asked(k) < 20, k))
    assert(narrowed.values.sum > queries / 4)
  }

  private def pick[A](random: Random, all: Seq[A]): A = all(random.nextInt(all.length))

  private def rows(random: Random, from: Long, files: Int): DataFrame = {
    val start = random.nextInt(50)
    spark.range(from, from + files * 6L, 1, files).selectExpr(
      "id",
      s"if(hash(id, $start) % 7 = 0, null, cast(id div 4 + $start as int)) i",
      "cast(id div 6 * 10 as decimal(20, 2)) n",
      s"timestamp_micros(1700000000000000 + (id div 6) * 40000000000 + hash(id, $start) % 2000) t",
      "date_add(date'2023-11-15', cast(id div 12 as int)) d",
      "case when id % 5 = 0 then null when id % 11 = 3 then cast(concat(X'61', unhex('FF')) as string) " +
        "when id % 13 = 5 then repeat('z', 40) " +
        "else concat(char(cast(65 + id div 6 + 32 * (id % 2) as int)), id % 3) end s",
      "id div 12 % 3 part",
      "if(id % 10 = 3, double('NaN'), cast(id as double)) x",
      // in files that come later, too large for a SMALLINT
      "cast(if(id < 72, id div 6 * 3, 40000 + id) as int) w",
      "if(id % 9 = 4, null, cast(id % 40 as int)) late")
  }

  /**
   * Of these tables: "mapped" with deleted rows and a renamed column, "parted" in partitions, and "indexed" as the first
   * with an index that is older than some of the deletes; all with a file without bounds.
   */
  private def made(random: Random, dir: Path, names: Seq[String]): Seq[Path] = {
    val tables = names.map { name =>
      val path = dir.resolve(name)
      if (name != "parted") changed(random, path, isIndexed = name == "indexed")
      else if (clusterBy.isEmpty)
        rows(random, 0, 12).write.format("delta").partitionBy("part").save(path.toString)
      else {
        // no liquid table has partitions: this one has files of ours
        saved(rows(random, 0, 12), path)
        done(on(path, "ZORDER TABLE <t> WITH (fileCount = 8, force = true)").head())
      }
      withConf("spark.databricks.delta.stats.collect" -> "false")(append(rows(random, 72, 1), path))
      append(rows(random, 78, 2), path)
      path
    }
    spark.range(0, 4, 1, 1).selectExpr(
      s"id * ${1 + random.nextInt(20)} id",
      "cast(id * 5 as int) i").coalesce(1).write.parquet(dir.resolve("keys").toString)
    spark.read.parquet(dir.resolve("keys").toString).createOrReplaceTempView("few_keys")
    tables
  }

  /** A table of which rows were deleted and a column renamed, and of some one column was widened and one added. */
  private def changed(random: Random, path: Path, isIndexed: Boolean): Unit = {
    val evolves = random.nextInt(3) > 0
    val first = rows(random, 0, 12).withColumnRenamed("i", "old")
    saved(
      if (evolves) first.withColumn("w", first("w").cast("smallint")).drop("late") else first,
      path,
      "enableDeletionVectors" -> "true",
      "enableTypeWidening" -> "true",
      "columnMapping.mode" -> "name")
    on(path, "ALTER TABLE <t> RENAME COLUMN old TO i")
    on(path, s"DELETE FROM <t> WHERE hash(id, ${random.nextInt(99)}) % 3 = 0")
    if (isIndexed) {
      on(
        path,
        "ZORDER INDEX <t> COLUMNS (lower(s), i % 7) " +
          "WITH (bloom = 'id, i, s', values = 'i, s', bloomBudget = '1000%')")
      on(path, s"DELETE FROM <t> WHERE hash(id, ${random.nextInt(99)}) % 5 = 0")
    }
    if (evolves) {
      on(path, "ALTER TABLE <t> ALTER COLUMN w TYPE INT")
      on(path, "ALTER TABLE <t> ADD COLUMN late INT")
    }
  }

  private def append(df: DataFrame, path: Path): Unit =
    df.write.format("delta").mode("append").save(path.toString)

  /** What somebody else does to a table. */
  private def write(random: Random): String = pick(
    random,
    Seq(
      s"DELETE FROM <t> WHERE hash(id, ${random.nextInt(99)}) % 5 = 0",
      s"DELETE FROM <t> WHERE id DIV 6 = ${random.nextInt(14)}",
      s"INSERT INTO <t> SELECT * FROM <t> WHERE id % 8 = ${random.nextInt(8)}"))

  /** A query whose answer does not depend on the order of rows. */
  private def query(random: Random, kind: String): String = {
    def condition: String = pick(
      random,
      Seq(
        "id < 40",
        "id >= 30",
        "part = 1",
        "part < 2 AND id > 5",
        "part = 2",
        "i = 60",
        "i IS NOT NULL",
        "s < 'E'",
        "x > 3",
        "w >= 18",
        "w < 40000",
        "late < 20",
        "late IS NULL"))
    def some: String = if (random.nextBoolean()) s" AND $condition" else ""
    kind match {
      case "ORDER BY ... LIMIT" =>
        val column = pick(random, Seq("id", "i", "n", "t", "d", "s", "x", "w", "late"))
        val order = pick(random, Seq("ASC", "DESC")) + pick(random, Seq("", " NULLS FIRST", " NULLS LAST"))
        val offset = if (random.nextInt(3) == 0) s" OFFSET ${random.nextInt(5)}" else ""
        val shown = if (column == "s") "hex(s)" else column
        def first(from: String, more: String) = s"SELECT $column$more FROM $from WHERE true$some " +
          s"ORDER BY $column $order LIMIT ${1 + random.nextInt(14)}$offset"
        random.nextInt(4) match {
          // the plan of the subquery, which the rules have seen, becomes a part of the query around it
          case 0 => s"SELECT $shown FROM (SELECT 1 AS one) o, LATERAL (${first("<t>", "")})"
          // no filter goes below a column that is not deterministic, not even one on partition columns
          case 1 =>
            s"SELECT $shown, f FROM (${first("(SELECT *, spark_partition_id() >= 0 AS f FROM <t>)", ", f")})"
          case _ => s"SELECT $shown FROM (${first("<t>", "")})"
        }
      case "list" =>
        val (column, value) = pick(
          random,
          Seq[(String, () => String)](
            "id" -> (() => s"${random.nextInt(90)}"),
            "i" -> (() => s"${random.nextInt(70)}"),
            "n" -> (() => s"${random.nextInt(12) * 10}.00"),
            "d" -> (() => s"date_add(date'2023-11-15', ${random.nextInt(7)})"),
            "w" -> (() => s"${pick(random, Seq(random.nextInt(12) * 3, 40072 + random.nextInt(18)))}"),
            "late" -> (() => s"${random.nextInt(40)}"),
            "s" -> (() => s"'${('A' + random.nextInt(14)).toChar}${random.nextInt(3)}'")
          ))
        val values = Seq.fill(2 + random.nextInt(14))(value()).mkString(", ")
        s"SELECT id, i FROM <t> WHERE $column ${pick(random, Seq("IN", "IN", "NOT IN"))} ($values)$some"
      case "function" =>
        val day = s"2023-11-${15 + random.nextInt(6)}"
        val test = pick(
          random,
          Seq(
            s"to_date(t) = date'$day'",
            s"date_trunc('DAY', t) = timestamp'$day 00:00:00'",
            s"cast(d as timestamp) < timestamp'$day 00:00:00'",
            s"cast(d as string) LIKE '$day%'",
            s"cast(i as double) = ${random.nextInt(60)}.0"))
        s"SELECT id, i FROM <t> WHERE $test$some"
      case "index" =>
        val text = s"${('a' + random.nextInt(14)).toChar}${random.nextInt(3)}"
        val test = pick(
          random,
          Seq(
            s"id = ${random.nextInt(90)}",
            s"i = ${random.nextInt(70)}",
            s"i <=> ${random.nextInt(70)} OR i IS NULL",
            s"lower(s) = '$text'",
            s"NOT (lower(s) <> '$text')",
            s"i % 7 IN (${random.nextInt(7)}, 9)",
            s"s = '${text.toUpperCase(java.util.Locale.ROOT)}' OR id = ${random.nextInt(90)}"))
        val more = some
        // with all rows, with some deleted, and as it is now; these versions need not have the added column
        val version =
          if (more.contains("late")) "" else pick(random, Seq("", "VERSION AS OF 1", "VERSION AS OF 2"))
        s"SELECT id, i FROM <t> $version WHERE ($test)$more"
      case _ =>
        val column = pick(random, Seq("id", "i"))
        val join = pick(random, Seq("JOIN", "JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "LEFT JOIN"))
        val chain =
          if (join == "JOIN" && random.nextBoolean())
            s" JOIN few_keys l ON k.i = l.i AND l.id > ${random.nextInt(30)}"
          else ""
        val large = if (random.nextInt(4) > 0) "<t>"
        else s"(SELECT id, i FROM <t> UNION ALL SELECT id, i FROM <t> WHERE id > ${random.nextInt(30)})"
        s"SELECT t.id, t.i FROM $large t $join few_keys k ON t.$column = k.$column$chain WHERE true"
    }
  }
}
