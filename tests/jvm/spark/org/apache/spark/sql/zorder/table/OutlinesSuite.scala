package org.apache.spark.sql.zorder.table

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  FSDataInputStream,
  FileStatus,
  FilterFileSystem,
  Path => HPath,
  RawLocalFileSystem
}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.mark.SameOnAllLines

/** `_zorder/outlines.json` says what the records say, with fewer files to read. */
@SameOnAllLines
class OutlinesSuite extends AnyFunSuite with ZOrderSession {

  /** Notes the names of the files that are opened, and lets others write. */
  private class Opened extends FilterFileSystem {
    private val names = ArrayBuffer.empty[String]
    fs = new RawLocalFileSystem
    initialize(URI.create("file:///"), new Configuration(false))

    override def open(path: HPath, bufferSize: Int): FSDataInputStream = {
      names.synchronized(names += path.getName)
      super.open(path, bufferSize)
    }

    private var next: Option[(String, () => Unit)] = None

    /** Happens when a directory has been listed the next time. */
    def onceListed(dir: Path)(act: => Unit): Unit = next = Some(dir.toString -> (() => act))

    override def listStatus(path: HPath): Array[FileStatus] = {
      val found = super.listStatus(path)
      next.filter(_._1 == path.toUri.getPath).foreach { case (_, act) =>
        next = None
        act()
      }
      found
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
    fileCount = Some(4),
    table = Some("u1"))

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

  for ((runs, files) <- Seq(1 -> 1, 31 -> 31, 32 -> (1 + 8), 63 -> (1 + 39), 64 -> (1 + 8), 200 -> (1 + 16)))
    test(s"after $runs runs, $files files are read") {
      after(runs) { (_, fs, state) =>
        assert(fs.during(state.outlines()).length === files)
        assert(state.outlines().map(_.number) === (1 to runs))
        same(state)
      }
    }

  test("records that are gone, others, of another number, or not readable") {
    after(64) { (dir, _, state) =>
      def file(n: Int) = dir.resolve(s"runs/$n.json")
      Files.delete(file(3))
      write(file(4), RunRecordJson.write(record("another-run").copy(number = 4)))
      // as long as before, and written at another time
      val sixth = read(file(6))
      write(file(6), sixth.replace("run6", "RUN6"))
      Files.setLastModifiedTime(file(6), FileTime.fromMillis(1000000000000L))
      write(file(5), read(file(5)).dropRight(1))
      write(file(64), "")
      assert(state.runs().map(_.number) === (1 to 63).filterNot(Set(3, 5)))
      same(state)
      assert(state.outlines().collect { case r if r.number == 4 || r.number == 6 => r.runId } ===
        Seq("another-run", "RUN6"))
      write(file(7), read(file(8)))
      (65 to 96).foreach(n => state.append(record(s"run$n"), Map.empty))
      same(state)
    }
  }

  test("runs that begin anew beside outlines of others") {
    after(64) { (dir, _, state) =>
      (1 to 64).foreach(n => Files.delete(dir.resolve(s"runs/$n.json")))
      (1 to 64).foreach { n =>
        state.append(record(s"RUN$n"), Map.empty)
        same(state)
      }
    }
  }

  test("a file of outlines that is gone, cut off, of a later version, or a directory") {
    after(40) { (dir, fs, state) =>
      val file = dir.resolve("outlines.json")
      val text = read(file)
      assert(text.linesIterator.length === 1 + 24)
      def unread(records: Int): Unit = {
        assert(fs.during(state.outlines()).count(_ != "outlines.json") === records)
        same(state)
      }
      Seq("", "[]", "{", text.replaceFirst("2", "3"), text.replaceFirst("\n", " ")).foreach { broken =>
        write(file, broken)
        unread(40)
      }
      write(file, text.dropRight(20))
      unread(17)
      Files.delete(file)
      unread(40)
      Files.createDirectory(file)
      Files.createDirectory(file.resolve("x"))
      unread(40)
      // it cannot be written then, and the records are there nevertheless
      (41 to 64).foreach(n => state.append(record(s"run$n"), Map.empty))
      unread(64)
      Files.delete(file.resolve("x"))
      Files.delete(file)
      (65 to 96).foreach(n => state.append(record(s"run$n"), Map.empty))
      unread(8)
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

  test("of a directory that tables share, each has its own records, and those that name none") {
    after(40) { (dir, fs, all) =>
      val first = new StateDir(fs, new HPath(dir.getParent.toUri), table = Some("u1"))
      val second = new StateDir(fs, new HPath(dir.getParent.toUri), table = Some("u2"))
      all.append(record("old").copy(table = None), Map.empty)
      val other = record("other").copy(table = Some("u2"), layoutIds = Map("" -> "ffff"))
      second.append(other, Map("ffff" -> "{}"))
      assert(first.runs().map(_.runId) === (1 to 40).map(n => s"run$n") :+ "old")
      assert(second.runs().map(_.runId) === Seq("old", "other"))
      Seq(first, second, all).foreach(same)
      val files = Seq(RecordedFile("w.parquet", 1L, 0, 0, 1))
      val waiting = record("waiting").copy(files = files, branch = None)
      first.pending.begin(CommitRequest(waiting, Map.empty))
      assert(first.pending.notice("t").isDefined && second.pending.notice("t").isEmpty)
      second.pending.recover(Set("w.parquet"))
      assert(first.pending.notice("t").isDefined && second.runs().length === 2)
      second.delete()
      assert(second.runs() === Nil && first.runs().length === 40 && second.layout("ffff").isEmpty)
      first.delete()
      assert(!Files.exists(dir))
    }
  }

  test("a run that was taken for a dead one has one outline") {
    val lost = record("lost").copy(version = None)
    after(40) { (_, fs, state) =>
      state.append(lost, Map.empty)
      (42 to 64).foreach(n => state.append(record(s"run$n"), Map.empty))
      // its own record comes when the other one is gathered
      state.append(record("lost"), Map.empty)
      assert(fs.during(state.outlines()).length === 1 + 9)
      assert(state.outlines().filter(_.runId == "lost").map(_.number) === Seq(65))
      same(state)
    }
  }

  test("a copy of runs into a table that has gathered outlines") {
    after(62) { (_, fs, state) =>
      withTempDir { dir =>
        val from = new StateDir(fs, new HPath(dir.toUri))
        from.write(record("run7").copy(number = 63), Map.empty)
        assert(StateDir.copyRuns(from, state) === Nil, "it has this one")
        from.write(record("new").copy(number = 64), Map("abcd1234" -> "{}"))
        from.write(record("newest").copy(number = 65), Map.empty)
        assert(StateDir.copyRuns(from, state) === Seq(63, 64))
        assert(StateDir.copyRuns(from, state) === Nil)
        assert(state.runs().map(r => r.number -> r.runId).drop(61) ===
          Seq(62 -> "run62", 63 -> "new", 64 -> "newest"))
        assert(state.layout("abcd1234") === Some("{}"))
      }
    }
  }

  test("of two commits that list the same records, each gets a number of its own") {
    after(2) { (dir, fs, state) =>
      withTempDir { staged =>
        val from = new StateDir(fs, new HPath(staged.toUri))
        from.write(record("ours").copy(number = 3), Map.empty)
        fs.onceListed(dir.resolve("runs"))(state.append(record("theirs"), Map.empty))
        assert(StateDir.copyRuns(from, state) === Seq(4))
        assert(state.runs().map(r => r.number -> r.runId) ===
          Seq(1 -> "run1", 2 -> "run2", 3 -> "theirs", 4 -> "ours"))
      }
    }
  }

  test("outlines that an earlier version has written") {
    after(32) { (dir, _, state) =>
      val one = dir.resolve("runs/1.json")
      val (length, modified) = (Files.size(one), Files.getLastModifiedTime(one).toMillis)
      val outline =
        """{"version":1,"number":1,"runId":"early","startedMs":3,"finishedMs":4,"operation":"OPTIMIZE",
          |"statement":"s","curve":"hilbert","columns":["b"],"layoutIds":{"p=1":"ab"},
          |"files":[{"path":"p=1/x","length":9,"level":1,"file":2,"until":5}],"rewritten":[],"report":"{}",
          |"version_committed":8,"columnIds":["2"],"branch":"b","location":"l","fileCount":3}""".stripMargin
      write(
        dir.resolve("outlines.json"),
        s"""{"version":2}
          |{"length":$length,"modified":$modified,"outline":${outline.replace("\n", "")}}""".stripMargin)
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
