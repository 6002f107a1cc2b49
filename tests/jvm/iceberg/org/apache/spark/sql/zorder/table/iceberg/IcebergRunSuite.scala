package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.clustering.JobWatch
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** A clustering run over an Iceberg table, from the statement to the snapshot. */
class IcebergRunSuite extends AnyFunSuite with IcebergFixture {
  private val columns = "id BIGINT, a INT, b DOUBLE, c STRING"
  private val values =
    Seq("id", "int(id * 7919 % 8000) AS a", "pmod(hash(id), 1000) / 8d AS b", "string(id) AS c")

  private def filled(name: String, more: String = ""): String = {
    val t = create(name, columns, more)
    fill(t, 8000, 8, values: _*)
    t
  }

  test("a run replaces the files of the snapshot, and the rows are the same") {
    val t = filled("plain")
    val before = content(t)
    val old = filesOf(t)
    val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, verify = 'checksum')")
    assert(status(row) == "DONE")
    assert(content(t) == before)
    assert(tasks(t).length == 4 && filesOf(t).intersect(old).isEmpty)
    val runId = row.getAs[String]("run_id")
    assert(lastSummary(t)("zorder.clustering-id") == runId)
    assert(lastSummary(t)("zorder.columns") == "a, b")
    assert(lastSummary(t)("zorder.layout").matches("[0-9a-f]{16}"))
    val shown =
      sql(
        s"SELECT operation, summary['zorder.clustering-id'] FROM $t.snapshots ORDER BY committed_at").collect()
    assert(shown.last.getString(0) == "replace" && shown.last.getString(1) == runId)
  }

  test("the order of the rows is kept: row groups and pages are read as forecast", SameOnAllLines) {
    val t = filled("order")
    val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, pageRowLimit = 200)")
    val shares = row.getSeq[org.apache.spark.sql.Row](row.fieldIndex("columns"))
    Seq("a", "b").foreach { c =>
      val found = shares.find(_.getAs[String]("name") == c).get
      val pages = found.getAs[org.apache.spark.sql.Row]("pages")
      assert(math.abs(pages.getAs[Double]("measured") - pages.getAs[Double]("forecast")) < 0.05, found)
      assert(pages.getAs[Double]("measured") < 0.3, found)
    }
  }

  test("a second run has nothing to do, and FULL takes all files again", SameOnAllLines) {
    val t = filled("again")
    cluster(t, "a, b")
    val files = filesOf(t)
    assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO" && filesOf(t) == files)
    assert(status(sql(s"ZORDER TABLE $t FULL BY (a, b) WITH (fileCount = 4, force = true)").head()) == "DONE")
    assert(filesOf(t).intersect(files).isEmpty)
  }

  test("a few new rows in many files: no more jobs than there have to be", SameOnAllLines) {
    val t = filled("jobs")
    cluster(t, "a, b", "WITH (fileCount = 32, force = true)")
    fill(t, 80, 1, values: _*)
    val before = content(t)
    val (row, watch) = JobWatch(spark)(cluster(t, "a, b", ""))
    assert(status(row) == "DONE" && row.getAs[Row]("metrics").getAs[Long]("rows") == 80)
    watch.startedAtMost(3)
    assert(content(t) == before)
  }

  test("new rows go into the cells that they fall into, and the other files stay", SameOnAllLines) {
    val t = filled("grown")
    cluster(t, "a, b", "WITH (fileCount = 8, force = true)")
    val settled = filesOf(t)
    sql(s"INSERT INTO $t SELECT id + 8000, int(id), 1D, 'x' FROM range(80)")
    val before = content(t)
    val row = sql(s"ZORDER TABLE $t BY (a, b) WITH (writeBudget = 1000)").head()
    assert(status(row) == "DONE" && row.getAs[String]("reason").contains("were merged there"), row)
    assert(content(t) == before)
    assert(tasks(t).length == 8 && filesOf(t).intersect(settled).size == 7)
    assert(status(sql(s"ZORDER TABLE $t BY (a, b)").head()) == "NOTHING_TO_DO")
  }

  test("the table's own file size is the default, and an option of the run wins", SameOnAllLines) {
    val t = create("sized", columns, "TBLPROPERTIES ('write.target-file-size-bytes' = '70000')")
    fill(t, 30000, 8, values: _*)
    // the advice is on the files that a run would make
    val advised =
      sql(s"SELECT files FROM clustering_advice('$t') WHERE verdict IN ('CLUSTER', 'SORT')").collect()
    cluster(t, "a, b", "WITH (force = true)")
    assert(tasks(t).length >= 2)
    assert(advised.map(_.getAs[Int]("files")).toSet == Set(tasks(t).length))
    // what is meant for other writers is no reason to refuse a run
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.target-file-size-bytes' = '1')")
    assert(status(sql(s"ZORDER TABLE $t FULL BY (a, b) WITH (force = true) DRY RUN").head()) == "DRY_RUN")
    sql(s"ZORDER TABLE $t FULL BY (a, b) WITH (fileCount = 2, force = true)").collect()
    assert(tasks(t).length == 2)
  }

  test("a table with more rows than are sampled", SameOnAllLines, LongTest) {
    val t = create("large", columns)
    fill(t, 260000, 8, values: _*)
    val row = cluster(t, "a, b", "WITH (fileCount = 16)")
    val sampled = row.getAs[org.apache.spark.sql.Row]("metrics").getAs[Long]("sampledRows")
    assert(status(row) == "DONE" && sampled > 170000 && sampled < 230000, sampled)
    assert(spark.table(t).count() == 260000 && tasks(t).length == 16)
  }

  test("DRY RUN and a run without gain change nothing", SameOnAllLines) {
    val t = filled("dry")
    val snapshot = load(t).currentSnapshot.snapshotId
    assert(status(cluster(t, "a, b", "WITH (fileCount = 4) DRY RUN")) == "DRY_RUN")
    cluster(t, "a")
    val sorted = load(t).currentSnapshot.snapshotId
    assert(status(cluster(t, "a", "USING CURVE lexical WITH (fileCount = 4)")) == "NO_GAIN")
    assert(load(t).currentSnapshot.snapshotId == sorted && sorted != snapshot)
  }

  test("WHERE takes the files that lie inside it", SameOnAllLines) {
    val t = create("part", columns)
    fill(t, 8000, 8, values: _*)
    val before = content(t)
    val old = filesOf(t)
    // files hold ids in order, 1000 each
    assert(status(cluster(t, "a, b", "WITH (fileCount = 2, force = true)")) == "DONE")
    sql(s"CALL ice.system.rollback_to_snapshot('db.part', ${load(t).currentSnapshot.parentId})").collect()
    val row = sql(s"ZORDER TABLE $t WHERE id < 3000 BY (a, b) WITH (fileCount = 2, force = true)").head()
    assert(status(row) == "DONE" && content(t) == before)
    assert(filesOf(t).intersect(old).size == 5 && tasks(t).length == 7)
  }

  test("a table is found by its path, by iceberg.`path` and in Spark's own catalog") {
    val t = filled("paths")
    val path = load(t).location
    assert(status(sql(s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 4, force = true)").head()) == "DONE")
    sql(s"REFRESH TABLE $t")
    assert(lastSummary(t)("zorder.columns") == "a, b")
    for (format <- Seq("iceberg", "`iceberg`"))
      assert(status(sql(s"ZORDER TABLE $format.`$path` BY (a, b)").head()) == "NOTHING_TO_DO")
    for ((format, called) <- Seq("parquet" -> "Parquet", "delta" -> "Delta")) {
      val other = intercept[ZOrderException](sql(s"ZORDER TABLE $format.`$path` BY (a, b)").collect())
      assert(other.getMessage.contains(s"There is no $called table at $path"), other.getMessage)
    }
    // as a stored layout is asked for
    val stored = TableResolver.locate(Shims.classic(spark), TableRef.Name(Seq("iceberg", path)))
    assert(stored.format == "iceberg")
    sql("CREATE TABLE own (id BIGINT, a INT, b DOUBLE, c STRING) USING iceberg")
    fill("spark_catalog.default.own", 8000, 8, values: _*)
    Seq("own", "default.own", "spark_catalog.default.own").foreach { name =>
      val again = sql(s"ZORDER TABLE $name FULL BY (b, a) WITH (fileCount = 4, force = true)").head()
      assert(status(again) == "DONE", name)
    }
    assert(spark.table("own").count() == 8000)
  }

  test("OPTIMIZE t ZORDER BY is the same", SameOnAllLines) {
    val t = filled("optimized")
    assert(status(sql(s"OPTIMIZE $t ZORDER BY (a, b) WITH (fileCount = 4, force = true)").head()) == "DONE")
  }

  test("INTO writes a copy of plain Parquet and leaves the table alone", SameOnAllLines) {
    val t = filled("copied")
    val files = filesOf(t)
    val path = temp.resolve("copy").toUri.toString
    sql(s"ZORDER TABLE $t BY (a, b) WITH (fileCount = 4) INTO '$path'").collect()
    assert(spark.read.parquet(path).count() == 8000 && filesOf(t) == files)
    // the columns of a copy have no numbers
    assert(status(sql(s"ZORDER TABLE '$path'").head()) == "NOTHING_TO_DO")
    assert(sql(s"ZORDER AUDIT '$path'").count() > 0)
  }

  test("a table without a namespace is not looked for in the current one", SameOnAllLines) {
    val (inner, outer) = (filled("named"), "ice.named")
    sql(s"CREATE TABLE $outer USING iceberg AS SELECT * FROM $inner WHERE id < 4000")
    val before = filesOf(inner)
    sql("USE ice.db")
    try {
      assert(status(cluster(outer, "a, b")) == "DONE" && spark.table(outer).count() == 4000)
      assert(filesOf(inner) == before)
      sql(s"DROP TABLE $outer PURGE")
      val why = intercept[ZOrderException](sql(s"ZORDER VACUUM $outer").collect())
      assert(why.condition == "ZORDER_TABLE_NOT_FOUND.TABLE" && filesOf(inner) == before, why.getMessage)
    } finally sql("USE spark_catalog.default")
  }

  test("files stay Parquet, whatever the table's writers are told to write now", SameOnAllLines) {
    val t = filled("orc_now")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.format.default' = 'orc')")
    assert(status(cluster(t, "a, b")) == "DONE")
    assert(tasks(t).forall(_.file.location.endsWith(".parquet")) && spark.table(t).count() == 8000)
  }

  test("a branch is rewritten alone", SameOnAllLines) {
    val t = filled("branched")
    sql(s"ALTER TABLE $t CREATE BRANCH side")
    val main = load(t).currentSnapshot.snapshotId
    assert(status(cluster(s"$t.branch_side", "a, b")) == "DONE")
    assert(load(t).currentSnapshot.snapshotId == main)
    assert(load(t).snapshot("side").operation == "replace")
    assert(spark.table(s"$t.branch_side").count() == 8000)
  }

  test("Parquet options of a run reach Iceberg's writer, and the table's properties stay", SameOnAllLines) {
    val t = filled("options", "TBLPROPERTIES ('write.parquet.compression-codec' = 'gzip')")
    cluster(
      t,
      "a, b",
      "WITH (fileCount = 1, force = true, codec = 'snappy', rowGroupSize = '64k', bloom = 'c')")
    val file = new org.apache.hadoop.fs.Path(filesOf(t).head)
    val reader = org.apache.parquet.hadoop.ParquetFileReader.open(
      org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(file, spark.sessionState.newHadoopConf()))
    try {
      val blocks = reader.getFooter.getBlocks
      assert(blocks.size > 2)
      assert(blocks.get(0).getColumns.get(0).getCodec.name == "SNAPPY")
      assert(reader.readBloomFilter(blocks.get(0).getColumns.get(3)) != null)
    } finally reader.close()
    assert(load(t).properties.get("write.parquet.compression-codec") == "gzip")
    assert(!load(t).properties.containsKey("write.parquet.row-group-size-bytes"))
  }

  test("nothing stays staged on the driver", SameOnAllLines) {
    val t = filled("staged")
    val cached = org.apache.iceberg.spark.SparkTableCache.get.size
    cluster(t, "a, b", "WITH (fileCount = 4) DRY RUN")
    cluster(t, "a, b")
    intercept[ZOrderException](cluster(t, "nosuch"))
    assert(org.apache.iceberg.spark.SparkTableCache.get.size == cached)
    assert(org.apache.iceberg.spark.ScanTaskSetManager.get.fetchSetIds(load(t)).isEmpty)
  }
}
