package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.{File, FileOutputStream}
import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.Steps
import sparkzorder.mark.SameOnAllLines

/** Files that a writer without a scratch directory has open while their directory is exchanged, or moves. */
@SameOnAllLines
class OpenFilesSuite extends AnyFunSuite with ExchangeFixture with Steps {

  private lazy val body: Array[Byte] =
    Files.readAllBytes(listed(plain("extra", 5, 1)).filter(_.getName.endsWith(".parquet")).head.toPath)

  /** A writer that has written so many bytes so far, and writes the others when it is asked to. */
  private class Writer(place: String, name: String, first: Int) {
    private val out = new FileOutputStream(s"$place/$name")
    out.write(body, 0, first)

    def finish(): Unit = {
      out.write(body, first, body.length - first)
      out.close()
    }
  }

  // nothing, the magic number at the beginning, half, all but the last byte
  private def lengths: Seq[Int] = Seq(0, 4, body.length / 2, body.length - 1)

  private def openAt(point: String, place: String): () => Seq[Writer] = {
    var writers = Seq.empty[Writer]
    CrashPoint.meanwhile = at =>
      if (at == point && writers.isEmpty)
        writers = opened(place)
    () => writers
  }

  private def opened(place: String): Seq[Writer] = lengths.map(n => new Writer(place, s"open$n.parquet", n))

  for {
    (kind, move) <- Seq(
      "external" -> false,
      "external partitioned" -> false,
      "external" -> true,
      "external partitioned" -> true,
      "managed partitioned" -> true)
    point <- if (move) Seq("prepared", "altered") else Seq("prepared")
  } test(
    s"$kind${if (move) ", which moves" else ""}: files opened at $point are carried over when they are done") {
    val path = make(kind)
    if (move) moves("t")
    val writers = openAt(point, if (kind.endsWith("partitioned")) s"$path/p=1" else path)
    rewriteAll(openName("t"))
    assert(writers().size == lengths.size)
    step("until then, they are no part of the table, and nobody deletes or copies them") {
      assert(refreshed() == forty)
      assert(vacuum() == (if (kind.endsWith("partitioned")) Seq("DELETED", "FILES_LEFT")
                          else Seq("FILES_LEFT")))
      assert(refreshed() == forty && openName("t").files().size == (if (kind.endsWith("partitioned")) 2
                                                                    else 1))
    }
    rewriteAll(openName("t"), "r2")
    assert(refreshed() == forty)
    step("then their rows are the table's, once") {
      writers().foreach(_.finish())
      // where the vacuum has deleted the other old files, nobody knows that these are appended rows
      assert(vacuum(Some(LateChoice.Append)).contains("APPENDED"))
      assert(refreshed().size == 40 + 5 * lengths.size)
      rewriteAll(openName("t"), "r3")
      vacuum()
      assert(refreshed().size == 40 + 5 * lengths.size)
    }
  }

  test("a path: the next run takes them") {
    val path = plain("open")
    val writers = openAt("prepared", path)
    rewriteAll(open(path))
    assert(ids(path) == forty)
    writers().foreach(_.finish())
    rewriteAll(open(path), "r2")
    assert(ids(path).size == 40 + 5 * lengths.size)
    vacuumed(TableRef.Location(path))
    assert(ids(path).size == 40 + 5 * lengths.size && traces(path).isEmpty)
  }

  test("a rollback leaves them in their directory, which is the table's again") {
    val path = plain("back")
    val writers = openAt("prepared", path)
    rewriteAll(open(path))
    rolledBack(TableRef.Location(path))
    writers().foreach(_.finish())
    assert(ids(path).size == 40 + 5 * lengths.size)
  }

  test("files that are opened where a directory is away for a moment go with the new one") {
    val path = plain("away")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    var writers = Seq.empty[Writer]
    CrashPoint.meanwhile = at =>
      if (at == "checked-old" && writers.isEmpty) {
        new File(path).mkdirs()
        writers = opened(path)
      }
    r.commit()
    writers.foreach(_.finish())
    assert(writers.nonEmpty && ids(path).size == 40 + 5 * lengths.size)
  }

  test("files that are opened in a new directory go back with the old one") {
    val path = partitioned("undone")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    val job = new File(path, "p=1/_temporary")
    var writers = Seq.empty[Writer]
    CrashPoint.meanwhile = at =>
      if (at == "moved-new" && writers.isEmpty) {
        writers = opened(s"$path/p=0")
        job.mkdirs()
      }
    intercept[ZOrderConflictException](r.commit())
    job.delete()
    writers.foreach(_.finish())
    assert(writers.nonEmpty && ids(path).size == 40 + 5 * lengths.size && traces(path).isEmpty)
  }

  private val uploads = Seq(
    "new.parquet._COPYING_", // hdfs dfs -put
    ".new.parquet", // NiFi
    ".hive-staging_hive_1/_task_tmp.-ext-10000/_tmp.000000_0",
    "_impala_insert_staging/q/1.parq"
  )

  for (name <- uploads) test(s"$name, which its writer is going to rename, stops an exchange") {
    for (n <- lengths) {
      val path = plain("upload")
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      var writers = Seq.empty[Writer]
      CrashPoint.meanwhile = at =>
        if (at == "prepared" && writers.isEmpty) {
          new File(path, name).getParentFile.mkdirs()
          writers = Seq(new Writer(path, name, n))
        }
      assert(intercept[ZOrderConflictException](r.commit()).condition == "ZORDER_CONFLICT.UPLOAD_AT_WORK")
      writers.foreach(_.finish())
      assert(new File(path, name).renameTo(new File(path, "new.parquet")))
      assert(writers.nonEmpty && ids(path).size == 45 && traces(path).isEmpty)
      CrashPoint.meanwhile = _ => ()
      rewriteAll(open(path), "r2")
      assert(ids(path).size == 45)
    }
  }

  test("where files move, its writer goes on in the old place, and its rows come later") {
    val path = make("external")
    moves("t")
    var writers = Seq.empty[Writer]
    CrashPoint.meanwhile =
      at => if (at == "prepared" && writers.isEmpty) writers = Seq(new Writer(path, ".new.parquet", 4))
    rewriteAll(openName("t"))
    writers.foreach(_.finish())
    assert(new File(path, ".new.parquet").renameTo(new File(path, "new.parquet")))
    assert(writers.nonEmpty && refreshed() == forty)
    rewriteAll(openName("t"), "r2")
    assert(refreshed().size == 45)
  }

  test("what a dead writer has left a day ago stops nothing, nor does a hidden file that is no beginning") {
    val path = plain("left")
    for (name <- uploads) {
      new File(path, name).getParentFile.mkdirs()
      new Writer(path, name, 4)
      assert(new File(path, name).setLastModified(System.currentTimeMillis - 25L * 3600 * 1000))
    }
    write(s"$path/.notes", "mine")
    write(s"$path/_started_1", "")
    rewriteAll(open(path))
    assert(ids(path) == forty && uploads.forall(new File(path, _).length == 4))
  }
}
