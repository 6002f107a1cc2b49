package org.apache.spark.sql.zorder.table.delta

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.collection.JavaConverters._

import io.delta.tables.DeltaTable
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.OtherFileSystem
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.Footers
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** Features of Delta's protocol that change what a file holds. */
class DeltaFeaturesSuite extends AnyFunSuite with DeltaFixture {
  private val run = "BY (a, b) WITH (fileCount = 8)"

  test("deletion vectors: deleted rows stay deleted and are purged from the files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000, Map("enableDeletionVectors" -> "true"))
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
      val log = DeltaLog.forTable(spark, path.toString)
      assert(log.update().allFiles.collect().exists(_.deletionVector != null))
      val row = done(keeps(path)(zorder(path, run)))
      assert(metric[Long](row, "rows") === 18000 && read(path).count() === 18000)
      assert(log.update().allFiles.collect().forall(_.deletionVector == null))
    }
  }

  test(
    "files of which many rows are deleted are written again in their places, and new ones after them",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000, Map("enableDeletionVectors" -> "true"))
      val log = DeltaLog.forTable(spark, path.toString)
      def vectors() = log.update().allFiles.collect().count(_.deletionVector != null)
      done(zorder(path, run))
      val layouts = path.resolve("_zorder/layouts").toFile.list.length
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 50 = 3 OR (a < 150 AND id % 5 = 2)")
      val thin = log.update().allFiles.collect().count(_.deletedToPhysicalRecordsRatio.exists(_ > 0.05))
      assert(vectors() === 8 && thin > 0 && thin < 8)
      assert(status(zorder(path, "BY (a, b) WITH (fileCount = 8, deletedShare = 1)")) === "NOTHING_TO_DO")
      numbers(100).selectExpr("id + 20000 AS id", "a", "b", "s", "d").coalesce(1)
        .write.format("delta").mode("append").save(path.toString)
      val row = done(keeps(path)(zorder(path, run)))
      assert(metric[Long](row, "numFilesRemoved") === thin + 1 && metric[Long](row, "numBatches") === 2)
      assert(vectors() === 8 - thin && files(path) === 10)
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 4 = 1")
      val all = done(keeps(path)(zorder(path, run)))
      assert(reason(all).contains("are deleted"))
      for (c <- 0 to 1)
        assert(math.abs(share(all, c, "files", "forecast") - share(all, c, "files", "measured")) < 0.1)
      assert(vectors() === 0 && files(path) === 8)
      assert(path.resolve("_zorder/layouts").toFile.list.length === layouts)
      assert(shareRead(read(path), "a") < 0.6 && shareRead(read(path), "b") < 0.6)
    }
  }

  test(
    "a dry run lets new files grow in their layout beside a partition that has lost many rows",
    LongTest) {
    assume(clusterBy.isEmpty, "liquid tables have no partitions")
    withTempDir { dir =>
      val path = dir.resolve("t")
      def some(from: Long, n: Long, p: String) =
        numbers(from + n).where(s"id >= $from").selectExpr("*", s"$p p")
      some(0, 8000, "if(id < 4000, 1, 2)").repartition(4).write.format("delta").partitionBy("p")
        .option("delta.enableDeletionVectors", "true").save(path.toString)
      done(zorder(path, run))
      spark.sql(s"DELETE FROM delta.`$path` WHERE p = 1 AND id % 5 = 2")
      some(20000, 400, "2").coalesce(1).write.format("delta").mode("append").save(path.toString)
      val dry = zorder(path, s"$run DRY RUN")
      val row = done(keeps(path)(zorder(path, run)))
      assert(metric[Long](row, "rows") === 3600 && metric[Long](dry, "rows") === 3600, reason(dry))
    }
  }

  test(
    "a shallow clone of a table on another file system: its files are read there, and written here",
    SameOnAllLines) {
    withTempDir { dir =>
      val (source, clone) = (dir.resolve("source"), dir.resolve("clone"))
      delta(source, 4000)
      val content = read(source).orderBy("id").collect().toSeq
      withConf("fs.other.impl" -> classOf[OtherFileSystem].getName) {
        spark.sql(s"CREATE TABLE delta.`$clone` SHALLOW CLONE delta.`other://$source`")
        val named = DeltaLog.forTable(spark, clone.toString).update().allFiles.collect().map(_.path)
        assert(named.forall(_.startsWith("other:")), named.mkString(" "))
        done(keeps(clone)(zorder(clone, run)))
        assert(files(clone) === 8)
        assert(status(zorder(clone, run)) === "NOTHING_TO_DO")
      }
      assert(read(source).orderBy("id").collect().toSeq === content)
    }
  }

  test("column mapping: renamed and dropped columns, statistics by physical names", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000, Map("columnMapping.mode" -> "name"))
      spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN a TO ` a b,c`")
      spark.sql(s"ALTER TABLE delta.`$path` DROP COLUMN d")
      spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN later INT")
      val row = done(keeps(path)(zorder(path, "BY (` a b,c`, b) WITH (fileCount = 8)")))
      for (c <- 0 to 1)
        assert(share(row, c, "files", "now") > 0.9 && share(row, c, "files", "measured") < 0.6)
    }
  }

  test("column mapping: fields of structs, of elements and of values that were dropped", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val struct = "named_struct('x', b, 'y', a)"
      numbers(8000).selectExpr("id", "a", "b", s"$struct st", s"array($struct) es", s"map('k', $struct) m")
        .repartition(4).write.format("delta").option("delta.columnMapping.mode", "name").save(path.toString)
      makeLiquid(s"delta.`$path`", "a, b")
      for (field <- Seq("st.y", "es.element.y", "m.value.y"))
        spark.sql(s"ALTER TABLE delta.`$path` DROP COLUMN $field")
      done(keeps(path)(zorder(path, run)))
      assert(read(path).selectExpr("st.*").columns.toSeq === Seq("x"))
    }
  }

  test("column mapping: Bloom filters are written under the names in files", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000, Map("columnMapping.mode" -> "name"))
      spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN b TO c")
      done(zorder(path, "BY (a, c) WITH (fileCount = 4, bloom = 'c')"))
      val file = new Path(read(path).inputFiles.head)
      val reader = ParquetFileReader.open(HadoopInputFile.fromPath(file, new Configuration()))
      try {
        val chunks = reader.getFooter.getBlocks.get(0).getColumns.asScala
        assert(chunks.count(_.getBloomFilterOffset > 0) === 1)
      } finally reader.close()
    }
  }

  test("column mapping by id: renamed, added and nested columns are found by their ids", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).selectExpr("id", "a", "b", "named_struct('x', b, 'l', array(a)) st").repartition(6)
        .write.format("delta").option("delta.columnMapping.mode", "id").save(path.toString)
      makeLiquid(s"delta.`$path`", "a, st.x")
      spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN a TO ` a b,c`")
      spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN later INT")
      val run = "BY (` a b,c`, st.x) WITH (fileCount = 8, verify = 'checksum')"
      val row = done(keeps(path)(zorder(path, run)))
      for (c <- 0 to 1) {
        assert(share(row, c, "files", "now") > 0.9)
        assert(share(row, c, "files", "measured") < 0.6)
      }
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
    }
  }

  for (mapping <- Seq("none", "id")) test(
    s"INT96 timestamps, of which Delta's log has bounds, are clustered by, and stay INT96: column mapping $mapping",
    SameOnAllLines,
    LongTest) {
    withConf("spark.sql.parquet.outputTimestampType" -> "INT96")(withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(8000).selectExpr("id", "timestamp_micros(b * 1000003) at").repartition(6)
        .write.format("delta").option("delta.columnMapping.mode", mapping).save(path.toString)
      makeLiquid(s"delta.`$path`", "id, at")
      def shares(row: Row, c: Int, level: String): Row =
        row.getAs[scala.collection.Seq[Row]]("columns")(c).getAs[Row](level)
      val dry = zorder(path, "BY (id, at) WITH (fileCount = 8) DRY RUN")
      val row = done(keeps(path)(zorder(path, "BY (id, at) WITH (fileCount = 8)")))
      for (of <- Seq(dry, row)) {
        for (level <- Seq("row_groups", "pages"))
          assert(shares(of, 1, level).toSeq === Seq(null, null, null, null), "nothing is known of them")
        assert(share(of, 0, "pages", "forecast") < 0.9 && share(of, 1, "files", "forecast") < 0.6)
      }
      assert(share(row, 1, "files", "now") > 0.9)
      val measured = share(row, 1, "files", "measured")
      assert(measured < 0.6 && math.abs(share(row, 1, "files", "forecast") / measured - 1) < 0.1)
      assert(reason(row).contains("column at stays INT96"), reason(row))
      val log = DeltaLog.forTable(spark, path.toString).update()
      val (metadata, physical) = (log.schema("at").metadata, "delta.columnMapping.physicalName")
      val name = if (metadata.contains(physical)) metadata.getString(physical) else "at"
      val spans = log.allFiles.selectExpr(
        s"get_json_object(stats, '$$.minValues.$name') lo",
        s"get_json_object(stats, '$$.maxValues.$name') hi")
      assert(spans.where("lo < '1970-01-07' AND hi > '1970-01-07'").count() < 6)
      val files = read(path).inputFiles.map(DataFile(_, 0L, 0L, "")).toSeq
      val leaves = Footers.read(Shims.classic(spark), files).flatMap(_.schema.leaves)
      assert(leaves.filter(_.name == name).map(_.physical).distinct === Seq("INT96"))
    })
  }

  test(
    "a column that takes another's name has a new layout, a column with a new name keeps its own",
    LongTest) {
    assume(clusterBy.isEmpty, "the columns of a liquid table keep their names in BY: DeltaLiquidSuite")
    withTempDir { dir =>
      val (path, run) = (dir.resolve("t"), "WITH (fileCount = 8, force = true)")
      numbers(20000).selectExpr("id", "a", "b", "hash(id, 9) q").repartition(6)
        .write.format("delta").option("delta.columnMapping.mode", "name").save(path.toString)
      def rename(from: String, to: String) =
        spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN $from TO $to")
      done(zorder(path, s"BY (a, b) $run"))
      rename("a", "a2")
      assert(status(zorder(path, s"BY (a2, b) $run")) === "NOTHING_TO_DO")
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
      rename("a2", "tmp")
      rename("q", "a")
      val stale = intercept[Exception](spark.sql(s"SELECT zorder_file('path:$path', 1, 2L)").collect())
      assert(stale.getMessage.contains("is called tmp now"), stale.getMessage)
      val row = done(keeps(path)(zorder(path, s"BY (a, b) $run")))
      for (c <- 0 to 1) assert(share(row, c, "files", "measured") < 0.6)
      assert(shareRead(read(path), "a") < 0.6)
    }
  }

  test("row tracking: rows keep their ids") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000, Map("enableRowTracking" -> "true"))
      def ids() = read(path).selectExpr("id", "_metadata.row_id").collect().map(_.toString).sorted.toSeq
      val before = ids()
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 4)")))
      assert(ids() === before)
    }
  }

  test(
    "a change feed has no changes of a run; a constraint and a generated column are kept",
    SameOnAllLines) {
    withTable("f_t") {
      val year = DeltaTable.columnBuilder(spark, "y").dataType("INT").generatedAlwaysAs("YEAR(d)").build()
      DeltaTable.create(spark).tableName("f_t").addColumn("id", "BIGINT").addColumn("a", "INT")
        .addColumn("b", "BIGINT").addColumn("d", "DATE").addColumn(year)
        .property("delta.enableChangeDataFeed", "true").execute()
      spark.sql("ALTER TABLE f_t ADD CONSTRAINT positive CHECK (a >= 0)")
      numbers(8000).select(
        "id",
        "a",
        "b",
        "d").repartition(4).write.format("delta").mode("append").saveAsTable(
        "f_t")
      makeLiquid("f_t", "a, b")
      val before = spark.table("f_t").collect().map(_.toString).sorted.toSeq
      done(one("ZORDER TABLE f_t BY (a, b) WITH (fileCount = 4)"))
      assert(spark.table("f_t").collect().map(_.toString).sorted.toSeq === before)
      val version = spark.sql("DESCRIBE HISTORY f_t LIMIT 1").head().getAs[Long]("version")
      val feed =
        spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", version)
      assert(feed.table("f_t").count() === 0)
    }
  }

  test("a generated column with other values in the session's time zone: a sentence", SameOnAllLines) {
    assume(clusterBy.isEmpty, "a liquid table has no partitions")
    withTable("z_t") {
      val day = DeltaTable.columnBuilder(spark, "day").dataType("DATE")
        .generatedAlwaysAs("CAST(ts AS DATE)").build()
      DeltaTable.create(spark).tableName("z_t").addColumn("id", "BIGINT").addColumn("ts", "TIMESTAMP")
        .addColumn(day).partitionedBy("day").execute()
      spark.range(0, 400, 1, 4).selectExpr("id", "timestamp'2026-01-01 23:30:00' ts")
        .write.format("delta").mode("append").saveAsTable("z_t")
      val statement = "ZORDER TABLE z_t BY (id) WITH (fileCount = 2, force = true)"
      withConf("spark.sql.session.timeZone" -> "Asia/Tokyo") {
        val e = intercept[ZOrderException](one(statement))
        assert(e.condition === "ZORDER_SESSION_REFUSED.DELTA_GENERATED_COLUMN", e.getMessage)
        assert(e.getMessage.contains("column day of") && e.getMessage.contains("(Asia/Tokyo)"))
      }
      done(one(statement))
      assert(spark.table("z_t").where("day = '2026-01-01'").count() === 400)
    }
  }

  test("a column without statistics is refused", SameOnAllLines) {
    assume(clusterBy.isEmpty, "a liquid table has its statistics: DeltaLiquidSuite")
    withTable("w_t") {
      spark.sql("CREATE TABLE w_t (id BIGINT, a INT, b BIGINT) USING delta " +
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')")
      numbers(4000).select("id", "a", "b").write.format("delta").mode("append").saveAsTable("w_t")
      val unknown = intercept[Exception](one(s"ZORDER TABLE w_t $run")).getMessage
      assert(unknown.contains("no statistics of column b") && unknown.contains("force = true"), unknown)
    }
  }

  test("a temporary view that hides the table is not the table", SameOnAllLines) {
    withTable("h_t") {
      numbers(400).write.format("delta").saveAsTable("h_t")
      spark.range(3).createOrReplaceTempView("h_t")
      try for (statement <- Seq(s"TABLE h_t $run", s"TABLE h_t $run DRY RUN", "VACUUM h_t")) {
          val hidden = intercept[Exception](one(s"ZORDER $statement")).getMessage
          assert(hidden.contains("h_t is a temporary view"), hidden)
        }
      finally spark.catalog.dropTempView("h_t")
    }
  }

  test("a column of which Delta counts NULLs alone is refused", SameOnAllLines) {
    assume(clusterBy.isEmpty, "no liquid table has such clustering columns")
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).selectExpr("id", "unhex(md5(s)) bin", "a > 500 yes")
        .write.format("delta").save(path.toString)
      for (column <- Seq("bin", "yes")) {
        val e = intercept[ZOrderException](zorder(path, s"BY ($column, id) WITH (fileCount = 4)"))
        assert(e.condition === "ZORDER_COLUMN_REFUSED.DELTA_WITHOUT_STATISTICS", e.getMessage)
        assert(e.getMessage.contains(s"no statistics of column $column of"), e.getMessage)
      }
    }
  }

  test("a table with a feature that this Delta cannot write is refused before any work", SameOnAllLines) {
    assume(clusterBy.isEmpty, "a liquid table has features of its own, too")
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      done(zorder(path, run))
      val version = DeltaLog.forTable(spark, path.toString).update().version + 1
      val protocol = """{"protocol":{"minReaderVersion":1,"minWriterVersion":7,""" +
        """"writerFeatures":["appendOnly","invariants","someNewFeature"]}}"""
      Files.write(path.resolve(f"_delta_log/$version%020d.json"), s"$protocol\n".getBytes(UTF_8))
      val statements = Seq(s"TABLE '$path' FULL $run", s"TABLE '$path' FULL $run DRY RUN") ++
        Seq(s"VACUUM '$path'", s"VACUUM '$path' DRY RUN", s"ROLLBACK '$path'")
      for (statement <- statements)
        refused(path, s"ZORDER $statement", "cannot write to", "someNewFeature", "install a newer one")
      done(zorder(path, s"BY (a, b) WITH (fileCount = 4, force = true) INTO '$dir/copy'"))
      assert(read(path).count() === 2000)
    }
  }

  test("a column named as Spark's own of files is refused, by runs and by an index", SameOnAllLines) {
    assume(clusterBy.isEmpty, "the columns of BY would be refused first")
    for (name <- Seq("_metadata", "_METADATA")) withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr(
        "id",
        "a",
        s"b AS $name").repartition(4).write.format("delta").save(path.toString)
      val why = Seq(s"Column $name of", "a name that a run needs", "rename it")
      refused(path, s"ZORDER TABLE '$path' FULL BY (id, a) WITH (fileCount = 4)", why: _*)
      refused(path, s"ZORDER TABLE '$path' FULL BY ($name) WITH (fileCount = 4)", why: _*)
      refused(path, s"ZORDER TABLE '$path' FULL BY (id) WITH (fileCount = 4) DRY RUN", why: _*)
      refused(path, s"ZORDER INDEX delta.`$path` COLUMNS (id % 7)", why: _*)
    }
  }

  test("variants stay, and deleted rows stay deleted (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no VARIANT")
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(8000).selectExpr(
        "id",
        "a",
        "b",
        "parse_json(if(id % 3 = 0, null, concat('{\"x\": ', id, '}'))) v")
        .selectExpr("*", "named_struct('w', v) sv", "array(v) av").repartition(6)
        .write.format("delta").option("delta.enableDeletionVectors", "true").save(path.toString)
      makeLiquid(s"delta.`$path`", "a, b")
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
      val row = done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 8, verify = 'checksum')")))
      assert(metric[Long](row, "rows") === 7200 && files(path) === 8)
    }
  }

  test("NULLs, dates, timestamps, decimals, nested fields, CHAR", SameOnAllLines) {
    withTable("n_t") {
      spark.sql(
        "CREATE TABLE n_t (id BIGINT, c CHAR(6), s STRUCT<x: DECIMAL(20,3), t: TIMESTAMP>, f DOUBLE, " +
          "k MAP<STRING, INT>) USING delta")
      makeLiquid("n_t", "s.x, s.t, f")
      numbers(8000).selectExpr(
        "id",
        "case when id % 5 = 0 then null else left(s, 4) end c",
        "named_struct('x', cast(b / 7 as decimal(20,3)), 't', timestamp_seconds(b * 1000)) s",
        "case when id % 9 = 0 then double('NaN') else a / 3 end f",
        "map('k', a) k").repartition(5).write.format("delta").mode("append").saveAsTable("n_t")
      val before = spark.table("n_t").collect().map(_.toString).sorted.toSeq
      done(one("ZORDER TABLE n_t BY (s.x, s.t, f) WITH (fileCount = 8, timestampType = 'micros')"))
      assert(spark.table("n_t").collect().map(_.toString).sorted.toSeq === before)
    }
  }
}
