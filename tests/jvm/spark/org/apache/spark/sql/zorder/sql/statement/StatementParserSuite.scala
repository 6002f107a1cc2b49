package org.apache.spark.sql.zorder.sql.statement

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.zorder.clustering.request.ClusterRequest
import org.apache.spark.sql.zorder.conf.{OptionSetting, RunOptions, ZOrderOption}
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.TableRef.{Location, Name}

/** docs/spec.md, section 6: what parses, and into what. */
class StatementParserSuite extends AnyFunSuite {
  private def parse(sql: String): ZOrderCommand =
    new StatementParser(CatalystSqlParser).parse(StatementFilter(sql).get)

  private def request(sql: String): ClusterRequest = parse(sql).asInstanceOf[ClusterCommand].request

  private def bare(sql: String): ClusterRequest = request(sql).copy(statement = "")

  private val t = ClusterRequest(Name(Seq("t")), Nil, false, None, None, Nil, None, false, "")

  private def settings(pairs: (String, String)*): Seq[OptionSetting] =
    pairs.map { case (name, text) => ZOrderOption.named(name).setting(name, text) }

  test("every clause, in both spellings") {
    val clauses = "USING CURVE Hilbert WITH (targetFileSize = 256m, force = TRUE) INTO '/data/out' DRY RUN"
    val wanted = t.copy(
      target = Name(Seq("c", "db", "t")),
      by = Seq("a", "b.c"),
      full = true,
      where = Some("day >= '2026-01-01'"),
      curve = Some("hilbert"),
      options = settings("targetFileSize" -> "256m", "force" -> "TRUE"),
      into = Some("/data/out"),
      dryRun = true
    )
    assert(bare(s"OPTIMIZE c.db.t FULL WHERE day >= '2026-01-01' ZORDER BY (a, b.c) $clauses") == wanted)
    assert(bare(s"optimize c.db.t full where day >= '2026-01-01' zorder by a, b.c $clauses") == wanted)
    assert(bare(s"ZORDER TABLE c.db.t FULL WHERE day >= '2026-01-01' BY (a, b.c) $clauses") == wanted)
    assert(bare(s"zorder table c.db.t full where day >= '2026-01-01' by a, b.c $clauses") == wanted)
  }

  test("the query log") {
    assert(parse("ZORDER LOG START") == LogStartCommand(None, None))
    assert(parse("zorder log start '/q' keep literals;") == LogStartCommand(Some("/q"), Some(true)))
    assert(parse("ZORDER LOG START DROP LITERALS") == LogStartCommand(None, Some(false)))
    assert(parse("ZORDER LOG STOP") == LogStopCommand())
  }

  test("explanations of a query and of a log") {
    assert(parse("ZORDER EXPLAIN SELECT 1;") == ExplainQueryCommand("SELECT 1"))
    val query = "SELECT 'a;b', m['x'] /* c */ FROM t -- d\n WHERE a::int > 1"
    assert(parse(s"zorder explain $query") == ExplainQueryCommand(query))
    assert(parse("ZORDER EXPLAIN LOG '/q'") == ExplainLogCommand("/q"))
    assert(parse("ZORDER EXPLAIN LOG db.`a b`") == ExplainLogCommand("db.`a b`"))
  }

  test("every clause alone") {
    assert(bare("OPTIMIZE t") == t)
    assert(bare("ZORDER TABLE t") == t)
    assert(bare("OPTIMIZE t FULL") == t.copy(full = true))
    assert(bare("OPTIMIZE t WHERE a = 1") == t.copy(where = Some("a = 1")))
    assert(bare("OPTIMIZE t ZORDER BY a") == t.copy(by = Seq("a")))
    assert(bare("OPTIMIZE t USING CURVE tree") == t.copy(curve = Some("tree")))
    assert(bare("OPTIMIZE t WITH (fileCount = 50)") == t.copy(options = settings("fileCount" -> "50")))
    assert(bare("OPTIMIZE t WITH ()") == t)
    assert(bare("OPTIMIZE t INTO \"/p\"") == t.copy(into = Some("/p")))
    assert(bare("OPTIMIZE t DRY RUN") == t.copy(dryRun = true))
  }

  test("a table given as text: path or name, as in Python") {
    val lines = new String(Files.readAllBytes(Paths.get("tests/shared/table-names.tsv")), UTF_8).split('\n')
    assert(lines.length > 10)
    lines.map(_.split('\t')).foreach { parts =>
      assert(TableRef.isPath(parts(0)) == (parts(1) == "path"), parts(0))
    }
  }

  test("the table: names, quoted names, paths in three spellings") {
    assert(request("OPTIMIZE `my table`.`a.b``c`").target == Name(Seq("my table", "a.b`c")))
    assert(request("OPTIMIZE '/data/it''s'").target.isInstanceOf[Location])
    assert(request("OPTIMIZE '/data/t' ZORDER BY a").target == Location("/data/t"))
    assert(request("OPTIMIZE Parquet.`/data/t` ZORDER BY a").target == Location("/data/t", Some("parquet")))
    assert(request("ZORDER TABLE delta.`s3://b/t` BY (a)").target == Location("s3://b/t", Some("delta")))
    assert(request("ZORDER TABLE `iceberg`.`/data/t`").target == Location("/data/t", Some("iceberg")))
    assert(request("OPTIMIZE parquet.t").target == Name(Seq("parquet", "t")))
    // a database may be called as a format is
    assert(request("ZORDER TABLE iceberg.`2026-events`").target == Name(Seq("iceberg", "2026-events")))
    assert(request("OPTIMIZE a . b").target == Name(Seq("a", "b")))
    // our words are table names where a table belongs
    assert(request("OPTIMIZE full FULL").copy(statement = "") == t.copy(Name(Seq("full")), full = true))
    assert(request("ZORDER TABLE table").target == Name(Seq("table")))
    assert(request("OPTIMIZE db.`where` WHERE a = 1").where == Some("a = 1"))
    assert(request("OPTIMIZE db.full").target == Name(Seq("db", "full")))
  }

  test("clauses are found outside quotes, brackets and comments only") {
    val where = "a = 'x ZORDER BY y' AND `DRY RUN` = \"WITH (\" AND b IN (SELECT into FROM u WHERE dry = 1)"
    assert(request(s"OPTIMIZE t WHERE $where ZORDER BY a").where == Some(where))
    val commented =
      request("OPTIMIZE t -- WHERE x\n WHERE a /* ZORDER BY */ = 1 /* ' */ ZORDER BY -- b\n a DRY RUN --")
    assert(commented.where == Some("a /* ZORDER BY */ = 1"))
    assert(commented.by == Seq("a") && commented.dryRun)
    assert(request("OPTIMIZE t WHERE s.where = 1 AND zorder(a) > x'00'").where == Some(
      "s.where = 1 AND zorder(a) > x'00'"))
    val decimals = request("ZORDER TABLE t WHERE .5 < share AND s.1a.by < 1. BY (a, .5 * b)")
    assert(decimals.where == Some(".5 < share AND s.1a.by < 1.") && decimals.by == Seq("a", ".5 * b"))
    assert(request("OPTIMIZE t WHERE x > 2. ZORDER BY a").where == Some("x > 2."))
    assert(request("ZORDER TABLE t WHERE m[1].by = f(a).where BY (a)").where == Some("m[1].by = f(a).where"))
    assert(request("OPTIMIZE t WHERE CASE WHEN a THEN b ELSE c END ZORDER BY a").by == Seq("a"))
    assert(request("OPTIMIZE t WHERE full = 1 AND dry = 2").where == Some("full = 1 AND dry = 2"))
  }

  test("list items are expressions") {
    assert(request("OPTIMIZE t ZORDER BY (year(d), a % 3, `x,y`, s['k, (l'])").by ==
      Seq("year(d)", "a % 3", "`x,y`", "s['k, (l']"))
    assert(request("OPTIMIZE t ZORDER BY (a + b) * 2, c").by == Seq("(a + b) * 2", "c"))
    assert(request("OPTIMIZE t ZORDER BY (a), (b)").by == Seq("(a)", "(b)"))
    assert(request("OPTIMIZE t ZORDER BY ((a), b)").by == Seq("(a)", "b"))
    assert(request("OPTIMIZE t ZORDER BY cast(a AS INT), b").by == Seq("cast(a AS INT)", "b"))
  }

  test("option values: words, numbers, strings; names in any case") {
    val options =
      request(
        "OPTIMIZE t WITH (TARGETFILESIZE=1g, 'mingain' = 0.25, `codec` = 'ZSTD', retention = 7d)").options
    assert(options ==
      settings("targetFileSize" -> "1g", "minGain" -> "0.25", "codec" -> "ZSTD", "retention" -> "7d"))
    assert(RunOptions.merge(options.init, Map.empty, Map.empty) ==
      RunOptions(targetFileSize = Some(1L << 30), minGain = 0.25, codec = Some("zstd")))
    // a column's name as SQL
    val names = "bloom = `customer-id`, `queryLog` = `my-log`"
    assert(request(s"OPTIMIZE t WITH ($names)").options ==
      settings("bloom" -> "`customer-id`", "queryLog" -> "`my-log`"))
  }

  test("the statement is kept as written, without comments around it and semicolons") {
    assert(request(" -- c\n OPTIMIZE t  ZORDER BY (a) ; ;; -- end").statement == "OPTIMIZE t  ZORDER BY (a)")
  }

  test("only a plain OPTIMIZE is Delta's syntax too") {
    def delta(sql: String): Boolean = request(sql).deltaSyntax
    assert(delta("OPTIMIZE t FULL WHERE a = 1 ZORDER BY (a)") && delta("OPTIMIZE t"))
    Seq(
      "OPTIMIZE t DRY RUN",
      "OPTIMIZE t WITH (force = true)",
      "OPTIMIZE t USING CURVE hilbert",
      "OPTIMIZE t INTO '/p'",
      "ZORDER TABLE t BY (a)").foreach(sql => assert(!delta(sql), sql))
  }

  test("maintenance") {
    val name = Name(Seq("db", "t"))
    assert(parse("ZORDER VACUUM db.t") == VacuumCommand(name, None, None, dryRun = false))
    assert(parse("zorder vacuum db.t retain 1.5 hours dry run;") == VacuumCommand(
      name,
      Some(1.5),
      None,
      dryRun = true))
    assert(parse("ZORDER VACUUM '/p' RETAIN 0 HOURS") == VacuumCommand(
      Location("/p"),
      Some(0),
      None,
      dryRun = false))
    assert(parse("ZORDER VACUUM t RETAIN 0 HOURS LATE FILES replace") ==
      VacuumCommand(Name(Seq("t")), Some(0), Some(LateChoice.Replace), dryRun = false))
    assert(parse("ZORDER ROLLBACK db.t") == RollbackCommand(name))
    assert(parse("ZORDER REMOVE parquet.`/p`") == RemoveCommand(Location("/p", Some("parquet")), None))
  }
}
