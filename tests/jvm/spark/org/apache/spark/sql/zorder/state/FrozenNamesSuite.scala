package org.apache.spark.sql.zorder.state

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.insight.advise
import org.apache.spark.sql.zorder.conf.{SessionKeys, ZOrderOption}
import org.apache.spark.sql.zorder.clustering.report.RunStatus
import org.apache.spark.sql.zorder.table.ClusteredBy
import org.apache.spark.sql.zorder.insight.explain.PruneCause
import org.apache.spark.sql.zorder.sql.function.{ScalarFunctions, TableFunctions}
import org.apache.spark.sql.zorder.table.{Operation, StateDir}
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice}
import org.apache.spark.sql.zorder.table.parquet.commit.{CatalogCommit, ExchangeMark}
import org.apache.spark.sql.zorder.querylog.ConditionKind
import sparkzorder.curve.build.CurveRegistry
import sparkzorder.mark.SameOnAllLines

/**
 * What users and other programs know by name: columns of results, statuses, options, settings, properties, and fields of
 * the JSON below `_zorder`. All of it is in `tests/state/names.txt`. A name that must change is a decision of its own,
 * and never comes with a rename in the code.
 */
@SameOnAllLines
class FrozenNamesSuite extends AnyFunSuite with ZOrderSession {

  private def section(title: String, lines: Seq[String]): String =
    (s"# $title" +: lines.map(l => s"  $l")).mkString("", "\n", "\n")

  private def fields(schema: StructType): Seq[String] =
    schema.map(f => s"${f.name} ${f.dataType.catalogString}")

  private val statements = Seq(
    "OPTIMIZE t ZORDER BY (a)",
    "ZORDER TABLE t BY (a)",
    "ZORDER TABLE t BY (a) AS ROWS",
    "ZORDER AUDIT t",
    "ZORDER HISTORY t",
    "ZORDER VACUUM t",
    "ZORDER ROLLBACK t",
    "ZORDER REMOVE t",
    "ZORDER INDEX t",
    "ZORDER REFRESH INDEX t",
    "ZORDER DESCRIBE INDEX t",
    "ZORDER DROP INDEX t",
    "ZORDER LOG START 'x'",
    "ZORDER LOG STOP",
    "ZORDER EXPLAIN SELECT 1",
    "ZORDER EXPLAIN LOG t")

  /** A statement has its columns as soon as it is parsed. */
  private def ofStatements: Seq[String] = statements.map { s =>
    val plan = spark.sessionState.sqlParser.parsePlan(s)
    section(s, plan.output.map(a => s"${a.name} ${a.dataType.catalogString}"))
  }

  private def ofFunctions(path: Path): Seq[String] = {
    val log = "zorder_query_log('SELECT * FROM state_names WHERE v = 1')"
    spark.read.parquet(path.toString).createOrReplaceTempView("state_names")
    spark.sql(s"SELECT * FROM $log").createOrReplaceTempView("state_names_log")
    val events = Files.createDirectories(path.resolveSibling("events"))
    val calls = Map(
      "zorder_query_log" -> log,
      "zorder_event_log" -> s"zorder_event_log('$events')",
      "clustering_queries" -> s"clustering_queries('$path', 'state_names_log')",
      "clustering_where" -> s"clustering_where('$path', 'v = 1')",
      "clustering_information" -> s"clustering_information('$path', 'v')",
      "clustering_boxes" -> s"clustering_boxes('$path', 'v')")
    TableFunctions.all.map { f =>
      val call = if (f.name == "zorder_skipping_usage") s"${f.name}()" else s"${f.name}('$path')"
      section(f.name, fields(spark.sql(s"SELECT * FROM ${calls.getOrElse(f.name, call)}").schema))
    } :+ section("scalar functions", ScalarFunctions.all.map(_.name))
  }

  /** Statuses, each got by a statement, and those that a statement cannot easily be brought to. */
  private def ofStatuses(path: Path): Seq[String] = {
    def status(sql: String): String = {
      val rows = spark.sql(sql.replace("t.", s"'$path'")).collect()
      s"$sql: ${rows.map((r: Row) => r.getAs[String]("status")).distinct.mkString(", ")}"
    }
    val said = Seq(
      "ZORDER INDEX t.",
      "ZORDER TABLE t. BY (id, v) WITH (fileCount = 2, force = true) DRY RUN",
      "ZORDER TABLE t. BY (id, v) WITH (fileCount = 2, force = true)",
      "ZORDER TABLE t. BY (id, v) WITH (fileCount = 2)",
      "ZORDER REFRESH INDEX t.",
      "ZORDER DROP INDEX t.",
      "ZORDER DROP INDEX t.",
      "ZORDER VACUUM t. RETAIN 0 HOURS DRY RUN",
      "ZORDER VACUUM t.",
      "ZORDER ROLLBACK t.",
      "ZORDER VACUUM t. RETAIN 0 HOURS",
      s"ZORDER LOG START '${path.resolveSibling("log")}'",
      "ZORDER LOG STOP",
      "ZORDER LOG STOP")
      .map(status).map(_.replace(path.getParent.toString, "@DIR@"))
    Seq(
      section("statuses of statements", said),
      section(
        "statuses of a run",
        Seq(
          RunStatus.Done,
          RunStatus.Partial,
          RunStatus.DryRun,
          RunStatus.NothingToDo,
          RunStatus.NoGain,
          RunStatus.TooSmall).map(_.name)),
      section("late files", LateChoice.all.map(c => s"${c.word} ${c.status.name}")),
      section("files that have moved", Seq(HomeChoice.MoveHome, HomeChoice.Stay).map(_.words)),
      section(
        "operations",
        Seq(Operation.Optimize, Operation.Rollback, Operation.Replace, Operation.MoveHome).map(_.text)),
      section(
        "verdicts of the advice",
        Seq(
          advise.Recommendation.LeaveIt,
          advise.Recommendation.Cluster,
          advise.Recommendation.Sort,
          advise.Recommendation.BloomFilter,
          advise.Recommendation.Partition,
          advise.Recommendation.KeepPartitioning).map(_.name)),
      section("conditions of a query log", ConditionKind.all),
      section(
        "why files are skipped",
        Seq(PruneCause.Range, PruneCause.RangeSet, PruneCause.Bloom, PruneCause.Top).map(_.name)),
      section("curves", CurveRegistry.names))
  }

  private def ofSettings: Seq[String] = Seq(
    section("options", ZOrderOption.all.map(o => s"${o.name} ${o.sessionKey} ${o.tableProperty}")),
    section("settings", SessionKeys.settings.map(s => s"${s.key} ${s.default}".trim)),
    section(
      "table properties",
      Seq(
        ClusteredBy.Property,
        ExchangeMark.Property,
        CatalogCommit.TxnProperty,
        CatalogCommit.BaseProperty,
        StateDir.RecordsProperty)))

  /** The fields of JSON texts, with those of the texts within them. */
  private def fieldsOf(texts: Seq[String]): Seq[String] = {
    val mapper = new ObjectMapper()
    def below(node: JsonNode, at: String): Seq[String] =
      if (node.isObject) node.fieldNames.asScala.toSeq.flatMap { field =>
        // keys of these are data
        val name = if (Set("layoutIds", "metrics.stepMs").exists(k => at.endsWith(k))) "*" else field
        val path = if (at.isEmpty) name else s"$at.$name"
        path +: below(node.get(field), path)
      }
      else if (node.isArray) node.elements.asScala.toSeq.flatMap(below(_, s"$at[]"))
      else if (node.isTextual && node.asText.startsWith("{")) below(mapper.readTree(node.asText), s"$at.")
      else Nil
    texts.flatMap(t => below(mapper.readTree(t), "")).distinct.sorted
  }

  /** What a run writes now; whether earlier texts are read, [[StateOnDiskSuite]] asks. */
  private def ofFiles(path: Path): Seq[String] = {
    spark.sql(s"ZORDER TABLE '$path' BY (id, s, v) WITH (fileCount = 4, force = true)")
    def texts(dir: Path, name: String): Seq[String] =
      Files.list(
        dir).iterator.asScala.toSeq.filter(_.getFileName.toString.matches(name)).map(StateFixture.text)
    val state = path.resolve("_zorder")
    def walked(dir: Path): Seq[String] = Files.walk(dir).iterator.asScala.toSeq
      .filter(p => Files.isRegularFile(p) && !p.toString.endsWith(".parquet") && !p.toString.endsWith(".crc"))
      .map(p => path.getParent.relativize(p).toString)
      .filterNot(_.startsWith("events")).filterNot(_.startsWith("log"))
      .map(_.replaceAll("[0-9a-f]{8,}", "*").replaceAll("zorder-\\*[^.]*|old-\\*[^./]*", "zorder-*"))
      .filterNot(_.endsWith("_SUCCESS")).distinct.sorted
    Seq(
      section("files of a run", walked(path.getParent)),
      section("fields of a run record", fieldsOf(texts(state.resolve("runs"), "\\d+\\.json"))),
      section("fields of a layout", fieldsOf(texts(state.resolve("layouts"), ".*\\.json"))),
      section("fields of a journal", fieldsOf(texts(path.getParent, "\\.t\\.zorder-.*\\.json"))))
  }

  test("no name of ours has changed") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      StateFixture.rows(spark, 0, 400, 4).selectExpr("*", "concat('s', id % 10) s")
        .write.parquet(path.toString)
      val now =
        (ofStatements ++ ofFunctions(path) ++ ofSettings ++ ofStatuses(path) ++ ofFiles(path)).mkString("\n")
      val fresh = Paths.get("target/names.txt")
      StateFixture.write(fresh.toAbsolutePath, now)
      val known = StateFixture.of("names.txt")
      assert(Files.exists(known), s"copy $fresh to $known")
      val (had, has) = (StateFixture.text(known).split('\n').toSeq, now.split('\n').toSeq)
      assert(had === has, s"gone: ${had.diff(has)}; new: ${has.diff(had)}; the present names are in $fresh")
    }
  }
}
