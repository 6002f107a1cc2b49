package org.apache.spark.sql.zorder.table.iceberg

import java.io.File
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.iceberg.HasTableOperations
import org.apache.iceberg.spark.actions.SparkActions
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** History, vacuum, rollback and removal of runs on Iceberg tables. */
@SameOnAllLines
class IcebergUpkeepSuite extends AnyFunSuite with IcebergFixture with Steps {

  private def filled(name: String): String = {
    val t = create(name, "id BIGINT, a INT, b INT")
    fill(t, 2000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    t
  }

  private def runId(row: Row): String = row.getAs[String]("run_id")

  private def deleted(row: Row): Long = row.getAs[Long]("files_deleted")

  private def refused(body: => Any): String = intercept[ZOrderException](body).getMessage

  test("the history names the runs, and the state lies where Iceberg's clean-up leaves it") {
    val t = filled("history")
    val first = runId(cluster(t, "a, b"))
    val second = runId(cluster(t, "b, a"))
    val runs = sql(s"SELECT run_id, operation, files_added FROM zorder_history('$t')").collect()
    assert(runs.map(runId).toSeq == Seq(first, second))
    assert(runs.forall(r => r.getAs[String]("operation") == "OPTIMIZE" && r.getAs[Int]("files_added") == 4))
    val orphans =
      SparkActions.get(spark).deleteOrphanFiles(load(t)).olderThan(System.currentTimeMillis + 60000)
    assert(orphans.execute().orphanFileLocations.asScala.isEmpty)
    assert(sql(s"SELECT * FROM zorder_history('$t')").count() == 2)
  }

  test("a vacuum expires snapshots of a table whose files lie elsewhere, and finds no orphans") {
    val files = temp.resolve("elsewhere").toUri
    val t = create("elsewhere", "id BIGINT, a INT, b INT", s"TBLPROPERTIES ('write.data.path' = '$files')")
    fill(t, 2000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    cluster(t, "a, b")
    assert(!Files.exists(Paths.get(URI.create(load(t).location + "/data").getPath)))
    assert(status(one(s"ZORDER VACUUM $t RETAIN 0 HOURS")) == "DELETED")
    assert(load(t).snapshots.asScala.size == 1 && spark.table(t).count() == 2000)
  }

  test("a vacuum deletes no orphans where another table's metadata lies, or newer one of its own") {
    val (t, other) = (filled("shared"), filled("shared_other"))
    cluster(t, "a, b")
    def metadata(table: String) = Paths.get(URI.create(load(table).location + "/metadata").getPath)
    val strange = metadata(t).resolve("00007-strange.metadata.json")
    def vacuum() = sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").collect().map(status).toSeq
    // versions of its own that the newest one does not name any more
    Files.copy(metadata(t).resolve("v1.metadata.json"), strange)
    assert(vacuum() == Seq("DELETED"))
    // what a commit leaves that is killed as it begins to write
    Files.write(strange, Array.emptyByteArray)
    assert(vacuum() == Seq("NOTHING_TO_DO"))
    Files.copy(metadata(other).resolve("v2.metadata.json"), strange, REPLACE_EXISTING)
    assert(vacuum() == Seq("SHARED_LOCATION"))
    // an expiry would be newer than what is newer now
    sql(s"INSERT INTO $t SELECT id + 2000, 1, 1 FROM range(10)")
    val newest = Files.list(metadata(t)).iterator.asScala.filter(_.toString.endsWith(".metadata.json"))
      .filter(_ != strange).maxBy(f => f.getFileName.toString.filter(_.isDigit).toInt)
    val updatedMs = load(t).asInstanceOf[HasTableOperations].operations.current.lastUpdatedMillis
    val later = new String(Files.readAllBytes(newest), UTF_8)
      .replaceFirst("\"last-updated-ms\" *: *[0-9]+", "\"last-updated-ms\":" + (updatedMs + 1))
    Files.write(strange, later.getBytes(UTF_8))
    assert(vacuum() == Seq("SHARED_LOCATION"))
    Files.write(strange, "no metadata".getBytes(UTF_8))
    assert(vacuum() == Seq("SHARED_LOCATION"))
    assert(load(t).snapshots.asScala.size == 2, "nothing expires where the table may have another line")
    // what a commit leaves that is killed before its version has a name
    Files.move(strange, metadata(t).resolve(s"${UUID.randomUUID}.metadata.json"))
    assert(vacuum() == Seq("NOTHING_TO_DO") && load(t).snapshots.asScala.size == 1)
    // most of its own versions have snapshots that are gone, and it names one of them
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.metadata.previous-versions-max' = '1')")
    assert(vacuum() == Seq("NOTHING_TO_DO") && spark.table(t).count() == 2010)
    // what a commit that failed leaves in some catalogs, which has taken its snapshot back
    val failed = later.replace(load(t).currentSnapshot.snapshotId.toString, "7")
    assert(failed.contains("snap-7-"))
    Files.write(strange, failed.getBytes(UTF_8))
    assert(vacuum() == Seq("NOTHING_TO_DO"))
    Files.createFile(Paths.get(URI.create(load(t).currentSnapshot.manifestListLocation))
      .resolveSibling("snap-7-" + load(t).currentSnapshot.manifestListLocation.split("/snap-[0-9]+-")(1)))
    assert(vacuum() == Seq("SHARED_LOCATION"))
  }

  /** A catalog that gives a table the place that one of its name had before. */
  private def jdbc(name: String): Unit = {
    val catalog = s"spark.sql.catalog.$name"
    spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(s"$catalog.catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog")
    spark.conf.set(s"$catalog.uri", s"jdbc:derby:memory:upkeep_$name;create=true")
    spark.conf.set(s"$catalog.warehouse", temp.resolve(name).toUri.toString)
    ()
  }

  test("a vacuum leaves a table alone whose older line another catalog has gone on with") {
    val t = filled("forked")
    jdbc("forks")
    val newest = load(t).asInstanceOf[HasTableOperations].operations.current.metadataFileLocation
    sql(s"CALL forks.system.register_table('db.forked', '$newest')")
    sql("INSERT INTO forks.db.forked SELECT id + 2000, 1, 1 FROM range(10)")
    cluster(t, "a, b")
    for (run <- Seq("DRY RUN", "")) {
      age(new File(new URI(load(t).location + "/data")))
      assert(status(one(s"ZORDER VACUUM $t RETAIN 0 HOURS $run")) == "SHARED_LOCATION")
    }
    assert(load(t).snapshots.asScala.size == 2)
    // all rows are read: Iceberg counts without opening a file
    assert(content("forks.db.forked").size == 2010 && content(t).size == 2000)
  }

  test("rollback brings the files before the last run back, and only those") {
    val t = filled("rolled")
    val before = filesOf(t)
    val run = runId(cluster(t, "a, b"))
    val row = one(s"ZORDER ROLLBACK $t")
    assert(status(row) == "ROLLED_BACK" && runId(row) == run)
    assert(filesOf(t) == before && spark.table(t).count() == 2000)
    assert(refused(sql(s"ZORDER ROLLBACK $t").collect()).contains("There is no run"))
    assert(status(cluster(t, "a, b")) == "DONE")
    sql(s"INSERT INTO $t SELECT id, 1, 1 FROM range(10)")
    assert(refused(sql(s"ZORDER ROLLBACK $t").collect()).contains("was written to"))
    assert(spark.table(t).count() == 2010)
  }

  test("runs belong to their branch: each is rolled back for itself") {
    val t = filled("branches")
    val (first, side) = (filesOf(t), s"$t.branch_side")
    val main = runId(cluster(t, "a, b"))
    sql(s"ALTER TABLE $t CREATE BRANCH side")
    step("what was clustered before the branch is in place on it, by no run of its own") {
      assert(status(cluster(side, "a, b", "")) == "NOTHING_TO_DO")
      assert(refused(sql(s"ZORDER ROLLBACK $side").collect()).contains("There is no run"))
    }
    val other = sql(s"ZORDER TABLE $side FULL BY (a, b) WITH (fileCount = 8, force = true)").head()
    step("a run of the branch leaves the table in layout") {
      assert(status(other) == "DONE")
      assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
    }
    def told(name: String) = sql(s"SELECT run_id, branch FROM zorder_history('$name')").collect().toSeq
      .map(r => (runId(r), r.getAs[String]("branch")))
    step("each has a history of its own") {
      assert(told(t) == Seq((main, null)))
      assert(told(side) == Seq((runId(other), "side")))
    }
    step("the table is rolled back without the branch")(
      assert(runId(one(s"ZORDER ROLLBACK $t")) == main && filesOf(t) == first))
    step("the branch is rolled back to where it began, once") {
      assert(runId(one(s"ZORDER ROLLBACK $side")) == runId(other))
      assert(spark.table(side).selectExpr("input_file_name()").distinct().count() == 4)
      assert(refused(sql(s"ZORDER ROLLBACK $side").collect()).contains("There is no run"))
    }
  }

  test(
    "a rollback beside which somebody appends is refused, of the table and of a branch; a property is no row") {
    val t = filled("beside")
    val before = filesOf(t)
    def rolledBack(name: String, other: String): Row = {
      CrashPoint.meanwhile = (at: String) => if (at == "iceberg-rolling-back") { sql(other); () }
      try one(s"ZORDER ROLLBACK $name")
      finally CrashPoint.meanwhile = (_: String) => ()
    }
    cluster(t, "a, b")
    assert(status(rolledBack(t, s"ALTER TABLE $t SET TBLPROPERTIES ('mine' = '1')")) == "ROLLED_BACK")
    assert(filesOf(t) == before)
    cluster(t, "a, b")
    sql(s"ALTER TABLE $t CREATE BRANCH side")
    val side = s"$t.branch_side"
    assert(
      status(sql(s"ZORDER TABLE $side FULL BY (b, a) WITH (fileCount = 8, force = true)").head()) == "DONE")
    for (name <- Seq(t, side)) {
      val insert = s"INSERT INTO $name SELECT id, 1, 1 FROM range(10)"
      assert(refused(rolledBack(name, insert)).contains("was written to"), name)
      assert(spark.table(name).count() == 2010, name)
    }
  }

  test("a rollback that dies before its record is ended by the next one") {
    val t = filled("dying")
    val before = filesOf(t)
    val run = runId(cluster(t, "a, b"))
    System.setProperty(CrashPoint.Property, "rolled-back")
    try intercept[CrashPoint.Crash](sql(s"ZORDER ROLLBACK $t").collect())
    finally System.clearProperty(CrashPoint.Property)
    assert(filesOf(t) == before)
    val row = one(s"ZORDER ROLLBACK $t")
    assert(status(row) == "ROLLED_BACK" && runId(row) == run && filesOf(t) == before)
    assert(refused(sql(s"ZORDER ROLLBACK $t").collect()).contains("There is no run"))
  }

  test("vacuum expires snapshots and deletes files that nobody reads") {
    val t = filled("vacuumed")
    cluster(t, "a, b")
    val dry = sql(s"ZORDER VACUUM $t RETAIN 0 HOURS DRY RUN").head()
    assert(deleted(dry) == 4 && dry.getAs[Long]("bytes_deleted") > 0 && status(dry) == "DRY_RUN")
    assert(filesOnDisk(t).size == 8)
    assert(status(one(s"ZORDER VACUUM $t")) == "NOTHING_TO_DO")
    val row = sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").head()
    assert(deleted(row) == 4 && status(row) == "DELETED")
    assert(filesOnDisk(t).size == 4 && spark.table(t).count() == 2000)
    assert(refused(sql(s"ZORDER ROLLBACK $t").collect()).contains("expired"))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('gc.enabled' = 'false')")
    assert(refused(sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").collect()).contains("gc.enabled"))
  }

  test("vacuum keeps young files that no snapshot has: their writer may be at work") {
    val t = filled("at_work")
    val file = filesOf(t).head
    val data = new File(new URI(file).getPath).getParentFile
    Files.copy(new File(new URI(file).getPath).toPath, data.toPath.resolve("of-a-writer.parquet"))
    sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").collect()
    assert(filesOnDisk(t).contains("of-a-writer.parquet"))
    vacuumAll(t)
    assert(filesOnDisk(t) == filesOf(t).map(_.split('/').last))
  }

  test("vacuum keeps what Iceberg's own properties keep", LongTest) {
    val t = filled("own_retention")
    cluster(t, "a, b")
    cluster(t, "b, a")
    val monthMs = 30L * 24 * 3600 * 1000
    def alter(properties: String) = sql(s"ALTER TABLE $t SET TBLPROPERTIES ($properties)")
    def own(ageMs: Long, least: Int) = alter(
      s"'history.expire.max-snapshot-age-ms' = '$ageMs', 'history.expire.min-snapshots-to-keep' = '$least'")
    def vacuum(rest: String = ""): (String, Long) = {
      val row = one(s"ZORDER VACUUM $t $rest")
      (status(row), deleted(row))
    }
    def snapshots = load(t).snapshots.asScala.size
    alter("'zorder.retention' = '1ms'")
    step("by default the table's own age counts if it is longer") {
      own(monthMs, 1)
      assert(vacuum("DRY RUN") == (("NOTHING_TO_DO", 0L)) && vacuum() == (("NOTHING_TO_DO", 0L)))
      assert(snapshots == 3)
    }
    step("a statement's RETAIN counts, but for the number of snapshots to keep") {
      own(monthMs, 2)
      assert(vacuum("RETAIN 0 HOURS DRY RUN") == (("DRY_RUN", 4L)) && snapshots == 3)
      assert(vacuum("RETAIN 0 HOURS") == (("DELETED", 4L)) && snapshots == 2)
      assert(vacuum("RETAIN 0 HOURS") == (("NOTHING_TO_DO", 0L)) && filesOnDisk(t).size == 8)
    }
    def main(ageMs: Long): Unit = {
      load(t).manageSnapshots().setMaxSnapshotAgeMs("main", ageMs).commit()
      sql(s"REFRESH TABLE $t")
      ()
    }
    step("a branch keeps to its own") {
      own(1, 1)
      main(monthMs)
      assert(vacuum("RETAIN 0 HOURS DRY RUN")._1 == "NOTHING_TO_DO")
      assert(vacuum("RETAIN 0 HOURS")._1 == "NOTHING_TO_DO" && snapshots == 2)
    }
    step("ours counts where it is the longer one") {
      main(1)
      assert(vacuum("DRY RUN") == (("DRY_RUN", 4L)) && vacuum() == (("DELETED", 4L)) && snapshots == 1)
    }
    step("files without a snapshot wait for Iceberg's three days, since their writer may be at work") {
      val data = Paths.get(new java.net.URI(load(t).location + "/data"))
      val left = data.resolve("left.parquet")
      Files.copy(data.resolve(filesOnDisk(t).head), left)
      def aged(days: Long) = left.toFile.setLastModified(System.currentTimeMillis - days * 24 * 3600 * 1000)
      aged(2)
      assert(vacuum() == (("NOTHING_TO_DO", 0L)) && Files.exists(left))
      aged(4)
      assert(vacuum() == (("DELETED", 1L)) && !Files.exists(left))
    }
    assert(spark.table(t).count() == 2000)
  }

  test("a table in the place of one that was dropped has none of its runs, and removes none") {
    jdbc("places")
    val t = "places.db.t"
    def made(): String = {
      sql(s"CREATE TABLE $t (id BIGINT, a INT, b INT) USING iceberg")
      fill(t, 2000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
      load(t).location
    }
    def history() = sql(s"SELECT run_id FROM zorder_history('$t')").collect().map(runId).toSeq
    val place = made()
    val first = runId(cluster(t, "a, b"))
    assert(history() == Seq(first))
    sql(s"DROP TABLE $t")
    assert(made() == place && history().isEmpty)
    assert(refused(sql(s"ZORDER ROLLBACK $t").collect()).contains("There is no run"))
    refused(sql(s"ZORDER TABLE $t").collect())
    val second = runId(cluster(t, "b, a"))
    assert(history() == Seq(second))
    sql(s"ZORDER REMOVE $t").collect()
    val left = Files.list(Paths.get(URI.create(place).getPath, "_zorder", "runs")).iterator.asScala
      .filter(_.toString.endsWith(".json")).map(f => new String(Files.readAllBytes(f), UTF_8)).toList
    assert(history().isEmpty && left.length == 1 && left.head.contains(first))
  }

  test("remove takes all traces away; the table is read and written without us") {
    val t = filled("removed")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('zorder.by' = 'a, b', 'mine' = '1')")
    assert(status(sql(s"ZORDER TABLE $t WITH (fileCount = 4, force = true)").head()) == "DONE")
    val state = new java.io.File(new java.net.URI(load(t).location + "/_zorder"))
    assert(state.exists)
    sql(s"ZORDER REMOVE $t").collect()
    assert(!state.exists)
    assert(!load(t).properties.containsKey("zorder.by") && load(t).properties.get("mine") == "1")
    val plain = spark.newSession()
    plain.sql(s"INSERT INTO $t SELECT id, 1, 1 FROM range(10)")
    plain.sql(s"DELETE FROM $t WHERE id < 5")
    assert(plain.table(t).count() == 2000)
  }
}
