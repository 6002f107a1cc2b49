package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Path

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.delta.{DeltaLog, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.{LongTest, SameOnAllLines, Steps}

/** Runs on tables with liquid clustering, and Delta's own statements after them. */
class DeltaLiquidSuite extends AnyFunSuite with DeltaFixture with Steps {
  private val Ours = Option("spark-zorder")
  private val Liquid = Option("liquid")
  private val eight = "WITH (fileCount = 8, force = true)"

  /** Rows of six files in a new liquid table. */
  private def liquid(path: Path, by: String, n: Long, properties: (String, String)*): Unit = {
    val set = (("delta.enableChangeDataFeed" -> "false") +: properties).map { case (k, v) => s"'$k' = '$v'" }
    spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, a INT, b BIGINT, s STRING, d DATE) USING delta " +
      s"CLUSTER BY ($by) TBLPROPERTIES (${set.mkString(", ")})")
    append(path, numbers(n).repartition(6))
  }

  private def append(path: Path, rows: DataFrame): Unit =
    rows.write.format("delta").mode("append").save(path.toString)

  private def more(path: Path, from: Long, n: Long): Unit =
    append(path, numbers(from + n).where(s"id >= $from").repartition(2))

  private def snapshot(path: Path): Snapshot = DeltaLog.forTable(spark, path.toString).update()

  private def adds(path: Path): Seq[AddFile] = snapshot(path).allFiles.collect().toSeq

  private def paths(path: Path, provider: Option[String]): Set[String] =
    adds(path).filter(_.clusteringProvider == provider).map(_.path).toSet

  private def providers(path: Path): Map[Option[String], Int] =
    adds(path).groupBy(_.clusteringProvider).map { case (p, files) => p -> files.length }

  /** A metric of a statement of Delta's own. */
  private def removed(row: Row): Long = row.getAs[Row]("metrics").getAs[Long]("numFilesRemoved")

  private def optimize(path: Path, full: String = ""): Long =
    keeps(path)(removed(spark.sql(s"OPTIMIZE delta.`$path` $full").head()))

  private def alter(path: Path, change: String): Unit = {
    // Delta asks for it in the analyzer, where tests allow no query
    snapshot(path).domainMetadata
    spark.sql(s"ALTER TABLE delta.`$path` $change")
    ()
  }

  private def detail(path: Path): Row = spark.sql(s"DESCRIBE DETAIL delta.`$path`").head()

  private def clusteringColumns(path: Path): Seq[String] =
    detail(path).getSeq[String](detail(path).fieldIndex("clusteringColumns"))

  /** Whether Delta's statistics of a file know the column: its least and greatest value, or only NULLs. */
  private def knows(file: AddFile, column: String*): Boolean = {
    val stats = new ObjectMapper().readTree(file.stats)
    def of(part: String): JsonNode = column.foldLeft(stats.path(part))(_.path(_))
    val rows = stats.path("numRecords").asLong(-1)
    rows >= 0 && of("nullCount").isNumber &&
    (of("nullCount").asLong == rows || (of("minValues").isValueNode && of("maxValues").isValueNode))
  }

  test(
    "a run has the table's columns; OPTIMIZE rewrites none of its bytes, new files only; OPTIMIZE FULL all",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 12000)
      val (protocol, domains, id) =
        (snapshot(path).protocol, snapshot(path).domainMetadata.toSet, snapshot(path).metadata.id)
      def unchanged(): Unit = {
        assert(snapshot(path).protocol === protocol && snapshot(path).domainMetadata.toSet === domains)
        assert(snapshot(path).metadata.id === id && clusteringColumns(path) === Seq("a", "b"))
      }
      step("a dry run changes nothing and names what it would do") {
        val dry = keeps(path)(zorder(path, s"$eight DRY RUN"))
        assert(status(dry) === "DRY_RUN" && names(dry, "columns") === Seq("a", "b"))
        assert(providers(path) === Map(None -> 6))
      }
      step("files have our name, statistics, no tags of cubes") {
        val row = done(keeps(path)(zorder(path, eight)))
        for (c <- 0 to 1) assert(share(row, c, "files", "measured") < 0.6)
        assert(providers(path) === Map(Ours -> 8))
        assert(adds(path).forall(f => knows(f, "a") && knows(f, "b")))
        assert(adds(path).forall(f => f.tags == null || !f.tags.keys.exists(_.startsWith("ZCUBE"))))
        assert(adds(path).forall(!_.dataChange))
        unchanged()
      }
      step("the history is that of an OPTIMIZE of a liquid table") {
        val parameters = history(path).getAs[Map[String, String]]("operationParameters")
        assert(history(path).getAs[String]("operation") === "OPTIMIZE")
        assert(parameters("clusterBy") === """["a","b"]""" && parameters("zOrderBy") === "[]")
        assert(parameters("isFull") === "false")
      }
      val named = paths(path, Ours).map(new java.net.URI(_).getPath)
      val ours = dataFiles(path).filter { case (name, _) => named(name) }
      assert(ours.size === 8)
      def untouched(): Unit = {
        assert(ours.keySet.subsetOf(paths(path, Ours).map(new java.net.URI(_).getPath)))
        assert(dataFiles(path).filter(f => ours.contains(f._1)) === ours)
      }
      step("a second run has nothing to do, and OPTIMIZE neither") {
        assert(status(zorder(path, eight)) === "NOTHING_TO_DO")
        assert(optimize(path) === 0)
        untouched()
      }
      step("OPTIMIZE takes new files only") {
        more(path, 12000, 600)
        assert(optimize(path) === 2 && providers(path) === Map(Ours -> 8, Liquid -> 1))
        untouched()
      }
      step("its files are left to it, and the reason says so") {
        val row = zorder(path, eight)
        assert(status(row) === "NOTHING_TO_DO", reason(row))
        assert(reason(row).contains("1 file clustered by liquid is left alone: FULL takes it."), reason(row))
        assert(metric[Long](row, "totalConsideredFiles") === 9 && metric[Long](
          row,
          "totalFilesSkipped") === 9)
      }
      step("an increment grows in the layout and leaves them, too") {
        more(path, 12600, 600)
        val theirs = paths(path, Liquid)
        val row = done(keeps(path)(zorder(path, "")))
        assert(reason(row).contains("1 file clustered by liquid is left alone"), reason(row))
        assert(paths(path, Liquid) === theirs && paths(path, None).isEmpty)
        assert(optimize(path) === 0)
      }
      step("FULL takes all files") {
        done(keeps(path)(zorder(path, s"FULL $eight")))
        assert(history(path).getAs[Map[String, String]]("operationParameters")("isFull") === "true")
        assert(providers(path) === Map(Ours -> 8))
        unchanged()
      }
      step("OPTIMIZE FULL takes all back, and a run then has nothing to do") {
        assert(optimize(path, "FULL") === 8 && providers(path).keySet === Set(Liquid))
        val row = zorder(path, eight)
        assert(status(row) === "NOTHING_TO_DO" && reason(row).startsWith("No file is left to cluster."))
        val where = zorder(path, s"WHERE a < 500 BY (a, b) $eight")
        assert(
          status(where) === "NOTHING_TO_DO" && reason(where).contains("clustered by liquid"),
          reason(where))
        done(keeps(path)(zorder(path, s"FULL WHERE a < 2000 BY (b, a) $eight")))
        unchanged()
      }
    }
  }

  test("a table that gets other clustering columns during a run keeps its files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 8000)
      val before = providers(path)
      CrashPoint.meanwhile = at => if (at == "delta-written") alter(path, "CLUSTER BY (d)")
      try {
        val e = intercept[ZOrderException](keeps(path)(zorder(path, eight)))
        assert(e.condition === "ZORDER_CONFLICT.CLUSTERING_CHANGED", e.getMessage)
      } finally CrashPoint.meanwhile = _ => ()
      assert(providers(path) === before)
      assert(names(done(keeps(path)(zorder(path, eight))), "columns") === Seq("d"))
    }
  }

  test("a table that becomes liquid during a run keeps its files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000)
      val before = paths(path, None)
      val e = keeps(path)(intercept[ZOrderConflictException](
        meanwhile("delta-written")(alter(path, "CLUSTER BY (a, b)"))(zorder(path, s"BY (a, b) $eight"))))
      assert(e.condition === "ZORDER_CONFLICT.CLUSTERING_CHANGED", e.getMessage)
      assert(paths(path, None) === before && clusteringColumns(path) === Seq("a", "b"))
      done(keeps(path)(zorder(path, eight)))
      assert(providers(path) === Map(Ours -> 8))
    }
  }

  test("deletion vectors: OPTIMIZE and REORG purge none of our files, a run does", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 8000, "delta.enableDeletionVectors" -> "true")
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
      def vectors(): Int = adds(path).count(_.deletionVector != null)
      assert(vectors() === 6)
      done(keeps(path)(zorder(path, eight)))
      assert(vectors() === 0 && providers(path) === Map(Ours -> 8))
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 100 = 4")
      assert(vectors() === 8 && providers(path) === Map(Ours -> 8))
      val before = paths(path, Ours)
      assert(optimize(path) === 0)
      assert(keeps(path)(removed(spark.sql(s"REORG TABLE delta.`$path` APPLY (PURGE)").head())) === 0)
      assert(vectors() === 8 && paths(path, Ours) === before)
      done(keeps(path)(zorder(path, "WITH (fileCount = 8, deletedShare = 0)")))
      assert(vectors() === 0 && read(path).count() === 8000 - 800 - 80)
    }
  }

  test("other columns: refused until the table is altered, then a new layout", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 8000)
      done(zorder(path, eight))
      assert(status(zorder(path, s"BY (A, `b`) $eight")) === "NOTHING_TO_DO")
      for (other <- Seq("BY (a)", "FULL BY (a, b, id)", "BY (a, b % 10)", s"BY (b, d) $eight")) {
        val e = intercept[ZOrderException](zorder(path, other))
        assert(e.condition === "ZORDER_COLUMN_REFUSED.DELTA_NOT_CLUSTERED_BY", e.getMessage)
        assert(e.getMessage.contains(s"ALTER TABLE delta.`$path` CLUSTER BY"), e.getMessage)
      }
      val copy = dir.resolve("copy")
      done(zorder(path, s"BY (id, d) $eight INTO '$copy'"))
      assert(spark.read.parquet(copy.toString).count() === 8000)
      alter(path, "SET TBLPROPERTIES ('zorder.by' = 'id')")
      assert(intercept[ZOrderException](zorder(path, "")).getMessage.contains("CLUSTER BY (...)"))
      alter(path, "UNSET TBLPROPERTIES ('zorder.by')")
      alter(path, "CLUSTER BY (b, d)")
      more(path, 8000, 100)
      val row = done(keeps(path)(zorder(path, eight)))
      assert(names(row, "columns") === Seq("b", "d") && metric[Long](row, "numFilesRemoved") === 10)
      assert(providers(path) === Map(Ours -> 8) && optimize(path) === 0)
      assert(shareRead(read(path), "b") < 0.6 && shareRead(read(path), "d") < 0.6)
    }
  }

  test(
    "CLUSTER BY NONE: files of liquid stay, ours are marked, any columns, and OPTIMIZE packs ours",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 4000)
      optimize(path)
      alter(path, "CLUSTER BY NONE")
      val none = intercept[ZOrderException](zorder(path, eight))
      assert(none.condition === "ZORDER_INVALID_COLUMNS.NONE_OF_THE_TABLE")
      assert(reason(zorder(path, s"BY (b, id) $eight")).contains("1 file clustered by liquid is left alone"))
      more(path, 4000, 4000)
      done(keeps(path)(zorder(path, s"BY (b, id) $eight")))
      assert(providers(path) === Map(Ours -> 8, Liquid -> 1))
      assert(status(zorder(path, "")) === "NOTHING_TO_DO")
      assert(history(path).getAs[Map[String, String]]("operationParameters")("zOrderBy") === """["b","id"]""")
      assert(optimize(path) === 9 && providers(path) === Map(None -> 1))
      done(keeps(path)(zorder(path, s"BY (b, id) $eight")))
      assert(providers(path) === Map(Ours -> 8))
    }
  }

  for (mode <- Seq("name", "id"))
    test(s"column mapping by $mode, nested columns, NULLs, row tracking", LongTest) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        spark.sql(
          s"CREATE TABLE delta.`$path` (id BIGINT, a INT, st STRUCT<x: BIGINT, n: INT>) USING delta " +
            s"CLUSTER BY (a, st.x) TBLPROPERTIES ('delta.columnMapping.mode' = '$mode', " +
            "'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true')")
        append(
          path,
          numbers(8000).selectExpr(
            "id",
            "if(id % 5 = 0, null, a) a",
            "named_struct('x', if(id % 7 = 0, null, b), 'n', cast(null as int)) st").repartition(6))
        alter(path, "RENAME COLUMN a TO ` a b,c`")
        alter(path, "ADD COLUMN later INT")
        spark.sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
        def ids() = read(path).selectExpr("id", "_metadata.row_id").collect().map(_.toString).sorted.toSeq
        val (before, protocol) = (ids(), snapshot(path).protocol)
        val row = done(keeps(path)(zorder(path, "WITH (fileCount = 8, verify = 'checksum')")))
        assert(names(row, "columns") === Seq("` a b,c`", "st.x"))
        for (c <- 0 to 1) assert(share(row, c, "files", "measured") < 0.6)
        assert(ids() === before && snapshot(path).protocol === protocol)
        val physical =
          snapshot(path).schema.map(f => f.name -> f.metadata.getString("delta.columnMapping.physicalName"))
            .toMap
        assert(adds(path).forall(knows(_, physical(" a b,c"))))
        assert(providers(path) === Map(Ours -> 8) && optimize(path) === 0 && ids() === before)
        alter(path, "RENAME COLUMN ` a b,c` TO a2")
        assert(status(zorder(path, "")) === "NOTHING_TO_DO")
        assert(clusteringColumns(path) === Seq("a2", "st.x"))
      }
    }

  test("MERGE, UPDATE, appends and runs in turn; a rollback, a vacuum, a checkpoint, a removal", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 8000)
      done(zorder(path, eight))
      def merge(from: Long): Unit = {
        numbers(from + 400).where(s"id >= ${from - 400}").selectExpr("id", "a + 1 a", "b", "s", "d")
          .createOrReplaceTempView("merged")
        spark.sql(
          s"MERGE INTO delta.`$path` t USING merged u ON t.id = u.id WHEN MATCHED THEN UPDATE SET * " +
            "WHEN NOT MATCHED THEN INSERT *")
        ()
      }
      for (round <- 0 to 2) {
        merge(8000L + round * 400)
        if (round == 1) optimize(path)
        done(keeps(path)(zorder(path, if (round == 1) s"FULL $eight" else eight)))
        assert(optimize(path) === 0)
      }
      assert(
        read(path).count() === 9200 && read(path).selectExpr("count(distinct id)").head().getLong(0) === 9200)
      step("a rollback brings the files before it back, with whose they were") {
        more(path, 9200, 300)
        val before = adds(path).map(f => f.path -> f.clusteringProvider).toSet
        done(keeps(path)(zorder(path, s"FULL $eight")))
        assert(status(keeps(path)(one(s"ZORDER ROLLBACK '$path'"))) === "ROLLED_BACK")
        assert(adds(path).map(f => f.path -> f.clusteringProvider).toSet === before)
        assert(clusteringColumns(path) === Seq("a", "b"))
      }
      step("a checkpoint keeps the name") {
        done(keeps(path)(zorder(path, s"FULL $eight")))
        val log = DeltaLog.forTable(spark, path.toString)
        log.checkpoint(log.update())
        DeltaLog.clearCache()
        assert(providers(path) === Map(Ours -> 8) && optimize(path) === 0)
      }
      step("a vacuum leaves the table's files") {
        withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
          keeps(path)(spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").collect())
        }
        assert(dataFiles(path).keys.count(!_.startsWith("_")) === 8)
      }
      step("after a removal our files can be taken by a run as new ones") {
        spark.sql(s"ZORDER REMOVE '$path'").collect()
        assert(clusteringColumns(path) === Seq("a", "b"))
        done(keeps(path)(zorder(path, "WITH (fileCount = 4, force = true)")))
        assert(providers(path) === Map(Ours -> 4))
      }
    }
  }

  test("statistics of the columns are written whatever the session says; without them a run is refused") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 4000)
      withConf("spark.databricks.delta.stats.collect" -> "false") {
        more(path, 4000, 500)
        done(keeps(path)(zorder(path, eight)))
      }
      assert(adds(path).forall(f => knows(f, "a") && knows(f, "b")))
      alter(path, "SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')")
      val e = intercept[ZOrderException](zorder(path, s"FULL $eight"))
      assert(e.condition === "ZORDER_COLUMN_REFUSED.DELTA_LIQUID_WITHOUT_STATISTICS", e.getMessage)
      assert(e.getMessage.contains("leave out b"), e.getMessage)
    }
  }

  test("automatic compaction of Delta leaves our files alone", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 4000)
      done(zorder(path, eight))
      val ours = paths(path, Ours)
      withConf(
        "spark.databricks.delta.autoCompact.enabled" -> "true",
        "spark.databricks.delta.autoCompact.minNumFiles" -> "2")(more(path, 4000, 500))
      assert(paths(path, Ours) === ours && read(path).count() === 4500)
    }
  }

  test("a table of the catalog: plain at first, clustered by us, then liquid", LongTest) {
    withTable("l_t") {
      numbers(8000).repartition(6).write.format("delta").saveAsTable("l_t")
      val path = new java.io.File(new java.net.URI(
        spark.sql("DESCRIBE DETAIL l_t").head().getAs[String]("location"))).toPath
      done(one(s"ZORDER TABLE l_t BY (a, b) $eight"))
      assert(providers(path) === Map(None -> 8))
      spark.sql("ALTER TABLE l_t CLUSTER BY (a, b)")
      // Delta's OPTIMIZE would take these files: they have no name yet
      assert(status(one(s"ZORDER TABLE l_t $eight")) === "NOTHING_TO_DO")
      done(keeps(path)(one(s"ZORDER TABLE l_t FULL $eight")))
      assert(providers(path) === Map(Ours -> 8) && optimize(path) === 0)
      assert(spark.table("l_t").where("a = 17").count() === numbers(8000).where("a = 17").count())
    }
  }

  test("the statement of an audit takes files that Delta has clustered", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 8000)
      spark.sql(s"OPTIMIZE delta.`$path` FULL").collect()
      more(path, 8000, 32000)
      val row = spark.sql(s"SELECT * FROM clustering_information('$path', 'a, b')").head()
      val statement = row.getAs[String]("statement")
      assert(statement.startsWith(s"ZORDER TABLE '$path' FULL BY (a, b)"), row)
      done(keeps(path)(one(statement)))
      assert(providers(path).keySet === Set(Ours))
    }
  }

  test("an index of a liquid table, an audit and an advice", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      liquid(path, "a, b", 8000)
      done(zorder(path, eight))
      spark.sql(s"ZORDER INDEX '$path' WITH (bloom = 's', bloomBudget = '500%')").collect()
      assert(read(path).where("s = 'customer/00000017'").count() === numbers(
        8000).where("s = 'customer/00000017'").count())
      val fix = s"ALTER TABLE delta.`$path` CLUSTER BY"
      def statements(function: String): Seq[String] =
        spark.sql(s"SELECT statement FROM $function").collect().toSeq.flatMap(r => Option(r.getString(0)))
      assert(statements(s"clustering_information('$path')").forall(!_.startsWith("ALTER")))
      assert(statements(s"clustering_information('$path', 's, d')").exists(_.startsWith(s"$fix (s, d)")))
      val run = s"ZORDER TABLE '$path' BY"
      assert(statements(s"clustering_advice('$path')").filter(_.startsWith(run))
        .forall(s => s.startsWith(s"$run (a, b)") || s.startsWith(s"$run (b, a)")))
    }
  }
}
