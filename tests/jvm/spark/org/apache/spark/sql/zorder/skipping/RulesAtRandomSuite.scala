package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import sparkzorder.{LongTest, SameOnAllLines}

/**
 * Queries at random, in any spelling and under settings and time zones at random: what the rules of the index make of
 * them has the answer of a session without it. Says of each rule how many queries it took files from: a rule that took
 * none was not tested.
 */
class RulesAtRandomSuite extends AnyFunSuite with SkippedScans {

  private val rules = Seq("count, min, max", "ORDER BY ... LIMIT", "expression", "text")

  test("queries at random: aggregates, first rows, expressions and text", SameOnAllLines)(atRandom(
    seeds = 0 until 1,
    queries = 32))

  for ((seeds, name) <- RandomQueries.parts(ofTables = 200, usual = 5000, part = 25))
    test(s"$name: aggregates, first rows, expressions and text", LongTest)(atRandom(seeds, queries = 200))

  private def atRandom(seeds: Seq[Int], queries: Int): Unit = {
    val asked, answered = mutable.Map.empty[String, Int].withDefaultValue(0)
    for (seed <- seeds) withTempDir { dir =>
      val random = new Random(11000L + seed)
      val defaulted = s"defaulted_$seed"
      withTable(defaulted)(quick {
        val tables = made(random, dir, defaulted)
        (0 until queries).foreach { n =>
          val rule = rules(n % rules.length)
          asked(rule) += 1
          if (takesFiles(random, rule, query(random, rule, tables(random.nextInt(tables.length)))))
            answered(rule) += 1
        }
      })
    }
    rules.foreach(r => info(s"$r: answered ${answered(r)} of ${asked(r)}"))
    rules.foreach(r => assert(answered(r) > 0, r))
  }

  /** Under which an index is made, and most queries are asked. */
  private val base = Seq(
    "spark.sql.session.timeZone" -> "America/St_Johns",
    "spark.sql.ansi.enabled" -> "false",
    "spark.sql.decimalOperations.allowPrecisionLoss" -> "true")

  private val others = Seq(
    "spark.sql.session.timeZone" -> "Asia/Kathmandu",
    "spark.sql.session.timeZone" -> "UTC",
    "spark.sql.ansi.enabled" -> "true",
    "spark.sql.decimalOperations.allowPrecisionLoss" -> "false",
    "spark.sql.jsonGenerator.ignoreNullFields" -> "false",
    "spark.sql.legacy.timeParserPolicy" -> "CORRECTED",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.parquet.aggregatePushdown" -> "true",
    "spark.sql.parquet.enableVectorizedReader" -> "false",
    "spark.sql.optimizer.inSetConversionThreshold" -> "1",
    "spark.sql.parquet.filterPushdown" -> "false")

  private val expressions = Seq(
    "n * m",
    "n / m",
    "n + m",
    "lower(s)",
    "hour(t)",
    "abs(i) % 5",
    "cast(t as string)",
    "date_trunc('DAY', t)",
    "i > 3",
    "coalesce(i, -1)",
    "length(s)",
    "concat(s, i)",
    "weekday(t)",
    "cast(n as int)",
    "n * m",
    "cast(t as string)")

  private def rows(random: Random, files: Int): DataFrame = {
    val start = random.nextInt(50)
    spark.range(0, files * 6L, 1, files).selectExpr(
      s"id + $start id",
      s"if(hash(id, $start) % 7 = 0, null, cast(id div 4 + $start as int)) i",
      "cast(id div 6 * 10 as decimal(20, 10)) n",
      "cast(hash(id) % 3 + 5 as decimal(20, 10)) m",
      s"timestamp_seconds(1700000000 + (id div 6) * 40000 + hash(id, $start) % 2000) t",
      // some are no UTF-8
      "case when id % 11 = 3 then cast(concat(X'61', unhex(repeat('FF', 17))) as string) " +
        "when id % 13 = 5 then cast(unhex(repeat('FF', 20)) as string) when id % 5 = 0 then null " +
        "else concat(char(cast(65 + id div 6 + 32 * (id % 2) as int)), id % 3) end s")
  }

  private def made(random: Random, dir: Path, defaulted: String): Seq[RandomTable] = withConf(
    ("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") +: base: _*) {
    val columns = s"id, i, n, m, t, s, ${expressions.distinct.mkString(", ")}"
    val parted = dir.resolve("parted")
    rows(random, 10).selectExpr("*", "id div 12 % 3 part", "concat('q', id div 24 % 2) Quarter")
      .write.partitionBy("part", "Quarter").parquet(parted.toString)
    index(parted, columns)
    // files without x, in place of which a default stands, and an index that does not know of it
    val old = dir.resolve("old")
    rows(random, 6).write.parquet(old.toString)
    rows(random, 3).selectExpr("*", "id % 4 x").write.mode("append").parquet(old.toString)
    withConf("spark.sql.parquet.mergeSchema" -> "true")(index(old, "x", columns))
    spark.sql(
      s"CREATE TABLE $defaulted (id BIGINT, i INT, n DECIMAL(20,10), m DECIMAL(20,10), t TIMESTAMP, s STRING) " +
        s"USING parquet LOCATION '$old'")
    spark.sql(s"ALTER TABLE $defaulted ADD COLUMN x BIGINT DEFAULT 9")
    Seq(RandomTable(s"parquet.`$parted`", Seq("part", "Quarter")), RandomTable(defaulted, Nil))
  }

  private def pick[A](random: Random, all: Seq[A]): A = all(random.nextInt(all.length))

  /** The names in a text, each letter in any case; what is in quotes stays. */
  private def spelled(random: Random, sql: String): String =
    if (random.nextBoolean()) sql
    else sql.split("'", -1).zipWithIndex.map { case (part, n) =>
      if (n % 2 == 1) part else part.map(c => if (random.nextBoolean()) c.toUpper else c.toLower)
    }.mkString("'")

  /** A query whose answer does not depend on the order of rows. */
  private def query(random: Random, rule: String, table: RandomTable): String = {
    val own = if (table.partitions.isEmpty) Seq("x") else Nil
    val exact = Seq("id", "i", "t", "n") ++ own ++ own
    def onPartitions: Option[String] =
      if (table.partitions.isEmpty || random.nextInt(3) == 0) None
      else Some(pick(
        random,
        Seq(
          "part = 1",
          "part >= 1",
          "part IN (0, 2)",
          "quarter = 'q1'",
          "NOT (part = 0)",
          "part < 2 AND quarter <> 'q0'",
          "part = 7",
          "part IS NULL")))
    def where(conditions: Option[String]*): String =
      if (conditions.flatten.isEmpty) "" else conditions.flatten.mkString(" WHERE ", " AND ", "")
    def bound: String = pick(
      random,
      Seq("id < 40", "id >= 70", "i = 20", "s < 'E'", "x = 9", "x > 3").filter(c =>
        own.nonEmpty || !c.startsWith("x")))
    val (select, rest) = rule match {
      case "count, min, max" =>
        val aggregates = Seq.fill(1 + random.nextInt(3))(pick(
          random,
          Seq("count(*)", "count(s)") ++
            exact.flatMap(c => Seq(s"min($c)", s"max($c)", s"count($c)")))).distinct
        aggregates.zipWithIndex.map { case (a, n) => s"$a a$n" }.mkString(", ") -> where(onPartitions)
      case "ORDER BY ... LIMIT" =>
        val column = pick(random, exact :+ "s")
        val order = pick(random, Seq("ASC", "DESC")) + pick(random, Seq("", " NULLS FIRST", " NULLS LAST"))
        val some = if (random.nextBoolean()) Some(bound) else None
        (if (column == "s") "hex(s), s" else column) ->
          s"${where(onPartitions, some)} ORDER BY $column $order LIMIT ${1 + random.nextInt(8)}"
      case "expression" => "id, i" -> where(Some(onExpression(random)), onPartitions)
      case _ =>
        val test = pick(
          random,
          Seq(
            "s < 'b'",
            "s LIKE 'a%'",
            "startswith(s, 'a')",
            "s <> 'b'",
            "NOT s >= 'b'",
            "s LIKE 'C_'",
            "s >= 'F'",
            "s IN ('A0', 'c2')",
            "s NOT IN ('A0', 'B1')",
            "NOT (s LIKE 'B%')",
            "s IS NULL"))
        "id, hex(s)" -> where(Some(test), onPartitions)
    }
    val (columns, filters) = (spelled(random, select), spelled(random, rest))
    val text = s"SELECT $columns FROM ${table.from}$filters"
    if (!rule.startsWith("ORDER")) text
    else text.hashCode % 3 match {
      // the plan of the subquery, which the rules have seen, becomes a part of the query around it
      case 0 => s"SELECT e.* FROM (SELECT 1 AS one) o, LATERAL ($text) e"
      // no filter goes below a column that is not deterministic, not even one on partition columns
      case 1 =>
        s"SELECT $columns, f FROM (SELECT *, spark_partition_id() >= 0 AS f FROM ${table.from}) $filters"
      case _ => text
    }
  }

  private def onExpression(random: Random): String = {
    val e = pick(random, expressions)
    val value = e match {
      case "n * m" => s"${random.nextInt(60) * 5}"
      case "n / m" => s"${random.nextInt(15)}"
      case "n + m" | "cast(n as int)" => s"${random.nextInt(20) * 5}"
      case "lower(s)" | "concat(s, i)" => s"'${pick(random, Seq("a0", "c1", "d2", "h0", "zz"))}'"
      case "cast(t as string)" | "date_trunc('DAY', t)" => s"'2023-11-${15 + random.nextInt(5)} 00:00:00'"
      case "i > 3" => pick(random, Seq("true", "false"))
      case _ => s"${random.nextInt(24)}"
    }
    pick(
      random,
      Seq(s"$e = $value", s"$e > $value", s"$e <= $value", s"$e <=> $value", s"NOT ($e >= $value)"))
  }

  /** Whether the query opens fewer files with the rules than without; its rows must be the same. */
  private def takesFiles(random: Random, rule: String, text: String): Boolean = {
    val changed = if (random.nextInt(3) > 0) Nil else Seq(pick(random, others))
    withConf(base ++ changed: _*) {
      def run(skipping: Boolean): (Either[String, Seq[String]], Long) =
        withConf("spark.zorder.skipping.enabled" -> skipping.toString) {
          val df = spark.sql(text)
          try {
            val found = df.collect().map(_.toString).toSeq
            val isOrdered = rule.startsWith("ORDER") && !text.contains("LATERAL")
            Right(if (isOrdered) found else found.sorted) -> opened(df)
          } catch { case e: Exception => Left(e.getClass.getName) -> -1L }
        }
      val (expected, all) = run(skipping = false)
      val (rows, some) = run(skipping = true)
      assert(rows === expected, s"$text under $changed")
      expected.isRight && some < all
    }
  }
}

/** What a query may read: a name or a path, and the names of partition columns. */
final private case class RandomTable(from: String, partitions: Seq[String])
