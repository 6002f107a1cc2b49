package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.File

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.parquet.journal.Heartbeat
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.mark.SameOnAllLines

/** Jobs that write into a table while its directories are exchanged, and lose no row. */
@SameOnAllLines
class ExchangeWritersSuite extends AnyFunSuite with ExchangeFixture {

  test("a job that writes several partitions has its scratch directory above them, and stops the exchange") {
    Seq("external partitioned", "managed partitioned").foreach { kind =>
      val path = make(kind)
      val table = openName("t")
      val r = stage(table, table.files().filter(_.partition == "p=1"), "r1")
      new File(path, "_temporary").mkdir()
      assert(intercept[ZOrderConflictException](r.commit()).getMessage.contains("_temporary"))
      new File(path, "_temporary").delete()
      assert(tableIds("t") == forty && !meta.properties.contains(ExchangeMark.Property))
      beforeEach()
    }
  }

  test("rows that a committer has nested into a new directory are lifted out of it") {
    val path = make("external partitioned")
    val table = openName("t")
    val r = stage(table, table.files(), "r1")
    val extra = listed(plain("extra", 45, 9)).filter(_.getName.endsWith(".parquet")).last
    var nested = false
    CrashPoint.meanwhile = at =>
      if (at == "moved-new" && !nested) {
        nested = true
        copyFile(extra.getPath, s"$path/p=0/p=0/late.parquet")
      }
    r.commit()
    assert(nested && refreshed().size == 45 && !new File(s"$path/p=0/p=0").exists)
    // and where it happened after the run had looked
    copyFile(extra.getPath, s"$path/p=1/p=1/later.parquet")
    assert(refreshed().size == 45)
    vacuum()
    assert(refreshed().size == 50 && !new File(s"$path/p=1/p=1").exists)
  }

  test("a nested file that lay there before any exchange, and that no query has read, stays where it is") {
    val path = make("external partitioned")
    val stray = listed(plain("stray", 5, 1)).filter(_.getName.endsWith(".parquet")).head
    copyFile(stray.getPath, s"$path/p=1/p=1/stray.parquet")
    for (run <- Seq("r1", "r2")) {
      rewriteAll(openName("t"), run)
      assert(refreshed() == forty)
      vacuum()
      assert(refreshed() == forty && new File(s"$path/p=1/p=1/stray.parquet").exists, run)
    }
  }

  Seq("external", "external partitioned").foreach { kind =>
    def extra(n: Int) = listed(plain(s"extra$n", 5, 1)).filter(_.getName.endsWith(".parquet")).head.getPath

    test(
      s"$kind: a job that begins right before a directory goes, and whose tasks make it again, loses no row") {
      val path = make(kind)
      val place = if (kind == "external") path else s"$path/p=1"
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      val (file, scratch) = (extra(1), new File(s"$place/_temporary/0"))
      var job: Option[Future[Boolean]] = None
      // the job is set up between the last look and the rename, which no crash point marks
      CrashPoint.renames = (from, _) => {
        if (from.toUri.getPath == place && job.isEmpty) scratch.mkdirs()
        true
      }
      CrashPoint.meanwhile = at =>
        if (at == "moved-old" && job.isEmpty && !new File(place).exists) {
          copyFile(file, s"$scratch/task_1/one.parquet")
          job = Some(Future {
            Thread.sleep(700)
            val done = new File(s"$scratch/task_1/one.parquet").renameTo(new File(s"$place/one.parquet"))
            delete(scratch.getParentFile)
            done
          })
        }
      spark.conf.set("spark.zorder.commit.waitSeconds", "30")
      try intercept[ZOrderConflictException](r.commit())
      finally {
        spark.conf.set("spark.zorder.commit.waitSeconds", "0.3")
        CrashPoint.renames = (_, _) => true
      }
      assert(Await.result(job.get, 60.seconds), "the commit of the job did not find what its task wrote")
      assert(refreshed().size == 45 && !new File(s"$place/_temporary").exists)
      rewriteAll(openName("t"), "r2")
      assert(tableIds("t").size == 45)
    }

    test(s"$kind: a file that comes while another one's directory is moved out of the way is not lost") {
      val path = make(kind)
      val place = if (kind == "external") path else s"$path/p=1"
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      val files = Seq(extra(2), extra(3))
      CrashPoint.meanwhile = at =>
        if (at == "checked-old" && !new File(place).exists) copyFile(files.head, s"$place/two.parquet")
      var came = false
      CrashPoint.renames = (from, to) => {
        if (to.getName.endsWith(".stray") && !came) {
          came = true
          copyFile(files(1), s"${from.toUri.getPath}/three.parquet")
        }
        true
      }
      try r.commit()
      finally CrashPoint.renames = (_, _) => true
      assert(came && refreshed().size == 50)
    }
  }

  test("while a commit that failed is settled it counts as alive, so that no query settles it as well") {
    val path = plain("settled")
    val table = open(path)
    val r = stage(table, table.files().take(2), "r1")
    var failed = false
    var alive = Seq.empty[Boolean]
    CrashPoint.renames = (_, to) =>
      if (failed || to.toUri.getPath != path) true
      else {
        failed = true
        false
      }
    CrashPoint.meanwhile =
      _ => if (failed) alive :+= table.store.get(r.journal.txn).forall(Heartbeat.isAlive(table.store, _))
    try Try(r.commit())
    finally {
      CrashPoint.renames = (_, _) => true
      CrashPoint.meanwhile = _ => ()
    }
    assert(failed && alive.nonEmpty && alive.forall(is => is) && ids(path) == forty)
  }

  /** Commits a run during whose exchange a statement begins; whether that has waited for the end. */
  private def waits(statement: String): Boolean = {
    val table = openName("t")
    val r = stage(table, table.files(), "r1")
    var begun: Option[Future[Unit]] = None
    var waited = false
    CrashPoint.meanwhile = at =>
      if (at == "moved-old" && begun.isEmpty) {
        begun = Some(Future {
          spark.sql(statement)
          ()
        })
        Thread.sleep(1000)
        waited = !begun.get.isCompleted
      }
    spark.conf.set("spark.zorder.commit.waitSeconds", "30")
    try {
      table.commit(r.journal, r.request)
      Await.result(begun.get, 60.seconds)
    } finally spark.conf.set("spark.zorder.commit.waitSeconds", "0.3")
    waited
  }

  for (kind <- Seq("external partitioned", "managed"))
    test(s"$kind: a table that is overwritten by name during an exchange has its new rows alone") {
      make(kind)
      rows(100, 110).createOrReplaceTempView("fresh")
      val waited = waits("INSERT OVERWRITE TABLE t SELECT * FROM fresh")
      assert(waited && refreshed() == (100L until 110L))
      vacuum()
      assert(refreshed() == (100L until 110L))
    }

  test("a managed table that is dropped during an exchange leaves no directory") {
    val path = make("managed")
    val waited = waits("DROP TABLE t")
    assert(waited && !spark.catalog.tableExists("t") && !new File(path).exists)
  }
}
