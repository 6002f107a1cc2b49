package org.apache.spark.sql.zorder.table

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FilterFileSystem, Path => HPath, RawLocalFileSystem}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.file.DataFile

/** `_zorder/outlines.json` says what the records say, with fewer files to read. */
class OutlinesSuite extends AnyFunSuite with ZOrderSession {

  /** Notes the names of the files that are opened. */
  private class Opened extends FilterFileSystem {
    private val names = ArrayBuffer.empty[String]
    fs = new RawLocalFileSystem
    initialize(URI.create("file:///"), new Configuration(false))

    override def open(path: HPath, bufferSize: Int): FSDataInputStream = {
      names.synchronized(names += path.getName)
      super.open(path, bufferSize)
    }

    def during(body: => Any): Seq[String] = {
      names.clear()
      body
      names.synchronized(names.toList)
    }
  }

  private def record(id: String, operation: Operation = Operation.Optimize): RunRecord = RunRecord(
    number = 0,
    runId = id,
    startedMs = 1L,
    finishedMs = 2L,
    operation = operation,
    statement = s"ZORDER TABLE t BY (a) -- $id",
    columns = Seq("a"),
    curve = "auto",
    layoutIds = Map("" -> "abcd1234"),
    files = Seq(RecordedFile(s"$id-0.parquet", 10L, 0, 7, 8), RecordedFile(s"$id-1.parquet", 11L, 1, 0, 9)),
    rewritten = Seq(DataFile(s"file:/t/$id.parquet", 1L, 2L, "")),
    report = """{"status":"DONE"}""",
    version = Some(5L),
    columnIds = Seq("1"),
    branch = Some("side"),
    location = Some("file:/t"),
    fileCount = Some(4))

  /** The state of a table that has had so many runs. */
  private def after(runs: Int)(body: (Path, Opened, StateDir) => Any): Unit = withTempDir { dir =>
    val fs = new Opened
    val state = new StateDir(fs, new HPath(dir.toUri))
    (1 to runs).foreach(n => state.append(record(s"run$n"), Map.empty))
    body(dir.resolve("_zorder"), fs, state)
    ()
  }

  private def same(state: StateDir): Unit =
    assert(state.outlines() === state.runs().map(_.outline))

  private def write(file: Path, text: String): Unit = {
    Files.write(file, text.getBytes(UTF_8))
    ()
  }

  private def read(file: Path): String = new String(Files.readAllBytes(file), UTF_8)

  test("an outline lacks the report and the files that a run has read, and nothing else") {
    val r = record("run1")
    assert(r.outline === r.copy(rewritten = Nil, report = "{}"))
  }

  for ((runs, files) <- Seq(1 -> 1, 31 -> 31, 32 -> (1 + 8), 63 -> (1 + 39), 64 -> (1 + 8), 200 -> (1 + 16)))
    test(s"after $runs runs, $files files are read") {
      after(runs) { (_, fs, state) =>
        assert(fs.during(state.outlines()).length === files)
        assert(state.outlines().map(_.number) === (1 to runs))
        same(state)
      }
    }

  test("records that are gone, others, or not readable") {
    after(64) { (dir, _, state) =>
      val (gone, other, cut, last) = (
        dir.resolve("runs/3.json"),
        dir.resolve("runs/4.json"),
        dir.resolve("runs/5.json"),
        dir.resolve("runs/64.json"))
      Files.delete(gone)
      write(other, RunRecordJson.write(record("another-run").copy(number = 4)))
      write(cut, read(cut).dropRight(1))
      write(last, "")
      assert(state.runs().map(_.number) === (1 to 63).filterNot(Set(3, 5)))
      same(state)
      assert(state.outlines().find(_.number == 4).map(_.runId) === Some("another-run"))
    }
  }

  test("a file of outlines that is gone, cut off, of a later version, or a directory") {
    after(40) { (dir, fs, state) =>
      val file = dir.resolve("outlines.json")
      val text = read(file)
      def unread(): Unit = {
        assert(fs.during(state.outlines()).count(_ != "outlines.json") === 40)
        same(state)
      }
      Seq(
        "",
        "[]",
        "{",
        text.dropRight(20),
        text.replace("\"version\":1,\"runs\"", "\"version\":2,\"runs\"")).foreach {
        broken =>
          write(file, broken)
          unread()
      }
      Files.delete(file)
      unread()
      Files.createDirectory(file)
      Files.createDirectory(file.resolve("x"))
      unread()
      // it cannot be written then, and the record is there nevertheless
      (41 to 64).foreach(n => state.append(record(s"run$n"), Map.empty))
      assert(state.runs().length === 64)
      same(state)
    }
  }

  test("a rollback among records that are gathered undoes its run") {
    withTempDir { dir =>
      val state = new StateDir(new Opened, new HPath(dir.toUri), Some("side"))
      state.append(record("undone"), Map.empty)
      state.append(RunRecord.rolledBack("undone", Some(record("undone")), "ZORDER ROLLBACK t"), Map.empty)
      (1 to 62).foreach(n => state.append(record(s"run$n"), Map.empty))
      assert(state.standing().map(_.runId) === (1 to 62).map(n => s"run$n"))
      assert(state.latest().map(_.number) === Some(64))
      val last = state.lastRun()
      assert(last.map(_.report) === Seq("""{"status":"DONE"}""") && last.head.rewritten.nonEmpty)
    }
  }

  test("a copy of runs into a table that has gathered outlines") {
    after(40) { (_, fs, state) =>
      withTempDir { dir =>
        val from = new StateDir(fs, new HPath(dir.toUri))
        from.write(record("run7").copy(number = 41), Map.empty)
        StateDir.copyRuns(from, state)
        assert(state.runs().length === 40, "it has this one")
        from.write(record("new").copy(number = 42), Map("abcd1234" -> "{}"))
        StateDir.copyRuns(from, state)
        StateDir.copyRuns(from, state)
        assert(state.runs().map(r => r.number -> r.runId).drop(39) === Seq(40 -> "run40", 41 -> "new"))
        assert(state.layout("abcd1234") === Some("{}"))
      }
    }
  }

  test("outlines that an earlier version has written") {
    after(32) { (dir, _, state) =>
      val one = dir.resolve("runs/1.json")
      write(
        dir.resolve("outlines.json"),
        s"""{"version":1,"runs":[{"length":${Files.size(one)},"outline":{"version":1,"number":1,"runId":"early",
          |"startedMs":3,"finishedMs":4,"operation":"OPTIMIZE","statement":"s","curve":"hilbert","columns":["b"],
          |"layoutIds":{"p=1":"ab"},"files":[{"path":"p=1/x","length":9,"level":1,"file":2,"until":5}],"rewritten":[],
          |"report":"{}","version_committed":8,"columnIds":["2"],"branch":"b","location":"l","fileCount":3}}]}""".stripMargin)
      assert(state.outlines().head === RunRecord(
        1,
        "early",
        3L,
        4L,
        Operation.Optimize,
        "s",
        Seq("b"),
        "hilbert",
        Map("p=1" -> "ab"),
        Seq(RecordedFile("p=1/x", 9L, 1, 2, 5)),
        Nil,
        "{}",
        Some(8L),
        Seq("2"),
        Some("b"),
        Some("l"),
        Some(3)))
    }
  }
}
