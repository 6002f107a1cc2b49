package org.apache.spark.sql.zorder.store

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.table.{CrashPoints, Operation}
import org.apache.spark.sql.zorder.table.parquet.journal.JournalStore
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest

/** A crash at every step of a commit: the rows are all there at once, and the next statement finishes or withdraws it. */
class CrashOnStoreSuite extends AnyFunSuite with StoreFixture {

  for {
    partitioned <- Seq(false, true)
    point <- if (partitioned) CrashPoints.partitionedCatalogCommit else CrashPoints.catalogCommit
  } {
    val kind = if (partitioned) "partitioned" else "without partitions"
    val tags = LongTest.unless(point == "altered")

    test(s"a table $kind: a run that dies at $point", tags: _*) {
      withTable(partitioned) { (name, at) =>
        assert(crashAt(point)(cluster(name)), "the point was not reached")
        whole(name, at, 4000)
      }
    }

    test(s"a table $kind: a rollback that dies at $point", LongTest) {
      withTable(partitioned) { (name, at) =>
        done(cluster(name))
        append(name, 4000, 4100)
        assert(crashAt(point)(one(s"ZORDER ROLLBACK $name")), "the point was not reached")
        whole(name, at, 4100)
      }
    }
  }

  test("a second crash in the recovery from the first", LongTest) {
    withTable(partitioned = true) { (name, at) =>
      assert(crashAt("altered")(cluster(name)))
      Seq("state-moved", "done").foreach(p => crashAt(p)(sql(s"ZORDER VACUUM $name").collect()))
      whole(name, at, 4000)
    }
  }

  for (point <- Seq("vacuum-deleted", "removed-state", "late-copied"))
    test(s"maintenance that dies at $point", LongTest) {
      withTable(partitioned = false) { (name, at) =>
        done(cluster(name))
        numbers(4000, 4100, files = 1).write.mode("append").parquet(at)
        def maintained(): Unit = {
          sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
          sql(s"ZORDER REMOVE $name STAY").collect()
          ()
        }
        assert(crashAt(point)(maintained()), "the point was not reached")
        maintained()
        whole(name, at, 4100)
      }
    }

  test("a vacuum while files are copied home leaves the copies alone") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      meanwhile("home-copied") {
        assert(
          sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect().map(_.getAs[Long]("files_carried_over")).sum
            === 0)
      }(one(s"ZORDER REMOVE $name MOVE HOME"))
      assert(ids(name) === (0L until 4000) && spark.read.parquet(at).count() === 4000)
      assert(beside(at).filter(_.endsWith(".parquet")).forall(_.startsWith(s"$name/")), beside(at))
    }
  }

  test("a run while files are copied home wins, and the copies are no late files") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      meanwhile("home-copied")(done(one(s"ZORDER TABLE $name FULL BY (a, b)"))) {
        assert(refused(s"ZORDER REMOVE $name MOVE HOME").contains("run it again"))
      }
      whole(name, at, 4000)
      one(s"ZORDER REMOVE $name MOVE HOME")
      assert(ids(name) === (0L until 4000) && spark.read.parquet(at).count() === 4000)
    }
  }

  test("copies home that somebody has deleted are not made the table") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      meanwhile("home-copied")(fs.delete(files(at).head, false)) {
        assert(refused(s"ZORDER REMOVE $name MOVE HOME").contains("were deleted"))
      }
      assert(ids(name) === (0L until 4000))
      one(s"ZORDER REMOVE $name MOVE HOME")
      assert(ids(name) === (0L until 4000) && spark.read.parquet(at).count() === 4000)
    }
  }

  for (point <- Seq("synced", "prepared"))
    test(s"a rollback of another machine that died at $point: what was appended is there once") {
      withTable(partitioned = false) { (name, at) =>
        done(cluster(name))
        append(name, 4000, 4100)
        assert(crashAt(point)(one(s"ZORDER ROLLBACK $name")), "the point was not reached")
        elsewhere(at, Operation.Rollback, silentMs = 0)
        sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
        assert(ids(name) === (0L until 4100), "while it seems alive")
        elsewhere(at, Operation.Rollback, silentMs = 600000)
        sql(s"ZORDER VACUUM $name").collect()
        assert(ids(name) === (0L until 4100))
        assert(one(s"ZORDER ROLLBACK $name").getAs[String]("status") === "ROLLED_BACK")
        whole(name, at, 4100)
      }
    }

  test(
    "a way home of another machine keeps its copies while it shows signs of life, and leaves them to the next") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      assert(crashAt("home-copied")(one(s"ZORDER REMOVE $name MOVE HOME")), "the point was not reached")
      val copies = files(at).toSet
      elsewhere(at, Operation.MoveHome, silentMs = 0)
      sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
      assert(files(at).toSet === copies && copies.size === 4)
      assert(refused(s"ZORDER REMOVE $name MOVE HOME").contains("is working on"))
      elsewhere(at, Operation.MoveHome, silentMs = 600000)
      one(s"ZORDER REMOVE $name MOVE HOME")
      assert(ids(name) === (0L until 4000) && files(at).toSet === copies)
    }
  }

  test("a table that is overwritten while its files are copied home has no late files") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      meanwhile("home-copied")(numbers(0, 1000).write.mode("overwrite").insertInto(name)) {
        assert(refused(s"ZORDER REMOVE $name MOVE HOME").contains("run it again"))
      }
      assert(ids(name) === (0L until 1000) && files(at) === Nil)
      sql(s"ZORDER VACUUM $name").collect()
      one(s"ZORDER REMOVE $name MOVE HOME")
      assert(ids(name) === (0L until 1000) && spark.read.parquet(at).count() === 1000)
    }
  }

  test("a rollback that somebody took for a dead one leaves no copies") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      append(name, 4000, 4100)
      val store = JournalStore.beside(fs, new Path(at))
      meanwhile("synced")(store.all().filter(_.operation == Operation.Rollback).foreach(store.delete)) {
        assert(refused(s"ZORDER ROLLBACK $name").contains("were deleted"))
      }
      sql(s"ZORDER VACUUM $name").collect()
      assert(ids(name) === (0L until 4100))
    }
  }

  test("a rollback of an increment that stops can be tried again, and nobody is asked about its copies") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      append(name, 4000, 4100)
      done(one(s"ZORDER TABLE $name BY (a, b)"))
      val kept = JournalStore.beside(fs, new Path(at)).all().last.units.flatMap(_.kept).filter(_.isData)
      assert(kept.nonEmpty, "it has copied no file that it did not write")
      append(name, 4100, 4200)
      val scratch = new Path(spark.table(name).inputFiles.head).getParent
      val job = new Path(scratch, "_temporary/0/x")
      val wait = SessionKeys.CommitWait.key
      spark.conf.set(wait, "0")
      try meanwhile("prepared")(fs.create(job).close())(refused(s"ZORDER ROLLBACK $name"))
      finally spark.conf.unset(wait)
      fs.delete(new Path(scratch, "_temporary"), true)
      assert(ids(name) === (0L until 4200))
      sql(s"ZORDER VACUUM $name").collect()
      assert(ids(name) === (0L until 4200))
      assert(one(s"ZORDER ROLLBACK $name").getAs[String]("status") === "ROLLED_BACK")
      assert(ids(name) === (0L until 4200))
    }
  }

  test("a rollback whose copies a vacuum has deleted changes nothing") {
    withTable(partitioned = false) { (name, at) =>
      done(cluster(name))
      append(name, 4000, 4100)
      meanwhile("prepared") {
        val added = spark.table(name).inputFiles.map(f => new Path(f).getName).toSet
        files(at).filter(f => added(f.getName)).foreach(fs.delete(_, false))
      } {
        assert(refused(s"ZORDER ROLLBACK $name").contains("were deleted"))
      }
      assert(ids(name) === (0L until 4100))
    }
  }

  test("a file that comes last before a crash is there once") {
    withTable(partitioned = false) { (name, at) =>
      meanwhile("altered")(numbers(4000, 4100, files = 1).write.mode("append").parquet(at)) {
        assert(crashAt("state-moved")(cluster(name)), "the point was not reached")
      }
      whole(name, at, 4100)
    }
  }

  /** Makes a commit that died here one of another machine, which gave its last sign of life so long ago. */
  private def elsewhere(at: String, operation: Operation, silentMs: Long): Unit = {
    val store = JournalStore.beside(fs, new Path(at))
    val dead = store.all().find(_.operation == operation).get
    store.write(
      dead.copy(owner = "another", process = "", changedMs = System.currentTimeMillis - silentMs))
    ()
  }

  /** Data files directly in a directory. */
  private def files(at: String): Seq[Path] =
    fs.listStatus(new Path(at)).map(_.getPath).filter(_.getName.endsWith(".parquet")).toSeq

  /** Lets somebody else do something at a place, once. */
  private def meanwhile(place: String)(other: => Any)(body: => Any): Unit = {
    var reached = false
    CrashPoint.meanwhile = p =>
      if (p == place) {
        CrashPoint.meanwhile = _ => ()
        reached = true
        other
        ()
      }
    try body
    finally CrashPoint.meanwhile = _ => ()
    assert(reached, "the point was not reached")
  }

  private def whole(name: String, at: String, rows: Long): Unit = {
    spark.catalog.refreshTable(name)
    assert(ids(name) === (0L until rows), "before recovery")
    sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
    assert(ids(name) === (0L until rows), "after recovery")
    val row = cluster(name)
    assert(Set("DONE", "NOTHING_TO_DO")(row.getAs[String]("status")), row.getAs[String]("reason"))
    sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
    assert(ids(name) === (0L until rows), "after the next run")
    val live = spark.table(name).inputFiles.toSet
    val data = beside(at).filter(o => o.endsWith(".parquet"))
    assert(data.size === live.size, "data files that no vacuum takes away")
    assert(beside(at).filter(_.contains("__magic")) === Nil)
  }
}
