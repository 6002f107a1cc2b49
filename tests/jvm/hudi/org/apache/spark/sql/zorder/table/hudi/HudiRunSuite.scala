package org.apache.spark.sql.zorder.table.hudi

import java.nio.file.Path

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.SharedTables
import org.apache.spark.sql.zorder.clustering.JobWatch
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import sparkzorder.{LongTest, Steps}

/** Whole runs on Hudi tables: the same result row, the same layout, a clustering in Hudi's timeline. */
class HudiRunSuite extends AnyFunSuite with HudiFixture with SharedTables with Steps {
  private val small = "WITH (fileCount = 16)"

  /** A table of six files in no order, clustered into sixteen: its place, what the statement returned, its jobs. */
  private lazy val (clustered, row, jobs) = {
    val path = shared.resolve("t")
    hudi(path)
    val (row, jobs) = JobWatch(spark)(done(keeps(path)(zorder(path, s"BY (a, b) $small"))))
    (path, row, jobs)
  }

  test("a run keeps rows, keys and commit times, and its row counts rows and files") {
    assert(metric[Long](row, "rows") === 20000 && metric[Long](row, "numFilesAdded") === 16)
    assert(metric[Long](row, "numFilesRemoved") === 6 && files(clustered) === 16)
  }

  test("the layout is that of plain Parquet") {
    withTempDir { dir =>
      val plain = dir.resolve("p")
      numbers(20000).repartition(6).write.parquet(plain.toString)
      val same = done(zorder(plain, s"BY (a, b) $small"))
      for (c <- 0 to 1; level <- Seq("files", "row_groups", "pages"); what <- Seq("forecast", "measured"))
        assert(math.abs(share(row, c, level, what) - share(same, c, level, what)) < 0.02, s"$c $level $what")
    }
  }

  test("shares of files are what an independent query finds") {
    for ((c, i) <- Seq("a", "b").zipWithIndex)
      assert(math.abs(share(row, i, "files", "measured") - shareRead(read(clustered), c)) < 0.005)
  }

  test("the timeline has a clustering that is completed, and none that is pending") {
    assert(timeline(clustered).last === (("replacecommit", "COMPLETED")) && pending(clustered) === 0)
    val shown = spark.sql(s"CALL show_clustering(path => '$clustered')").collect()
    assert(shown.length === 1 && shown.head.toString.contains("COMPLETED"))
  }

  test("the columns of Hudi are no concern of the report, nor its own footer entries") {
    assert(!row.toString.contains("_hoodie") && !reason(row).contains("Footer"), row)
  }

  test("a row group of more bytes than Hudi can count has as many as it can") {
    val settings = HudiWriteSettings.of(Map("parquet.block.size" -> (2L << 30).toString), "r")
    assert(settings("hoodie.parquet.block.size") === Int.MaxValue.toString)
  }

  test("a run reads the rows for the sample and for the rewrite") {
    val reads = jobs.reads.filter(_._2 >= 20000).map(_._1.split(": ").last)
    assert(reads.filter(Set("sample", "rewrite")) === Seq("sample", "rewrite"), jobs.jobs)
  }

  test("from a dry run to FULL each statement does what it does on plain Parquet") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 8000)
      val before = filesRead(path)
      step("a dry run changes nothing") {
        assert(status(zorder(path, "BY (a, b) WITH (fileCount = 8) DRY RUN")) === "DRY_RUN")
        assert(filesRead(path) === before && pending(path) === 0)
      }
      step("INTO makes a plain Parquet copy") {
        val copy = dir.resolve("copy")
        done(zorder(path, s"BY (a, b) WITH (fileCount = 8) INTO '$copy'"))
        assert(spark.read.parquet(copy.toString).columns.toSeq === numbers(1).columns.toSeq)
        assert(spark.read.parquet(copy.toString).count() === 8000 && filesRead(path) === before)
      }
      done(zorder(path, "BY (a, b) WITH (fileCount = 8, verify = 'checksum')"))
      val settled = filesRead(path)
      step("a second run has nothing to do")(
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO" && filesRead(path) === settled))
      step("an append grows into the layout") {
        val few = numbers(100).selectExpr("id + 8000 AS id", "5 AS a", "b", "s", "d")
        write(few, path, "insert", "hoodie.parquet.small.file.limit" -> "0")
        val grown = done(keeps(path)(zorder(path, "BY (a, b) WITH (writeBudget = 1000)")))
        assert(reason(grown).contains("merged"), grown)
        assert(filesRead(path).intersect(settled).nonEmpty && read(path).count() === 8100)
      }
      step("FULL takes all files") {
        done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, force = true)")))
        assert(files(path) === 4)
      }
      step("the history has the runs that wrote, with their files") {
        val runs = spark.sql(s"SELECT operation, files_added FROM zorder_history('$path')").collect()
        assert(runs.length === 3 && runs.last.getAs[Int]("files_added") === 4)
      }
    }
  }

  test("upserts and deletes after a run find their rows, with every index that knows files", LongTest) {
    val indexes = Seq(
      Map("hoodie.index.type" -> "BLOOM"),
      Map("hoodie.index.type" -> "SIMPLE", "hoodie.metadata.enable" -> "false"),
      Map("hoodie.index.type" -> "RECORD_INDEX", "hoodie.metadata.record.index.enable" -> "true"))
    for (index <- indexes) withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, index)
      val confs = index.toSeq
      withConf(confs: _*)(done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 4)"))))
      val changed = numbers(4000).where("id % 100 = 7").selectExpr("id", "-1 AS a", "b", "s", "d")
      write(changed, path, "upsert", confs: _*)
      write(numbers(4000).where("id % 100 = 8"), path, "delete", confs: _*)
      val now = read(path)
      assert(now.count() === 3960 && now.select("id").distinct().count() === 3960, index)
      assert(now.where("a = -1").count() === 40 && now.where("id % 100 = 8").isEmpty, index)
      withConf(confs: _*)(
        done(keeps(path)(zorder(path, "FULL BY (b, a) WITH (fileCount = 4, force = true)"))))
    }
  }

  test("indexes that only the writer's options name outlive a run, a rollback and a vacuum", LongTest) {
    val ofTable =
      Seq("hoodie.index.type" -> "RECORD_INDEX", "hoodie.metadata.record.index.enable" -> "true")
    val ofPartitions = Seq(
      "hoodie.index.type" -> "RECORD_LEVEL_INDEX",
      "hoodie.metadata.record.level.index.enable" -> "true",
      "hoodie.datasource.write.partitionpath.field" -> "p")
    for (index <- Seq(ofTable, ofPartitions)) withTempDir { dir =>
      val path = dir.resolve("t")
      val all = numbers(4000).withColumn("p", org.apache.spark.sql.functions.expr("id % 2"))
      write(all.repartition(4), path, "bulk_insert", index: _*)
      val before = metadata(path)
      assert(before("record_index"), before)
      def keepsIndexes(did: String)(body: => Any): Unit = {
        body
        assert(before.subsetOf(metadata(path)), did)
      }
      def run() = done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, force = true)")))
      keepsIndexes("run")(run())
      keepsIndexes("rollback")(one(s"ZORDER ROLLBACK '$path'"))
      keepsIndexes("run without metadata")(withConf("hoodie.metadata.enable" -> "false")(run()))
      keepsIndexes("vacuum")(one(s"ZORDER VACUUM '$path' RETAIN 0 HOURS"))
      // into a table with an index of each partition Hudi 1.2.0 has no upsert here, also before any statement of ours
      if (index == ofTable) {
        write(all.where("id % 100 = 7").withColumn("a", all("a") - 5000), path, "upsert", index: _*)
        val now = read(path)
        assert(now.count() === 4000 && now.select("id").distinct().count() === 4000)
        assert(now.where("a < 0").count() === 40)
      }
    }
  }

  /** The parts of Hudi's metadata table. */
  private def metadata(path: Path): Set[String] =
    metaClient(path).getTableConfig.getMetadataPartitions.asScala.toSet

  test("a column from which Hudi computes days is no partition column", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val rows = numbers(2000).selectExpr(
        "id",
        "a",
        "1600041600 + id % 2 * 86400 + id * 37 % 80000 AS at",
        "id % 2 AS p")
      val days = Seq(
        "hoodie.keygen.timebased.timestamp.type" -> "UNIX_TIMESTAMP",
        "hoodie.keygen.timebased.output.dateformat" -> "yyyyMMdd")
      def written(to: Path, generator: String, fields: String) = write(
        rows.repartition(2),
        to,
        "bulk_insert",
        days :+
          ("hoodie.datasource.write.keygenerator.class" -> s"org.apache.hudi.keygen.$generator") :+
          ("hoodie.datasource.write.partitionpath.field" -> fields): _*)
      written(path, "TimestampBasedKeyGenerator", "at")
      done(keeps(path)(zorder(path, "BY (at, a) WITH (fileCount = 4, force = true)")))
      assert(files(path) === 8)
      val day = done(
        keeps(path)(zorder(path, "FULL WHERE at < 1600128000 BY (at) WITH (fileCount = 2, force = true)")))
      assert(metric[Long](day, "rows") === 1000)
      val both = dir.resolve("both")
      written(both, "CustomKeyGenerator", "at:TIMESTAMP,p:SIMPLE")
      val table = TableResolver.locate(Shims.classic(spark), TableRef.Location(both.toString))
      assert(table.constantColumns === HudiClusterTable.MetaColumns :+ "p")
    }
  }

  test("partitioned, in both styles of directories: a layout each, WHERE picks partitions", LongTest) {
    for (hive <- Seq("true", "false")) withTempDir { dir =>
      val path = dir.resolve("t")
      val rows = numbers(6000).withColumn("p", org.apache.spark.sql.functions.expr("concat('x ', id % 3)"))
      val partitioned = Seq(
        "hoodie.datasource.write.partitionpath.field" -> "p",
        "hoodie.datasource.write.hive_style_partitioning" -> hive)
      write(rows.repartition(2), path, "bulk_insert", partitioned: _*)
      val before = filesRead(path)
      val row =
        done(keeps(path)(zorder(path, "WHERE p = 'x 1' BY (a, b) WITH (fileCount = 4, force = true)")))
      assert(metric[Long](row, "rows") === 2000)
      assert(filesRead(path).intersect(before).nonEmpty && !before.subsetOf(filesRead(path)))
      done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, force = true)")))
      assert(files(path) === 12)
      assert(read(path).where("p = 'x 2'").count() === 2000)
      val refusal = intercept[Exception](zorder(path, "BY (p, a)")).getMessage
      assert(refusal.contains("partition column"), refusal)
    }
  }

  test(
    "NULLs, decimals, dates, timestamps, nested fields, arrays and maps come back as they were",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val rows = numbers(4000).selectExpr(
        "id",
        "IF(id % 7 = 0, NULL, CAST(b / 7 AS DECIMAL(9, 3))) AS d9",
        "IF(id % 7 = 1, NULL, CAST(b / 7 AS DECIMAL(18, 6))) AS d18",
        "IF(id % 7 = 2, NULL, CAST(b AS DECIMAL(38, 10))) AS d38",
        "IF(id % 7 = 3, NULL, date_add(date'1930-01-01', int(b % 90000))) AS da",
        "IF(id % 7 = 4, NULL, timestamp_micros(b * 1000003L)) AS ts",
        "IF(id % 7 = 5, NULL, s) AS s",
        "IF(id % 7 = 6, NULL, named_struct('x', double(b), 't', named_struct('y', s))) AS n",
        "IF(id % 9 = 0, double('NaN'), a / 3d) AS f",
        "CAST(s AS BINARY) AS bi",
        "array(a, a + 1) AS l",
        "map('k', a) AS m",
        "a % 2 = 0 AS bo")
      write(rows.repartition(4), path, "bulk_insert")
      // an upsert writes by Avro, a bulk insert by rows: two physical types of a decimal in one table
      write(rows.where("id % 500 = 1"), path, "upsert")
      Seq("d9, d18", "d38, da", "ts, s", "n.x, n.t.y", "f, bi").foreach { by =>
        done(keeps(path)(zorder(path, s"BY ($by) WITH (fileCount = 4, force = true, verify = 'checksum')")))
      }
    }
  }

  test("a column that was added and one whose type grew: older files are read as Hudi reads them", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(2000).select("id", "a", "b").repartition(3), path, "bulk_insert")
      val later = numbers(500).selectExpr("id + 2000 AS id", "bigint(a) AS a", "b", "s AS fresh")
      write(later, path, "insert", "hoodie.parquet.small.file.limit" -> "0")
      assert(read(path).schema("a").dataType.sql === "BIGINT")
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 4, force = true)")))
      assert(read(path).where("fresh IS NOT NULL").count() === 500)
    }
  }

  test("partitions by a timestamp stay when the session's zone is not the JVM's", LongTest) {
    withConf("spark.sql.session.timeZone" -> "America/Los_Angeles")(withTempDir { dir =>
      val path = dir.resolve("t")
      // hours of the night in which clocks go back there
      val rows = numbers(1200).selectExpr("id", "a", "timestamp_seconds(1636271999 + (id % 3) * 3600) AS at")
      write(
        rows.repartition(3),
        path,
        "bulk_insert",
        "hoodie.datasource.write.partitionpath.field" -> "at",
        "hoodie.datasource.write.partitionpath.urlencode" -> "true")
      done(keeps(path)(zorder(path, "BY (a, id) WITH (fileCount = 2, force = true, verify = 'checksum')")))
    })
  }

  test("Parquet options reach Hudi's writer", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 20000)
      done(zorder(
        path,
        "BY (a, b) WITH (fileCount = 2, force = true, codec = 'zstd', rowGroupSize = '64k', bloom = 's')"))
      val conf = spark.sessionState.newHadoopConf()
      val file = new org.apache.hadoop.fs.Path(path.resolve(filesRead(path).head).toString)
      val reader = org.apache.parquet.hadoop.ParquetFileReader.open(
        org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(file, conf))
      try {
        val blocks = reader.getFooter.getBlocks
        assert(blocks.size > 2)
        val s = blocks.get(0).getColumns.stream.filter(_.getPath.toDotString == "s").findFirst.get
        assert(s.getCodec.name === "ZSTD" && reader.readBloomFilter(s) != null)
      } finally reader.close()
      val refusal = intercept[Exception](
        zorder(path, "FULL BY (a, b) WITH (fileCount = 2, force = true, pageRowLimit = 500)")).getMessage
      assert(refusal.contains("pageRowLimit = 500"), refusal)
    }
  }
}
