package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.{DataFiles, FileScanTask}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Partitions that a transform makes from columns: each is laid out for itself. */
@SameOnAllLines
class IcebergPartitionsSuite extends AnyFunSuite with IcebergFixture {

  private def filled(name: String, partitioning: String): String = {
    val t = create(
      name,
      "id BIGINT, a INT, b INT, kind STRING, at TIMESTAMP",
      s"PARTITIONED BY ($partitioning) TBLPROPERTIES ('write.distribution-mode' = 'hash')")
    spark.range(0, 6000, 1, 2).selectExpr(
      "id",
      "int(hash(id)) AS a",
      "int(id * 31 % 1009) AS b",
      "element_at(array('null', 'a/b=c', 'x', NULL), int(id % 4) + 1) AS kind",
      "timestamp'2026-01-01 00:00:00' + make_interval(0, 0, 0, int(id % 3)) AS at"
    ).writeTo(t).append()
    t
  }

  /** NULL and the text `null` are two. */
  private def values(task: FileScanTask): Seq[Option[Any]] =
    (0 until task.file.partition.size).map(i => Option(task.file.partition.get(i, classOf[Object])))

  for ((name, partitioning, expected) <- Seq(
      ("identity", "kind", 4),
      ("bucket", "bucket(3, id)", 3),
      ("days", "days(at)", 3),
      ("two", "days(at), truncate(1, kind)", 12))) {
    test(s"partitioned by $partitioning") {
      val t = filled(name, partitioning)
      val before = content(t)
      val partitions = tasks(t).map(values).toSet
      assert(partitions.size == expected)
      assert(status(cluster(t, "a, b", "WITH (fileCount = 2, force = true, verify = 'checksum')")) == "DONE")
      assert(content(t) == before)
      val after = tasks(t).groupBy(values)
      assert(after.keySet == partitions && after.values.forall(_.length == 2))
      assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
    }
  }

  for (partitioning <- Seq("at", "hours(at), local"))
    test(s"timestamps by $partitioning stay when the session's zone is not the JVM's") {
      withConf("spark.sql.session.timeZone" -> "America/Los_Angeles") {
        val t =
          create("zones", "id BIGINT, at TIMESTAMP, local TIMESTAMP_NTZ", s"PARTITIONED BY ($partitioning)")
        // hours of the night in which clocks go back there
        sql(
          s"INSERT INTO $t SELECT id, timestamp_seconds(1636271999 + (id % 3) * 3600), " +
            "timestamp_ntz'2021-11-07 01:30:00' FROM range(600)")
        val (before, partitions) = (content(t), tasks(t).map(values).toSet)
        val row = cluster(t, "id", "WITH (fileCount = 2, force = true, verify = 'checksum')")
        assert(status(row) == "DONE" && content(t) == before && tasks(t).map(values).toSet == partitions)
      }
    }

  test("WHERE on a partition's source column takes its files by their bounds") {
    val t = filled("daily", "days(at)")
    val before = content(t)
    val row =
      sql(s"ZORDER TABLE $t WHERE at < '2026-01-02' BY (a, b) WITH (fileCount = 2, force = true)").head()
    assert(status(row) == "DONE" && content(t) == before)
    assert(lastSummary(t)("changed-partition-count") == "1")
  }

  test("WHERE on an identity column goes by the value of the partition, and not by what a file has in it") {
    val columns = "id BIGINT, a INT, b INT, p INT"
    val (t, others) = (create("constant", columns, "PARTITIONED BY (p)"), create("others", columns))
    def rows(from: Int, until: Int) =
      s"SELECT id, int(hash(id)), int(id % 97), 1 FROM range($from, $until, 1, 1)"
    sql(s"INSERT INTO $t ${rows(0, 500)}")
    sql(s"INSERT INTO $others ${rows(500, 800)}")
    val table = load(t)
    // as `add_files` brings in a directory p=9 whose files have the column, too
    tasks(others).foreach { task =>
      val added = DataFiles.builder(table.spec).copy(task.file).withPartitionPath("p=9").build()
      table.newAppend().appendFile(added).commit()
    }
    sql(s"REFRESH TABLE $t")
    for ((p, count) <- Seq(1 -> 500, 9 -> 300)) {
      val copy = temp.resolve(s"constant_$p").toUri.toString
      sql(s"ZORDER TABLE $t WHERE p = $p BY (a, b) WITH (fileCount = 2, force = true) INTO '$copy'").collect()
      assert(spark.read.parquet(copy).selectExpr("p").collect().map(_.getInt(0)).toSeq == Seq.fill(count)(p))
      val audited = sql(s"SELECT read_rows FROM clustering_where('$t', 'p = $p') WHERE level = 'file'")
      assert(audited.head().getLong(0) == count)
    }
  }

  test("WHERE on an identity column takes files that do not have it") {
    val path = temp.resolve("lacking").toUri.toString
    spark.range(0, 2000, 1, 1).selectExpr(
      "id",
      "int(hash(id)) AS a",
      "int(id % 97) AS b",
      "concat('d', id % 2) AS kind").write.partitionBy("kind").parquet(path)
    val t = create("lacking", "id BIGINT, a INT, b INT, kind STRING", "PARTITIONED BY (kind)")
    sql(s"CALL ice.system.add_files('db.lacking', 'parquet.`$path`')").collect()
    val before = content(t)
    val row =
      sql(s"ZORDER TABLE $t WHERE kind = 'd1' BY (a, b) WITH (fileCount = 2, force = true)").head()
    assert(status(row) == "DONE" && content(t) == before)
    assert(tasks(t).map(values(_).flatten.mkString).sorted == Seq("d0", "d1", "d1"))
  }

  test("an identity column is no clustering column; one under another transform is") {
    val t = filled("identity2", "kind, bucket(2, id)")
    val why = intercept[ZOrderException](cluster(t, "kind, a")).getMessage
    assert(why.contains("kind is a partition column"))
    assert(status(cluster(t, "id, a")) == "DONE")
  }

  test("files of an older partitioning are refused, with what to do", LongTest) {
    val t = filled("older", "days(at)")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    val why = intercept[ZOrderException](cluster(t, "a, b")).getMessage
    assert(why.contains("before the table's partitioning was changed") && why.contains("rewrite_data_files"))
    sql(s"INSERT INTO $t SELECT id, a, b, kind, at + INTERVAL 30 DAYS FROM $t WHERE id < 1000")
    val before = content(t)
    val newer =
      sql(s"ZORDER TABLE $t WHERE at >= '2026-01-20' BY (a, b) WITH (fileCount = 2, force = true)").head()
    assert(status(newer) == "DONE" && content(t) == before)
    sql("CALL ice.system.rewrite_data_files(table => 'db.older', options => map('rewrite-all', 'true'))").collect()
    assert(status(cluster(t, "a, b")) == "DONE")
  }
}
