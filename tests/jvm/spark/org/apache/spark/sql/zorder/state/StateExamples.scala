package org.apache.spark.sql.zorder.state

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.{Operation, RecordedFile, RunRecord}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.files.ListedFile
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalKind, JournalState, SwapUnit}

/** What the records and journals below `tests/state` say: with and without each field that may be absent. */
object StateExamples {

  private val bare = RunRecord(
    number = 1,
    runId = "run1",
    startedMs = 1700000000000L,
    finishedMs = 1700000001000L,
    operation = Operation.Optimize,
    statement = "ZORDER TABLE t BY (a)",
    columns = Seq("a"),
    curve = "auto",
    layoutIds = Map("" -> "abcd1234"),
    files = Seq(RecordedFile("part-0.parquet", 10L, 0, 0, 1)),
    rewritten = Seq(DataFile("file:/data/t/old.parquet", 20L, 1600000000000L, "")),
    report = "{}")

  /** One record for each operation; the second has all that a record can have. */
  val records: Seq[RunRecord] = Seq(
    bare,
    bare.copy(
      number = 2,
      runId = "run2",
      statement = "OPTIMIZE t ZORDER BY (a, s.`b c`) WITH (force = 'true')",
      columns = Seq("a", "s.`b c`"),
      curve = "hilbert",
      layoutIds = Map("day=1" -> "abcd1234", "day=2" -> "00ff00ff"),
      files = Seq(
        RecordedFile("day=1/part-0.parquet", 10L, 0, 7, 8),
        RecordedFile("day=1/part-1.parquet", 11L, 1, 0, 9),
        RecordedFile("day=2/part-2.parquet", 12L, 2, 3, 5)),
      rewritten = Seq(
        DataFile("s3a://b/t/day=1/x.parquet", 20L, 1600000000000L, "day=1"),
        DataFile("s3a://b/t/day=2/y.parquet", 21L, 1600000000001L, "day=2")),
      report = """{"status":"DONE","reason":"\"quoted\""}""",
      version = Some(17L),
      columnIds = Seq("1", "5"),
      branch = Some("dev"),
      location = Some("s3a://b/t.z1")),
    bare.copy(number = 3, runId = "run1", operation = Operation.Rollback, layoutIds = Map.empty, files = Nil),
    bare.copy(number = 4, runId = "run4", operation = Operation.Replace, columns = Nil, curve = ""),
    bare.copy(number = 5, runId = "run5", operation = Operation.MoveHome, rewritten = Nil, files = Nil))

  val layouts: Map[String, String] = Map("abcd1234" -> "{\"a\":1}", "00ff00ff" -> "{\"b\":2}")

  val homes: Map[String, String] = Map("" -> "s3a://b/t", "day=1/h=%20" -> "file:/far/x")

  /** Written before a commit: one of a run that has committed, one that has not. */
  val pending: Seq[RunRecord] = Seq("lost", "dead").map(id =>
    bare.copy(number = 0, runId = id, files = Seq(RecordedFile(s"$id.parquet", 10L, 0, 0, 1))))

  private val states = Seq(
    JournalState.Staging,
    JournalState.Prepared,
    JournalState.Swapping,
    JournalState.Undoing,
    JournalState.Done)
  private val operations =
    Seq(Operation.Optimize, Operation.Rollback, Operation.Replace, Operation.MoveHome)

  /** Of both kinds in every state; every second one has the fields that may be absent. */
  val journals: Seq[Journal] = (for {
    kind <- Seq(JournalKind.Path, JournalKind.Catalog)
    state <- states
  } yield (kind, state)).zipWithIndex.map { case ((kind, state), i) =>
    val full = i % 2 == 1
    val txn = s"txn$i"
    Journal(
      txn,
      kind,
      operations(i % operations.length),
      state,
      owner = "some-jvm",
      table = if (full) "db.t@17" else "",
      runId = s"run$i",
      changedMs = 1700000000000L + i,
      home = new Path("file:/data/t"),
      staging = new Path(s"file:/data/.t.zorder-$txn.new"),
      units = if (i == 0) Nil
      else Seq(SwapUnit(
        if (full) "p=1" else "",
        new Path("file:/data/t/p=1"),
        new Path(s"file:/data/.t.zorder-$txn.new/p=1"),
        new Path(s"file:/data/.t.old-$txn/p=1"),
        Seq(ListedFile("a.parquet", 10, 1)),
        Seq(ListedFile("b.parquet", 20, 2), ListedFile("_metadata", 21, 3)),
        Seq(ListedFile("c.parquet", 30, 3)))),
      carried = if (full) Seq(ListedFile(s"file:/data/.t.old-$txn/p=1/d.parquet", 40, 4)) else Nil,
      ignored = if (full) Seq(ListedFile(s"file:/data/.t.old-$txn/p=1/e.parquet", 50, 5)) else Nil,
      process = if (full) "1@host@pid:[1]" else "")
  }
}
