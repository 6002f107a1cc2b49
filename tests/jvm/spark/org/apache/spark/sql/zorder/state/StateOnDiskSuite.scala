package org.apache.spark.sql.zorder.state

import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path => HPath}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.clustering.fit.LayoutJson
import org.apache.spark.sql.zorder.table.{CatalogImage, CommitRequest, StateDir}
import org.apache.spark.sql.zorder.table.parquet.journal.JournalStore
import sparkzorder.Steps
import sparkzorder.mark.SameOnAllLines

/**
 * State that the code of an earlier version has left on disk (`tests/state`) is read as it was meant: a rename in the
 * code must not rename a field in a file.
 */
@SameOnAllLines
class StateOnDiskSuite extends AnyFunSuite with ZOrderSession with Steps {
  import StateFixture.{here, lines, of, text, unpack}

  private lazy val fs = FileSystem.getLocal(new Configuration)
  private val forty = 0L until 40L

  private def unpacked[T](name: String)(body: Path => T): T = withTempDir { dir =>
    unpack(name, dir)
    body(dir)
  }

  private def names(dir: Path): Seq[String] =
    Files.list(dir).iterator.asScala.map(_.getFileName.toString).toSeq.sorted

  private def json(sql: String): Seq[String] = spark.sql(sql).toJSON.collect().toSeq

  private def ids(table: String): Seq[Long] =
    spark.sql(s"SELECT id FROM $table").collect().map(_.getLong(0)).toSeq.sorted

  private def runs(table: Any): Long = spark.sql(s"SELECT * FROM zorder_history('$table')").count()

  test("layouts of every kind, over every type: the same file and key for each row") {
    val stored = names(of("layouts")).filter(_.endsWith(".json")).map(_.stripSuffix(".json"))
    assert(stored.length >= 12)
    for (name <- stored) {
      val layout = text(of(s"layouts/$name.json"))
      val (rows, columns) =
        if (name.startsWith("types")) (StateFixture.typedRows(spark, 90), StateFixture.typed)
        else (StateFixture.layoutRows(spark), Seq("a", "s", "n"))
      assert(LayoutJson.write(LayoutJson.read(layout)) === layout, name)
      assert(StateFixture.keys(rows, layout, columns) === lines(of(s"layouts/$name.keys")), name)
    }
  }

  test("run records, layouts, base, homes and pending runs under _zorder") {
    unpacked("state-dir") { dir =>
      val state = new StateDir(fs, new HPath(dir.toUri))
      step("run records")(assert(state.runs() === StateExamples.records))
      step("layouts")(
        assert(StateExamples.layouts.forall { case (id, body) => state.layout(id).contains(body) }))
      step("base and homes")(
        assert(state.base.contains("the table") && state.homes() === StateExamples.homes))
      step("pending runs") {
        assert(state.pending.notice("t").exists(_.contains("The run dead is at work on t, or died")))
        state.pending.recover(Set("lost.parquet"))
        assert(state.runs().map(_.copy(number = 0)).last === StateExamples.pending.head)
        assert(state.runs().length === StateExamples.records.length + 1)
        assert(names(dir.resolve("_zorder/pending")).isEmpty)
      }
      step("what is written now, an earlier version must be able to read")(withTempDir { again =>
        val fresh = new StateDir(fs, new HPath(again.toUri))
        StateExamples.records.foreach(fresh.write(_, StateExamples.layouts))
        fresh.addHomes(StateExamples.homes)
        for (file <- StateExamples.records.map(r => s"runs/${r.number}.json") :+ "homes.json")
          assert(text(again.resolve(s"_zorder/$file")) === text(of(s"state-dir/_zorder/$file")))
      })
    }
  }

  test(
    "a commit that was taken for one of a dead run before its record was written counts once, and as its own") {
    withTempDir { dir =>
      val state = new StateDir(fs, new HPath(dir.toUri))
      val run = StateExamples.pending.head
      val commits = Seq("one", "two").map(name => run.files.map(_.copy(path = s"$name.parquet")))
        .map(files => CommitRequest(run.copy(files = files), Map.empty))
      for ((commit, version) <- commits.zip(Seq(7L, 8L))) {
        state.pending.begin(commit)
        state.pending.recover(commit.record.files.map(_.path).toSet)
        assert(state.runs().last.version.isEmpty && state.lastRun().isEmpty)
        state.pending.committed(commit, Some(version))
        assert(names(dir.resolve("_zorder/pending")).isEmpty)
      }
      assert(state.runs().map(_.version) === Seq(Some(7L), Some(8L)))
      assert(state.lastRun().map(_.files) === commits.map(_.record.files))
    }
  }

  test("runs that are recorded at the same time have a number each, and none is lost") {
    withTempDir { dir =>
      val state = new StateDir(fs, new HPath(dir.toUri))
      val all = (0 until 24).map(n =>
        StateExamples.pending.head.copy(runId = s"r$n", version = Some(n.toLong), fileCount = Some(n)))
      val threads = all.map(r => new Thread(() => state.append(r, StateExamples.layouts)))
      threads.foreach(_.start())
      threads.foreach(_.join())
      val found = state.runs()
      assert(found.map(_.number) === (1 to all.length))
      assert(found.map(_.copy(number = 0)).sortBy(_.version) === all)
    }
  }

  test("journals of both kinds in every state") {
    unpacked("journals") { dir =>
      val store = new JournalStore(fs, new HPath(dir.toUri), "t")
      // a fixture's journals are a month old
      val read = store.readable().map(j => j.copy(changedMs = j.changedMs + 30L * 24 * 3600 * 1000))
      assert(read === StateExamples.journals)
      for (j <- store.readable()) {
        val file = names(dir).find(_.contains(s"-${j.txn}.")).get
        store.write(j)
        assert(text(dir.resolve(file)) === here(of(s"journals/$file"), dir))
      }
    }
  }

  for ((fixture, runsAfter) <- Seq(
      "path-synced" -> 0,
      "path-prepared" -> 0,
      "path-moved-old" -> 1,
      "path-partitioned-moved-new" -> 1,
      "path-undo-moved-new" -> 0)) test(s"a run of a path that died: $fixture") {
    unpacked(fixture) { dir =>
      val path = dir.resolve("t")
      assert(names(dir).exists(_.matches("\\.t\\.zorder-.*\\.json")), names(dir))
      spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS")
      assert(ids(s"parquet.`$path`") === forty && runs(path) === runsAfter)
      assert(names(dir).filterNot(_.endsWith(".crc")) === Seq("t"))
      val files = if (fixture.contains("undo") || fixture.contains("partitioned")) 4 else 2
      if (runsAfter > 0) assert(spark.read.parquet(path.toString).inputFiles.length === files)
      val row = spark.sql(s"ZORDER TABLE '$path' BY (id, v) WITH (fileCount = 2)").head()
      if (runsAfter > 0) assert(row.getAs[String]("status") === "NOTHING_TO_DO")
      assert(ids(s"parquet.`$path`") === forty)
    }
  }

  test("the history of a path, and the claim of a run") {
    unpacked("path-history") { dir =>
      val path = dir.resolve("t")
      val known = here(of("path-history/history.expected"), dir).split('\n').toSeq
      assert(json(s"SELECT * FROM zorder_history('$path')") === known)
      val claim = dir.resolve(".t.claim-zorder")
      Files.setLastModifiedTime(claim, FileTime.fromMillis(System.currentTimeMillis))
      val statement = s"ZORDER TABLE '$path' BY (id, v) WITH (skipIfRunning = true, force = true)"
      assert(
        intercept[ZOrderConflictException](spark.sql(statement)).getMessage.contains("run-of-the-claim"))
      Files.setLastModifiedTime(claim, FileTime.fromMillis(System.currentTimeMillis - 3600000L))
      assert(spark.sql(statement).head().getAs[String]("status") === "DONE")
      assert(ids(s"parquet.`$path`") === (0L until 60L))
    }
  }

  /** The fixture with its table in the catalog, as the catalog had it when the run died. */
  private def inCatalog(name: String)(body: (String, Path) => Unit): Unit =
    unpacked(s"catalog-$name") { dir =>
      val table = s"state_$name"
      withTable(table) {
        CatalogImage.create(spark, dir.resolve("catalog.image").toFile)
        body(table, dir)
      }
    }

  private def metadata(table: String) =
    spark.sessionState.catalog.getTableMetadata(TableIdentifier(table, Some("default")))

  for ((point, runsAfter) <- Seq("prepared" -> 0, "altered" -> 1))
    test(s"a run of a table of the catalog that died: $point") {
      inCatalog(point) { (table, dir) =>
        assert(names(dir).exists(_.matches("\\.t\\.zorder-.*\\.json")), names(dir))
        assert(ids(table) === forty)
        spark.sql(s"ZORDER VACUUM $table RETAIN 0 HOURS")
        assert(ids(table) === forty && runs(table) === runsAfter)
        assert(metadata(table).properties.contains("zorder.txn") === (runsAfter == 1))
        spark.sql(s"ZORDER REMOVE $table")
        assert(ids(table) === forty)
      }
    }

  test("an exchange in place of a table of the catalog that died") {
    inCatalog("exchange") { (table, dir) =>
      assert(metadata(table).properties.contains("zorder.exchanging"))
      spark.sql(s"ZORDER VACUUM $table RETAIN 0 HOURS")
      assert(ids(table) === forty && runs(table) === 1)
      assert(!metadata(table).properties.contains("zorder.exchanging"))
      assert(spark.table(table).inputFiles.length === 2 && ids(s"parquet.`${dir.resolve("t")}`") === forty)
    }
  }

  test("a way home that died") {
    inCatalog("home") { (table, dir) =>
      // the first query finishes it, and a query that has found the old directory away cannot look into the new one
      assert(intercept[ZOrderException](ids(table)).getMessage.contains("run it again"))
      assert(ids(table) === forty)
      spark.sql(s"ZORDER REMOVE $table")
      assert(ids(table) === forty && ids(s"parquet.`${dir.resolve("t")}`") === forty)
      assert(metadata(table).location.getPath === dir.resolve("t").toString)
      assert(!metadata(table).properties.keys.exists(_.startsWith("zorder.")))
    }
  }

  test("late files that were carried over, and ignored ones; where the files were at first") {
    inCatalog("late") { (table, dir) =>
      val known = 0L until 45L
      assert(ids(table) === known)
      spark.sql(s"ZORDER TABLE $table BY (v, id) WITH (fileCount = 3, force = true)")
      assert(ids(table) === known && runs(table) === 2)
      val (late, old) = (dir.resolve("t"), metadata(table).location.getPath)
      assert(late.toString !== old)
      spark.sql(s"ZORDER VACUUM $table RETAIN 0 HOURS")
      assert(ids(table) === known && ids(s"parquet.`$late`") === (45L until 50L))
      val state = new StateDir(fs, new HPath(metadata(table).location))
      assert(
        state.homes().map { case (dir, h) => dir -> new HPath(h).toUri.getPath } === Map("" -> late.toString))
    }
  }

  test("an index with Bloom filters, values and expressions skips the same files after a refresh") {
    unpacked("index") { dir =>
      val path = dir.resolve("t")
      // it was made by older rules: every file is read, and a refresh makes the same of it by those of today
      StateOnDisk.filters.foreach(f => assert(StateOnDisk.opened(spark, path, f) === 8, f))
      assert(spark.sql(s"ZORDER REFRESH INDEX '$path'").head().getAs[Long]("footers_read") === 8)
      // without its notes, which are sentences
      assert(spark.sql(s"ZORDER DESCRIBE INDEX '$path'").drop("note").toJSON.collect().toSeq ===
        here(of("index/describe.expected"), dir).split('\n').toSeq)
      val opened = here(of("index/opened.expected"), dir).split('\n').toSeq
      assert(opened === StateOnDisk.filters.map(f => s"${StateOnDisk.opened(spark, path, f)} $f"))
    }
  }

  test("query logs, with and without literals") {
    unpacked("query-log") { dir =>
      withTable("state_logged") {
        StateFixture.rows(spark, 0, 40, 4).write.format("parquet").saveAsTable("state_logged")
        for (literals <- Seq("KEEP", "DROP")) {
          val log = dir.resolve(s"log-$literals")
          val rows = spark.read.parquet(log.toString).orderBy("query").drop("time").toJSON.collect().toSeq
          assert(rows === lines(of(s"query-log/log-$literals.expected")))
          val asked = spark.sql(s"SELECT * FROM clustering_queries('state_logged', '$log')").collect()
          assert(asked.length === rows.length, literals)
        }
      }
    }
  }
}

/** What is written down of an index, by [[StateWriter]], and looked up again. */
object StateOnDisk extends AdaptiveSparkPlanHelper {

  val filters: Seq[String] = Seq(
    "id = 711",
    "s = 'Key-12'",
    "s IN ('Key-12', 'Key-13')",
    "s = 'nobody'",
    "s IS NULL AND id < 200",
    "v = 13",
    "v IN (3, 47)",
    "st.x BETWEEN 200.5 AND 399",
    "lower(s) < 'key-1001'",
    "id % 2 = 5")

  /** Number of files that a query opens. */
  def opened(spark: SparkSession, path: Path, filter: String): Long = {
    val df = spark.read.parquet(path.toString).where(filter)
    df.collect()
    collect(df.queryExecution.executedPlan) { case s: FileSourceScanExec => s.metrics("numFiles").value }.sum
  }
}
