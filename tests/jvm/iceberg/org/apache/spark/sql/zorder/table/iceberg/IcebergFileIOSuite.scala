package org.apache.spark.sql.zorder.table.iceberg

import java.io.{File, IOException, UncheckedIOException}
import java.util.UUID

import scala.collection.JavaConverters._
import scala.collection.mutable

import org.apache.hadoop.fs.{Path, UnsupportedFileSystemException}
import org.apache.iceberg.exceptions.{NotFoundException, ValidationException}
import org.apache.iceberg.spark.actions.SparkActions
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.Footers
import org.apache.spark.sql.zorder.table.{CrashPoints, TableRef}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/**
 * Tables of a JDBC catalog whose files only a `FileIO` of its own reaches: `own` cannot list, `listing` can.
 */
@SameOnAllLines
class IcebergFileIOSuite extends AnyFunSuite with IcebergFixture with Steps {

  override protected def builder: SparkSession.Builder =
    Seq("own" -> classOf[OwnFileIO], "listing" -> classOf[ListingFileIO]).foldLeft(super.builder) {
      case (session, (name, io)) =>
        val catalog = s"spark.sql.catalog.$name"
        session.config(catalog, "org.apache.iceberg.spark.SparkCatalog")
          .config(s"$catalog.catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog")
          .config(s"$catalog.uri", s"jdbc:derby:memory:$name;create=true")
          .config(s"$catalog.warehouse", s"own://$name")
          .config(s"$catalog.io-impl", io.getName)
          .config(s"$catalog.own.root", temp.toString)
    }.config("spark.hadoop.fs.keyed.impl", classOf[KeyedFileSystem].getName)
      .config("spark.hadoop.fs.keyed.impl.disable.cache", "true")
      .config("spark.sql.catalog.keyed", "org.apache.iceberg.spark.SparkCatalog")
      .config("spark.sql.catalog.keyed.type", "hadoop")
      .config("spark.sql.catalog.keyed.warehouse", s"keyed:$temp/keyed")
      .config("spark.sql.catalog.keyed.hadoop.fs.keyed.secret", "open")

  override def afterEach(): Unit = {
    OwnFileIO.asked = (_: String) => ()
    super.afterEach()
  }

  private def filled(name: String, more: String = "", files: Int = 6): String = {
    sql(s"CREATE TABLE $name (id BIGINT, a INT, b INT) USING iceberg $more")
    fill(name, 2000, files, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    name
  }

  private def below(table: String, folder: String): Set[String] = {
    def walk(f: File): Seq[File] = if (f.isDirectory) f.listFiles.toSeq.flatMap(walk) else Seq(f)
    val at = new File(temp.toFile, load(table).location.stripPrefix("own://") + s"/$folder")
    if (at.exists) walk(at).map(_.getName).toSet else Set.empty
  }

  private def written(table: String): Set[String] = below(table, "data").filter(_.endsWith(".parquet"))

  private def live(table: String): Set[String] = filesOf(table).map(_.split('/').last)

  private def runs(table: String): Seq[Row] =
    sql(s"SELECT * FROM zorder_history('$table')").collect().toSeq

  private def full(table: String): String =
    s"ZORDER TABLE $table FULL BY (a, b) WITH (fileCount = 4, force = true)"

  test("Hadoop has no file system for these tables") {
    val t = filled("own.db.unreachable")
    assert(load(t).location.startsWith("own://"))
    intercept[UnsupportedFileSystemException] {
      new Path(load(t).location).getFileSystem(Shims.classic(spark).sessionState.newHadoopConf())
    }
  }

  test("the class of Hadoop's file system is not there: a run that has committed is done") {
    val t = filled("own.db.no_class")
    spark.conf.set("fs.own.impl", "no.such.FileSystem")
    try assert(status(cluster(t, "a, b")) == "DONE")
    finally spark.conf.unset("fs.own.impl")
  }

  test("dry run, run, increment, WHERE, history, audit, rollback, removal") {
    val t = filled("own.db.life")
    val before = content(t)
    step("a dry run writes nothing") {
      val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true) DRY RUN")
      assert(status(row) == "DRY_RUN", row)
      assert(below(t, "_zorder").isEmpty && load(t).properties.asScala.keys.forall(!_.startsWith("zorder.")))
    }
    step("a run, by a table's file, rows in one layout") {
      val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, verify = 'checksum')")
      assert(status(row) == "DONE", row)
      assert(content(t) == before && live(t).size == 4)
      assert(lastSummary(t)("zorder.columns") == "a, b")
      assert(!written(t).contains("claim"))
    }
    step("the same again has nothing to do") {
      assert(status(cluster(t, "a, b")) == "NOTHING_TO_DO")
    }
    step("new files are added to the layout") {
      sql(s"INSERT INTO $t SELECT id + 2000, int(hash(id)), int(id % 97) FROM range(500)")
      val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true)")
      assert(status(row) == "DONE", row)
      assert(spark.table(t).count() == 2500 && spark.table(t).distinct().count() == 2500)
    }
    step("the history has both, and so has another session") {
      val told = runs(t)
      assert(told.map(_.getAs[Int]("run")) == Seq(1, 2))
      assert(told.head.getAs[Int]("files_added") == 4)
    }
    step("the audit knows the last run, row groups and pages") {
      val read = sql(s"SELECT * FROM clustering_information('$t', 'a, b')").collect()
      assert(read.exists(_.toSeq.contains(live(t).size.toLong)), read.mkString("\n"))
    }
    step("WHERE takes files by their footers") {
      val row = sql(s"ZORDER TABLE $t FULL WHERE a >= 0 BY (a, b) WITH (force = true, overlap = 'include')")
        .head()
      assert(status(row) == "DONE", row)
      assert(spark.table(t).count() == 2500)
    }
    step("rollback undoes the last run, and the history says so") {
      assert(status(one(s"ZORDER ROLLBACK $t")) == "ROLLED_BACK")
      assert(runs(t).map(_.getAs[String]("operation")) ==
        Seq("OPTIMIZE", "OPTIMIZE", "OPTIMIZE", "ROLLBACK"))
      assert(status(cluster(t, "a, b")) == "NOTHING_TO_DO")
    }
    step("no stream is left open") {
      assert(OwnFileIO.open.get == 0)
    }
    step("removal takes files and properties") {
      assert(status(one(s"ZORDER REMOVE $t")) == "REMOVED")
      assert(below(t, "_zorder").isEmpty, below(t, "_zorder"))
      assert(load(t).properties.asScala.keys.forall(!_.startsWith("zorder.")))
      assert(runs(t).isEmpty && status(one(s"ZORDER REMOVE $t")) == "NOTHING_TO_DO")
      assert(status(cluster(t, "a, b")) == "DONE" && runs(t).length == 1)
    }
  }

  test("a vacuum leaves the files of another table at the same location alone") {
    val t = filled("listing.db.shared")
    val other = filled("listing.db.shared_too", s"LOCATION '${load(t).location}'")
    assert(load(t).location == load(other).location)
    val days = System.currentTimeMillis - 3L * 24 * 3600 * 1000
    new File(temp.toFile, load(t).location.stripPrefix("own://") + "/data").listFiles
      .foreach(_.setLastModified(days))
    for (table <- Seq(t, other); run <- Seq("DRY RUN", "")) {
      val row = one(s"ZORDER VACUUM $table RETAIN 0 HOURS $run")
      assert(status(row) == "SHARED_LOCATION", row)
      assert(row.getAs[String]("reason").contains("Give each table a location of its own"), row)
    }
    Seq(t, other).foreach(table => assert(spark.table(table).count() == 2000))
  }

  test("a copy as plain Parquet, advice, OPTIMIZE", LongTest) {
    val t = filled("own.db.advised")
    val copy = temp.resolve("copy").toUri.toString
    assert(status(cluster(t, "a, b", s"WITH (fileCount = 4, force = true) INTO '$copy'")) == "DONE")
    assert(
      spark.read.parquet(copy).except(spark.table(t)).isEmpty && spark.read.parquet(copy).count() == 2000)
    assert(sql(s"SELECT * FROM clustering_advice('$t')").count() > 0)
    assert(status(one(s"OPTIMIZE $t ZORDER BY (a, b) WITH (fileCount = 4, force = true)")) == "DONE")
    assert(sql(s"SELECT count(DISTINCT zorder_file('table:$t', a, b)) FROM $t").head().getLong(0) == 4)
  }

  test("records outlive the snapshots that name them", LongTest) {
    val t = filled("own.db.expired")
    assert(status(cluster(t, "a, b")) == "DONE")
    sql(s"INSERT INTO $t SELECT id + 2000, 1, 1 FROM range(10)")
    load(t).expireSnapshots().expireOlderThan(System.currentTimeMillis + 1000).commit()
    sql(s"REFRESH TABLE $t")
    assert(load(t).snapshots.asScala.size == 1)
    assert(runs(t).length == 1)
    // what is in the layout stays there
    val row = cluster(t, "a, b", "WITH (force = true) DRY RUN")
    assert(row.toString.contains("1 new") || status(row) == "DRY_RUN", row)
  }

  test("branches have runs of their own", LongTest) {
    val t = filled("own.db.branched")
    val side = s"$t.branch_side"
    assert(status(cluster(t, "a, b")) == "DONE")
    sql(s"ALTER TABLE $t CREATE BRANCH side")
    assert(status(cluster(side, "a, b", "")) == "NOTHING_TO_DO")
    assert(status(sql(full(side)).head()) == "DONE")
    assert(runs(t).length == 1 && runs(side).length == 1)
    assert(status(one(s"ZORDER ROLLBACK $side")) == "ROLLED_BACK")
    assert(runs(t).length == 1 && runs(side).length == 2)
  }

  test("more files than the driver reads alone, partitions, deletes, batches", LongTest) {
    val t = filled(
      "own.db.large",
      "PARTITIONED BY (bucket(3, id)) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    sql(s"DELETE FROM $t WHERE id % 100 = 7")
    val before = content(t)
    assert(before.length == 1980)
    val row = sql(s"ZORDER TABLE $t BY (a, b) WITH (force = true, maxBytesInFlight = '4k')").head()
    assert(status(row) == "DONE", row)
    assert(content(t) == before && runs(t).length > 1)
    assert(runs(t).map(_.getAs[String]("run_id")).distinct.length == 1)
    assert(status(one(s"ZORDER ROLLBACK $t")) == "ROLLED_BACK")
    assert(content(t) == before)
  }

  test("a task reads by a copy of the FileIO, and closes the copy") {
    val t = filled("own.db.copied")
    def table = TableResolver.locate(Shims.classic(spark), TableRef.Name(t.split('.').toSeq))
    val files = table.files().take(2)
    val bytes = Utils.serialize(files.toArray)
    def copy() = Utils.deserialize[Array[DataFile]](bytes, getClass.getClassLoader).toSeq
    val closed = OwnFileIO.closed.get
    step("where the table is open, it is the original") {
      copy().head.own.get.release()
      assert(copy() == files && (copy().head.own.get eq files.head.own.get))
    }
    step("elsewhere it is another one that reads the same") {
      IcebergFiles.original.clear()
      val copied = copy()
      assert(copied == files && (copied.head.own.get eq copied(1).own.get))
      assert(copied.head.own.get ne files.head.own.get)
      val session = Shims.classic(spark)
      assert(Footers.read(session, copied).map(_.rows) == Footers.read(session, files).map(_.rows))
      copied.head.own.get.release()
      assert(OwnFileIO.closed.get == closed + 1)
    }
  }

  for (point <- CrashPoints.iceberg :+ "iceberg-listed")
    test(
      s"a run that dies at $point leaves the rows as they were, and the next run knows",
      LongTest.unless(point == "iceberg-committed"): _*) {
      val t = filled(s"listing.db.${point.replace('-', '_')}")
      val before = content(t)
      System.setProperty(CrashPoint.Property, point)
      intercept[Throwable](cluster(t, "a, b"))
      System.clearProperty(CrashPoint.Property)
      sql(s"REFRESH TABLE $t")
      assert(content(t) == before)
      val committed = load(t).currentSnapshot.operation == "replace"
      assert(committed == !Seq("iceberg-written", "iceberg-commit").contains(point))
      assert(runs(t).length == (if (committed) 1 else 0))
      assert(status(cluster(t, "a, b")) == (if (committed) "NOTHING_TO_DO" else "DONE"))
      // the record is in a list by now
      assert(load(t).properties.containsKey("zorder.records") && runs(t).length == 1)
      assert(status(sql(full(t)).head()) == "DONE")
      age(new File(temp.toFile, load(t).location.stripPrefix("own://")))
      sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").collect()
      assert(content(t) == before && written(t) == live(t) && runs(t).length == 2)
      SparkActions.get(spark).deleteOrphanFiles(load(t)).usePrefixListing(true)
        .olderThan(System.currentTimeMillis + 60000).execute()
      assert(runs(t).length == 2, "Iceberg's clean-up passes over our files")
      sql(s"ZORDER REMOVE $t")
      assert(below(t, "_zorder").isEmpty)
    }

  test("a snapshot of others is looked at by the first attempt of a commit alone") {
    val t = filled("own.db.appended")
    val start = load(t).currentSnapshot
    val (before, seen) = (filesOf(t), mutable.HashSet.empty[Long])
    sql(s"INSERT INTO $t SELECT id + 2000, 1, 1 FROM range(10)")
    val table = load(t)
    val manifest = table.currentSnapshot.dataManifests(table.io).asScala
      .find(_.snapshotId.longValue == table.currentSnapshot.snapshotId).get.path
    def opened(inputs: Set[String]): Int = {
      var times = 0
      OwnFileIO.asked = (path: String) => if (path == manifest) times += 1
      val guard = LaterDeletes.Guard(start, start, None, inputs, Map.empty, None, seen)
      try guard.of(table).updateProperties().set("mine", UUID.randomUUID.toString).commit()
      finally OwnFileIO.asked = (_: String) => ()
      times
    }
    intercept[ValidationException](opened(filesOf(t) -- before))
    assert(Seq.fill(3)(opened(before)) == Seq(1, 0, 0))
  }

  test("a conflict deletes what was written, by the same means", LongTest) {
    val t = filled("own.db.conflict")
    var done = false
    CrashPoint.meanwhile = (at: String) =>
      if (at == "iceberg-commit" && !done) {
        done = true
        sql(s"DELETE FROM $t WHERE id % 100 = 7")
      }
    intercept[ZOrderConflictException](cluster(t, "a, b"))
    CrashPoint.meanwhile = (_: String) => ()
    assert(spark.table(t).count() == 1980 && runs(t).isEmpty)
    assert(below(t, "_zorder/runs").isEmpty)
    // the six files, and what the DELETE wrote
    assert(load(t).currentSnapshot.operation != "replace" && live(t).subsetOf(written(t)))
    assert(written(t).size <= 12)
    assert(status(cluster(t, "a, b")) == "DONE" && spark.table(t).count() == 1980)
  }

  test("two runs at once: one wins, and the other run's record is not listed", LongTest) {
    val t = filled("own.db.two")
    val before = content(t)
    var done = false
    CrashPoint.meanwhile = (at: String) =>
      if (at == "iceberg-written" && !done) {
        done = true
        assert(status(cluster(t, "b, a")) == "DONE")
      }
    intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(content(t) == before && runs(t).length == 1)
  }

  test("a storage that fails for records costs the record, never a row; one that fails for data, the run") {
    val t = filled("own.db.failing")
    val before = content(t)
    step("for records") {
      OwnFileIO.asked = path => if (path.contains("_zorder")) throw new IllegalStateException("denied")
      assert(status(cluster(t, "a, b")) == "DONE")
      OwnFileIO.asked = (_: String) => ()
      assert(content(t) == before && runs(t).isEmpty)
    }
    step("for a list that is there, which is not written over") {
      assert(status(sql(full(t)).head()) == "DONE" && runs(t).length == 1)
      OwnFileIO.asked = path => if (path.contains("_zorder/heads")) throw new IllegalStateException("denied")
      assert(status(sql(full(t)).head()) == "DONE")
      OwnFileIO.asked = (_: String) => ()
      sql(s"REFRESH TABLE $t")
      assert(runs(t).length == 2, "the snapshot names the record")
    }
    step("for the commit: a sentence that names what nobody finds") {
      val files = live(t)
      CrashPoint.meanwhile = (at: String) =>
        if (at == "iceberg-commit") OwnFileIO.asked = path =>
          if (path.endsWith(".avro")) throw new UncheckedIOException(new IOException("no room"))
      val e = intercept[ZOrderException](sql(full(t)).head())
      CrashPoint.meanwhile = (_: String) => ()
      OwnFileIO.asked = (_: String) => ()
      sql(s"REFRESH TABLE $t")
      assert(live(t) == files && content(t) == before)
      assert(e.condition == "ZORDER_COMMIT_FAILED.ICEBERG_NOT_LISTED", e.getMessage)
      assert(e.getMessage.contains("4 files such as own://own/db/failing/data/"), e.getMessage)
    }
    step("for footers: a sentence, and nothing changed") {
      val files = live(t)
      OwnFileIO.asked = path =>
        if (path.contains("/data/") && path.endsWith(".parquet")) throw new IllegalStateException("no token")
      val said = intercept[ZOrderException](sql(full(t)).head()).getMessage
      OwnFileIO.asked = (_: String) => ()
      assert(said.contains("no token") && !said.trim.contains('\n'), said)
      assert(live(t) == files && content(t) == before)
    }
  }

  test("a later delete that cannot be copied: nothing is left of the run; if it is gone, one more try") {
    val t = filled("own.db.uncopied")

    /** Others delete rows three times; Iceberg drops two of the files, and the second of these cannot be copied. */
    def fails(e: RuntimeException, values: Int*): Unit = {
      var (deleted, asked) = (false, 0)
      CrashPoint.meanwhile = (at: String) =>
        if (at == "iceberg-commit" && !deleted) {
          deleted = true
          values.foreach(deleteEqual(t, _))
        } else if (at == "iceberg-later-deletes") OwnFileIO.asked = path =>
          if (path.split('/').last.startsWith("equality-delete-")) {
            asked += 1
            if (asked == 2) throw e
          }
    }
    step("denied: an error, and nothing of the run stays") {
      fails(new IllegalStateException("denied"), 5, 50, 51)
      assert(intercept[Exception](cluster(t, "a, b")).getMessage.contains("denied"))
      OwnFileIO.asked = (_: String) => ()
      assert(written(t) == live(t) ++ Seq(5, 50, 51).map(b => s"equality-delete-$b.parquet"))
      assert(live(t).size == 6 && below(t, "_zorder/runs").isEmpty)
    }
    step("gone: the run is put on the table as it is now") {
      fails(new NotFoundException("gone"), 7, 8, 9)
      assert(status(cluster(t, "a, b")) == "DONE")
      OwnFileIO.asked = (_: String) => ()
      assert(spark.table(t).where("b IN (5, 50, 51, 7, 8, 9)").isEmpty)
      assert(spark.table(t).count() == (0 until 2000).count(id => !Set(5, 50, 51, 7, 8, 9)(id % 97)))
    }
  }

  test("a second run that is told to skips, and an index is refused") {
    val t = filled("own.db.claimed")
    val ref = TableRef.Name(t.split('.').toSeq)
    val claim = TableResolver.open(Shims.classic(spark), ref).claims(Shims.classic(spark), Nil).head
    claim.write("another\nnobody@nowhere")
    val busy = "WITH (fileCount = 4, force = true, skipIfRunning = true)"
    val why = intercept[ZOrderConflictException](cluster(t, "a, b", busy))
    assert(why.condition == "ZORDER_CONFLICT.OTHER_RUN" && why.getMessage.contains("another"))
    claim.delete()
    assert(status(cluster(t, "a, b", busy)) == "DONE" && !below(t, "_zorder").contains("claim"))
    val index = intercept[ZOrderException](sql(s"ZORDER INDEX $t").collect())
    assert(index.condition == "ZORDER_INDEX_REFUSED.OTHER_FORMAT")
  }

  test(
    "a table that Hadoop reaches, of a catalog with another FileIO, keeps its state where it was",
    LongTest) {
    spark.conf.set("spark.sql.catalog.res", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.res.catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog")
    spark.conf.set("spark.sql.catalog.res.uri", "jdbc:derby:memory:res;create=true")
    spark.conf.set("spark.sql.catalog.res.warehouse", temp.resolve("res").toUri.toString)
    spark.conf.set("spark.sql.catalog.res.io-impl", "org.apache.iceberg.io.ResolvingFileIO")
    val t = filled("res.db.t")
    assert(status(cluster(t, "a, b")) == "DONE")
    assert(new File(new java.net.URI(load(t).location + "/_zorder/runs/1.json").getPath).exists)
    assert(!load(t).properties.containsKey("zorder.records") && runs(t).length == 1)
  }

  test("settings for Hadoop that the catalog alone has: many footers, state, vacuum, no index") {
    val t = filled("keyed.db.t", files = 20)
    val before = content(t)
    assert(status(cluster(t, "a, b")) == "DONE")
    assert(content(t) == before && live(t).size == 4)
    assert(runs(t).length == 1 && !load(t).properties.containsKey("zorder.records"))
    vacuumAll(t)
    assert(content(t) == before && filesOnDisk(t) == live(t))
    val index = intercept[ZOrderException](sql(s"ZORDER INDEX $t").collect())
    assert(index.condition == "ZORDER_INDEX_REFUSED.OTHER_FORMAT")
    assert(status(one(s"ZORDER REMOVE $t")) == "REMOVED" && runs(t).isEmpty)
  }
}
