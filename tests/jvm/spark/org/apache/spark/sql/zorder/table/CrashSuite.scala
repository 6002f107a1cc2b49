package org.apache.spark.sql.zorder.table

import java.io.{File, IOException}

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 5: recovery from the journal alone, forward or back, idempotent. */
@SameOnAllLines
class CrashSuite extends AnyFunSuite with TableFixture with BeforeAndAfterEach {

  override def afterEach(): Unit = CrashPoint.meanwhile = _ => ()

  private def vacuum(path: String): Unit = {
    Maintenance.vacuum(classic, TableRef.Location(path), Some(0.0), dryRun = false)
    ()
  }

  private def checkWhole(path: String, n: Int, clue: String): Unit = {
    open(path)
    assert(ids(path) == (0L until n.toLong), clue)
    open(path) // idempotent
    assert(ids(path) == (0L until n.toLong), clue)
    vacuum(path)
    assert(traces(path).isEmpty, clue)
    assert(ids(path) == (0L until n.toLong), clue)
    rewriteAll(open(path), "again")
    assert(ids(path) == (0L until n.toLong), clue)
  }

  CrashPoints.pathCommit.foreach { point =>
    test(s"unpartitioned, the crash at $point") {
      val path = plain("crash")
      val table = open(path)
      val r = stage(table, table.files().take(3), "r1")
      assert(crashAt(point)(r.commit()), "the point was not reached")
      checkWhole(path, 40, point)
    }

    test(s"partitioned, the crash at $point", LongTest.unless(point == "moved-old"): _*) {
      val path = partitioned("crashp")
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      assert(crashAt(point)(r.commit()), "the point was not reached")
      checkWhole(path, 40, point)
    }

    test(
      s"a second crash in the recovery from a crash at $point",
      LongTest.unless(point == "moved-old"): _*) {
      val path = partitioned("crash2")
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      assert(crashAt(point)(r.commit()))
      Seq("moved-old", "moved-new", "state-moved", "abandoned", "done").foreach(p => crashAt(p)(open(path)))
      checkWhole(path, 40, point)
    }
  }

  test("the root is missing: open brings it back, and rows appended in between stay") {
    val path = plain("gone")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    assert(crashAt("moved-old")(r.commit()))
    assert(!new File(path).exists)
    rows(40, 45).write.mode("append").parquet(path)
    checkWhole(path, 45, "append to the missing root")
  }

  test("recovery leaves a partition alone whose files were changed after the crash") {
    val path = partitioned("changed")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    assert(crashAt("swapping")(r.commit()))
    rows(0, 10).where("p = 1").drop("p").write.mode("overwrite").parquet(s"$path/p=1")
    open(path)
    assert(ids(path) == ((0L until 40L by 2L) ++ (1L until 10L by 2L)).sorted)
    vacuum(path)
    assert(traces(path).isEmpty)
  }

  test("a commit that failed says so where recovery could finish one of its partitions alone") {
    val path = partitioned("inpart")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    CrashPoint.meanwhile = {
      case "moved-new" =>
        CrashPoint.meanwhile = _ => ()
        rows(0, 10).where("p = 1").drop("p").write.mode("overwrite").parquet(s"$path/p=1")
        throw new IOException("Injected: no rename")
      case _ =>
    }
    val e = intercept[ZOrderException](r.commit())
    assert(e.condition == "ZORDER_COMMIT_FAILED.IN_PART", e.getMessage)
    assert(e.getMessage.contains("Only 1 of 2 partitions") && e.getMessage.contains("Injected"))
    assert(ids(path) == ((0L until 40L by 2L) ++ (1L until 10L by 2L)).sorted)
    vacuum(path)
    assert(traces(path).isEmpty)
  }

  /** A job turns up in the last partition just after its rename: all partitions go back. */
  private def writerAtLastPartition(path: String): Unit = CrashPoint.meanwhile = {
    case "moved-new" =>
      CrashPoint.meanwhile = {
        case "moved-old" =>
          CrashPoint.meanwhile = _ => ()
          val old = traces(path).find(_.contains(".old-")).get
          new File(s"${new File(path).getParent}/$old/p=1/_temporary").mkdirs()
          ()
        case _ =>
      }
    case _ =>
  }

  test("a job found right after the rename undoes all renames") {
    val path = partitioned("undo")
    val before = open(path).files()
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    writerAtLastPartition(path)
    val e = intercept[ZOrderConflictException](r.commit())
    assert(e.getMessage.contains("_temporary"))
    assert(traces(path).isEmpty && open(path).files() == before)
  }

  for (how <- Seq("file by file", "as Spark does, which deletes its directory first"))
    test(s"a partition that is overwritten before the renames are undone keeps what was written, $how") {
      overwritten(partitioned("overwritten"), atOnce = how.startsWith("as Spark"))
    }

  private def overwritten(path: String, atOnce: Boolean): Unit = {
    val extra = dir("extra")
    rows(100, 103).drop("p").write.parquet(extra)
    def put(): Unit = {
      new File(s"$path/p=0").mkdir()
      copyFile(listed(extra).filter(_.getName.endsWith(".parquet")).head.getPath, s"$path/p=0/new.parquet")
    }
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    writerAtLastPartition(path)
    val stop = CrashPoint.meanwhile
    CrashPoint.meanwhile = at => {
      stop(at)
      if (at == "moved-new") {
        if (atOnce) delete(new File(s"$path/p=0"))
        else {
          listed(s"$path/p=0").filter(_.getName.endsWith(".parquet")).foreach(_.delete())
          put()
        }
      }
    }
    intercept[ZOrderConflictException](r.commit())
    if (atOnce) put()
    new File(s"$path/p=1/_temporary").delete()
    assert(ids(path) == ((1L until 40L by 2) ++ Seq(100L, 101L, 102L)))
    assert(status(vacuumed(TableRef.Location(path)).head) == "DELETED" && traces(path).isEmpty)
  }

  CrashPoints.pathUndo.foreach { point =>
    test(s"a crash at $point while the renames are undone") {
      val path = partitioned("undocrash")
      val before = open(path).files()
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      writerAtLastPartition(path)
      assert(crashAt(point)(r.commit()), "the point was not reached")
      new File(s"$path/p=1/_temporary").delete()
      open(path)
      // a crash before the journal says UNDOING is finished forward, as the job is gone by then
      if (point != "undo-moved-old") assert(open(path).files() == before && traces(path).isEmpty)
      checkWhole(path, 40, point)
    }
  }

  test("a crash between the copy of a late file and the note of it does not double it") {
    val path = plain("latecrash")
    rewriteAll(open(path))
    val extra = dir("extra")
    rows(40, 45).write.parquet(extra)
    val file = listed(extra).find(_.getName.endsWith(".parquet")).get
    val old = traces(path).find(_.contains(".old-")).get
    copyFile(file.getPath, s"${new File(path).getParent}/$old/${file.getName}")
    assert(crashAt("late-copied")(open(path).prepare("r2")))
    checkWhole(path, 45, "late")
  }
}
