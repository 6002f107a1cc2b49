package org.apache.spark.sql.zorder.table.iceberg

import java.io.File
import java.net.URI

import scala.collection.JavaConverters._

import org.apache.iceberg.exceptions.CommitStateUnknownException
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{CrashPoints, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** What others do during a run, and runs that die. */
@SameOnAllLines
class IcebergConflictSuite extends AnyFunSuite with IcebergFixture {

  private def filled(name: String): String = {
    val t = create(name, "id BIGINT, a INT, b INT", "TBLPROPERTIES ('format-version' = '2')")
    fill(t, 2000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    t
  }

  /** Does something as another writer would, once, when the run comes to a place. */
  private def meanwhile(place: String)(body: => Unit): Unit = {
    var done = false
    CrashPoint.meanwhile = (at: String) =>
      if (at == place && !done) {
        done = true
        body
      }
  }

  for (place <- Seq("iceberg-written", "iceberg-commit")) {
    test(s"rows that somebody appends at $place stay") {
      val t = filled(place.replace('-', '_'))
      meanwhile(place)(sql(s"INSERT INTO $t SELECT id + 2000, 1, 1 FROM range(500)"))
      assert(status(cluster(t, "a, b")) == "DONE")
      assert(spark.table(t).count() == 2500 && spark.table(t).distinct().count() == 2500)
      // the new file is not in the layout, the others are
      assert(tasks(t).length > 4)
    }

    test(
      s"rows of all files that somebody deletes at $place, copy-on-write, stay deleted: the run gives up",
      LongTest.unless(place == "iceberg-commit"): _*) {
      val t = filled(s"${place}_copied".replace('-', '_'))
      meanwhile(place)(sql(s"DELETE FROM $t WHERE id % 100 = 7"))
      val why = intercept[ZOrderConflictException](cluster(t, "a, b"))
      assert(why.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", why.getMessage)
      assert(spark.table(t).count() == 1980)
      assert(load(t).currentSnapshot.operation != "replace")
      // what the run had written is gone
      assert(filesOf(t).map(_.split('/').last).subsetOf(filesOnDisk(t)))
      assert(status(cluster(t, "a, b")) == "DONE" && spark.table(t).count() == 1980)
    }
  }

  test("rows that get ids during a run keep them: the run gives up") {
    val t = filled("numbered")
    def ids(): Seq[String] = spark.table(t).where("id < 2000").selectExpr("id", "_row_id").orderBy("id")
      .collect().map(_.toString).toSeq
    var numbered = Seq.empty[String]
    meanwhile("iceberg-written") {
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '3')")
      sql(s"INSERT INTO $t SELECT id + 2000, 1, 1 FROM range(500)")
      numbered = ids()
    }
    val why = intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(why.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", why.getMessage)
    assert(numbered.distinct.length == 2000 && ids() == numbered)
    assert(status(cluster(t, "a, b")) == "DONE" && ids() == numbered)
  }

  for (place <- Seq("iceberg-written", "iceberg-commit"))
    test(s"a file that comes to the table again at $place keeps its rows twice: the run gives up") {
      val t = filled(s"again_$place".replace('-', '_'))
      val first = tasks(t).head.file
      meanwhile(place)(load(t).newAppend().appendFile(first).commit())
      val why = intercept[ZOrderConflictException](cluster(t, "a, b"))
      assert(why.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", why.getMessage)
      sql(s"REFRESH TABLE $t")
      assert(spark.table(t).count() == 2000 + first.recordCount)
    }

  test("a file that comes to the table again, of which others have removed rows: the run gives up") {
    val t = filled("again_rebased")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    val first = tasks(t).head.file
    meanwhile("iceberg-commit") {
      sql(s"DELETE FROM $t WHERE id = 7")
      load(t).newAppend().appendFile(first).commit()
    }
    val why = intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(why.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", why.getMessage)
    sql(s"REFRESH TABLE $t")
    assert(spark.table(t).count() == 1999 + first.recordCount)
  }

  for (commits <- Seq(0, 1))
    test(s"a branch with $commits commits of its own that is dropped during the run does not come back") {
      val t = filled(s"dropped_branch_$commits")
      sql(s"ALTER TABLE $t CREATE BRANCH side")
      if (commits > 0)
        sql(s"INSERT INTO $t.branch_side SELECT /*+ COALESCE(1) */ id + 2000, 1, 1 FROM range(5)")
      meanwhile("iceberg-commit")(sql(s"ALTER TABLE $t DROP BRANCH side"))
      val why = intercept[ZOrderConflictException](cluster(s"$t.branch_side", "a, b"))
      assert(why.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", why.getMessage)
      assert(load(t).refs.keySet.asScala == Set("main") && spark.table(t).count() == 2000)
      val left = filesOnDisk(t) -- filesOf(t).map(_.split('/').last)
      assert(left.size == commits, left)
    }

  test("a table that is replaced during the run stays as it is") {
    val t = filled("replaced")
    val before = filesOnDisk(t)
    meanwhile("iceberg-commit")(sql(s"CREATE OR REPLACE TABLE $t (id BIGINT, a INT, b INT) USING iceberg"))
    val why = intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(why.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", why.getMessage)
    sql(s"REFRESH TABLE $t")
    assert(spark.table(t).count() == 0 && filesOnDisk(t) == before)
  }

  test("a run whose new files somebody has deleted ends as a conflict") {
    val t = filled("swept")
    val before = filesOnDisk(t)
    val data = new File(new URI(load(t).location + "/data"))
    meanwhile("iceberg-commit") {
      assert(new File(data, (filesOnDisk(t) -- before).head).delete())
    }
    val spared = IcebergWrite.sparedMs
    IcebergWrite.sparedMs = 0
    try {
      val lost = intercept[ZOrderConflictException](cluster(t, "a, b"))
      assert(lost.condition == "ZORDER_CONFLICT.NEW_FILES_DELETED" && filesOnDisk(t) == before)
      assert(status(cluster(t, "a, b")) == "DONE" && spark.table(t).count() == 2000)
    } finally IcebergWrite.sparedMs = spared
  }

  for ((what, change) <- Seq(
      "column" -> "ADD COLUMN more INT",
      "partition field" -> "ADD PARTITION FIELD bucket(4, id)"))
    test(s"a $what that somebody adds before the new files are written: the run gives up") {
      val t = filled(s"altered_${what.replace(' ', '_')}")
      val before = filesOnDisk(t)
      val session = Shims.classic(spark)
      val table = TableResolver.open(session, TableRef.Name(t.split('.').toSeq))
        .asInstanceOf[IcebergClusterTable]
      val write = table.begin("run", table.files())
      sql(s"ALTER TABLE $t $change")
      table.table.refresh()
      val rows = spark.table(t).queryExecution.analyzed
      val why = intercept[ZOrderConflictException](write.write(session, rows, Nil, Map.empty, _ => ""))
      assert(why.condition == "ZORDER_CONFLICT.OTHER_COMMIT" && filesOnDisk(t) == before)
    }

  test("a later delete that is gone when its copy is there: the run is put on the table again") {
    val t = filled("undeleted")
    var commits = 0
    var isGone = false
    CrashPoint.meanwhile = (at: String) => {
      if (at == "iceberg-commit") {
        commits += 1
        // Iceberg drops the first of two
        if (commits == 1) Seq(5, 50).foreach(deleteEqual(t, _))
      }
      if (at == "iceberg-later-deletes" && !isGone) {
        isGone = true
        val delete =
          tasks(t).flatMap(_.deletes.asScala).find(_.location.endsWith("equality-delete-5.parquet")).get
        load(t).newRewrite().deleteFile(delete).commit()
        sql(s"REFRESH TABLE $t")
      }
    }
    assert(status(cluster(t, "a, b")) == "DONE" && isGone && commits == 2)
    assert(spark.table(t).count() == (0 until 2000).count(_ % 97 != 50))
    assert(filesOnDisk(t).count(_.endsWith("equality-delete-5.parquet")) == 1)
  }

  test("records are not removed under a run") {
    val t = filled("removed")
    var refusal = ""
    meanwhile("iceberg-written") {
      refusal = intercept[ZOrderConflictException](sql(s"ZORDER REMOVE $t").collect()).condition
    }
    assert(status(cluster(t, "a, b")) == "DONE")
    assert(refusal == "ZORDER_CONFLICT.REMOVE_DURING_RUN")
  }

  test("of two runs at once one wins and the other leaves nothing behind") {
    val t = filled("two")
    val before = content(t)
    meanwhile("iceberg-written") {
      assert(status(cluster(t, "b, a")) == "DONE")
    }
    intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(content(t) == before)
    assert(lastSummary(t)("zorder.columns") == "b, a")
    assert(filesOnDisk(t).size == 8) // those before the run that won, and its own
  }

  for (point <- CrashPoints.iceberg) {
    test(
      s"a run that dies at $point leaves the rows as they were",
      LongTest.unless(point == "iceberg-commit"): _*) {
      val t = filled(point.replace('-', '_') + "_crash")
      val before = content(t)
      System.setProperty(CrashPoint.Property, point)
      intercept[Throwable](cluster(t, "a, b"))
      System.clearProperty(CrashPoint.Property)
      assert(content(t) == before)
      val committed = load(t).currentSnapshot.operation == "replace"
      assert(committed == (point == "iceberg-committed"))
      // a run that died behind its commit is known to the next one
      assert(status(cluster(t, "a, b")) == (if (committed) "NOTHING_TO_DO" else "DONE"))
      assert(
        status(sql(s"ZORDER TABLE $t FULL BY (a, b) WITH (fileCount = 4, force = true)").head()) == "DONE")
      vacuumAll(t)
      assert(content(t) == before)
      assert(filesOnDisk(t) == filesOf(t).map(_.split('/').last))
    }
  }

  test("when nobody knows whether a commit took place, no file is deleted") {
    val t = filled("unknown")
    meanwhile("iceberg-commit")(
      throw new CommitStateUnknownException(new RuntimeException("connection lost")))
    val why = intercept[ZOrderException](cluster(t, "a, b"))
    assert(why.condition == "ZORDER_COMMIT_UNKNOWN.ICEBERG" && why.getMessage.contains("connection lost"))
    assert(filesOnDisk(t).size == 8 && spark.table(t).count() == 2000)
  }

  test("an earlier step of a run, to which somebody has rolled the table back, is not taken for the next") {
    val t = create("back", "id BIGINT, a INT, b INT")
    fill(t, 8000, 8, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    val before = content(t)
    val limit = tasks(t).map(_.file.fileSizeInBytes).sum / 2
    var commits = 0
    CrashPoint.meanwhile = (at: String) =>
      if (at == "iceberg-commit") {
        commits += 1
        if (commits == 3) {
          val first = load(t).currentSnapshot.parentId
          sql(s"CALL ice.system.rollback_to_snapshot('${t.stripPrefix("ice.")}', $first)").collect()
        }
      }
    intercept[ZOrderConflictException](
      cluster(t, "a, b", s"WITH (fileCount = 8, force = true, maxBytesInFlight = $limit)"))
    assert(commits == 3 && content(t) == before)
    assert(lastSummary(t).contains("zorder.clustering-id"))
  }

  test("a table that was dropped during the run is an error, not a table again") {
    val t = filled("dropped")
    meanwhile("iceberg-commit")(sql(s"DROP TABLE $t PURGE"))
    intercept[Exception](cluster(t, "a, b"))
    assert(!spark.catalog.tableExists(t))
    intercept[ZOrderException](cluster(t, "a, b"))
  }
}
