package org.apache.spark.sql.zorder.table.parquet.journal

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.Operation
import org.apache.spark.sql.zorder.table.parquet.files.ListedFile
import sparkzorder.mark.SameOnAllLines

/** The text of journals on disk: older versions wrote it, and must be able to read ours. */
@SameOnAllLines
class JournalJsonSuite extends AnyFunSuite {

  private def text(kind: String, operation: String, state: String): String =
    s"""{"version":1,"txn":"r1abc","kind":"$kind","operation":"$operation","state":"$state",""" +
      """"owner":"jvm","table":"db.t@17","runId":"r1","changedMs":5,"home":"/data/t",""" +
      """"staging":"/data/.t.zorder-r1abc.new","units":[{"partition":"p=1","target":"/data/t/p=1",""" +
      """"staged":"/data/.t.zorder-r1abc.new/p=1","old":"/data/.t.old-r1abc/p=1",""" +
      """"inputs":[{"path":"a.parquet","length":10,"modified":1}],""" +
      """"kept":[{"path":"b.parquet","length":20,"modified":2}],""" +
      """"outputs":[{"path":"c.parquet","length":30,"modified":3}]}],""" +
      """"carried":[{"path":"/data/.t.old-r1abc/p=1/d.parquet","length":40,"modified":4}]}"""

  private def journal(kind: JournalKind, operation: Operation, state: JournalState) = Journal(
    "r1abc",
    kind,
    operation,
    state,
    "jvm",
    "db.t@17",
    "r1",
    5L,
    new Path("/data/t"),
    new Path("/data/.t.zorder-r1abc.new"),
    Seq(SwapUnit(
      "p=1",
      new Path("/data/t/p=1"),
      new Path("/data/.t.zorder-r1abc.new/p=1"),
      new Path("/data/.t.old-r1abc/p=1"),
      Seq(ListedFile("a.parquet", 10, 1)),
      Seq(ListedFile("b.parquet", 20, 2)),
      Seq(ListedFile("c.parquet", 30, 3)))),
    Seq(ListedFile("/data/.t.old-r1abc/p=1/d.parquet", 40, 4)),
    process = "")

  private val kinds = Seq("path" -> JournalKind.Path, "catalog" -> JournalKind.Catalog)
  private val operations = Seq("OPTIMIZE" -> Operation.Optimize, "ROLLBACK" -> Operation.Rollback)
  private val states = Seq(
    "STAGING" -> JournalState.Staging,
    "PREPARED" -> JournalState.Prepared,
    "SWAPPING" -> JournalState.Swapping,
    "UNDOING" -> JournalState.Undoing,
    "DONE" -> JournalState.Done)

  test("every kind, operation and state is written and read as it always was") {
    for ((kindText, kind) <- kinds; (operationText, operation) <- operations; (stateText, state) <- states) {
      val (old, now) = (text(kindText, operationText, stateText), journal(kind, operation, state))
      assert(JournalJson.write(now) == old)
      assert(JournalJson.read(old).contains(now))
    }
  }

  test("a word of a later version, or no journal at all, is not read") {
    assert(JournalJson.read(text("link", "OPTIMIZE", "DONE")).isEmpty)
    assert(JournalJson.read(text("path", "SPLIT", "DONE")).isEmpty)
    assert(JournalJson.read(text("path", "OPTIMIZE", "WAITING")).isEmpty)
    val homeless = """{"txn":"x","kind":"path","operation":"OPTIMIZE","state":"DONE"}"""
    assert(Seq("", "{}", "[]", "half a jour", homeless).flatMap(JournalJson.read).isEmpty)
  }
}
