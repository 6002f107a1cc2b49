package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.File
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{ParquetNames, RecordedFile, TableFixture, TableRef}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalJson,
  JournalKind,
  JournalState,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, TextFiles}
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 5: the commit of a table known by its path. */
@SameOnAllLines
class PathCommitSuite extends AnyFunSuite with TableFixture {

  private def parquetFiles(path: String): Seq[File] = listed(path).filter(_.getName.endsWith(".parquet"))

  test("all files of an unpartitioned table are replaced, with record, layout and mode") {
    val path = plain("whole")
    Files.setPosixFilePermissions(new File(path).toPath, PosixFilePermissions.fromString("rwxr-x--x"))
    val mode = modes(path)
    rewriteAll(open(path))
    assert(ids(path) == (0L until 40L))
    assert(parquetFiles(path).size == 1)
    assert(modes(path) == mode)
    val state = open(path).state
    assert(state.runs().map(r => (r.number, r.runId)) == Seq((1, "r1")))
    assert(state.runs().last.rewritten.size == 4)
    assert(state.layout("abcd1234").contains("{\"layout\":1}"))
    assert(new File(path, "_SUCCESS").exists)
    assert(traces(path).size == 2) // journal and old directory
    rewriteAll(open(path), "r2")
    assert(ids(path) == (0L until 40L))
    assert(open(path).state.runs().map(_.number) == Seq(1, 2))
  }

  test("of two runs over other files of a path at the same time, each has its record") {
    val path = plain("two")
    val (a, b) = (open(path), open(path))
    val (some, others) = a.files().splitAt(2)
    val (first, second) = (stage(a, some, "ra"), stage(b, others, "rb"))
    CrashPoint.meanwhile = {
      case "prepared" =>
        CrashPoint.meanwhile = _ => ()
        first.commit()
      case _ =>
    }
    try second.commit()
    finally CrashPoint.meanwhile = _ => ()
    assert(ids(path) == (0L until 40L) && parquetFiles(path).size == 2)
    assert(open(path).state.runs().map(r => (r.number, r.runId)) == Seq((1, "ra"), (2, "rb")))
  }

  test("a directory keeps the bit that gives new files its group, and the sticky one") {
    val path = plain("bits")
    val place = new File(path).toPath
    def mode = Files.getAttribute(place, "unix:mode").asInstanceOf[Int] & 0xfff
    val bits = Integer.parseInt("3775", 8)
    Files.setAttribute(place, "unix:mode", Int.box(bits))
    assert(mode == bits)
    rewriteAll(open(path))
    assert(mode == bits && ids(path) == (0L until 40L))
  }

  test("files that are not inputs keep name, time and content; summaries go") {
    val path = plain("part")
    write(s"$path/_notes/readme.txt", "mine")
    val table = open(path)
    assert(table.schema.fieldNames.toSeq == Seq("id", "v", "p"))
    write(s"$path/_common_metadata", "x")
    val (inputs, others) = table.files().splitAt(2)
    rewrite(table, inputs)
    val now = open(path).files()
    assert(others.toSet.subsetOf(now.toSet))
    assert(now.size == 3)
    assert(ids(path) == (0L until 40L))
    assert(!new File(path, "_common_metadata").exists && new File(path, "_notes/readme.txt").exists)
  }

  test("only partitions with inputs are exchanged") {
    val path = partitioned("parts")
    val table = open(path)
    val before = table.files()
    assert(before.map(_.partition).distinct == Seq("p=0", "p=1"))
    assert(table.partitionSchema.fieldNames.toSeq == Seq("p"))
    assert(table.schema.fieldNames.toSeq == Seq("id", "v", "p"))
    rewrite(table, before.filter(_.partition == "p=1"))
    val after = open(path).files()
    assert(after.filter(_.partition == "p=0") == before.filter(_.partition == "p=0"))
    assert(after.count(_.partition == "p=1") == 1)
    assert(ids(path) == (0L until 40L))
    assert(open(path).state.latest().map(_.number).contains(1))
  }

  test("a partition directory keeps its own spelling") {
    val path = dir("spelt")
    rows(0, 10).drop("p").write.parquet(s"$path/month=01")
    rows(10, 20).drop("p").write.parquet(s"$path/month=12")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    val files = ParquetNames.below(r.journal.staging.toUri.getPath).map(n => RecordedFile(n, 1L, 0, 0, 1))
    r.copy(request = r.request.copy(record = r.request.record.copy(files = files))).commit()
    assert(listed(path).map(_.getName).filter(_.contains("=")) == Seq("month=01", "month=12"))
    val recorded = open(path).state.latest().get.files.map(_.path.takeWhile(_ != '/'))
    assert(recorded.toSet == Set("month=01", "month=12"))
    assert(ids(path) == (0L until 20L))
  }

  test("a changed or vanished input stops the commit and changes nothing") {
    val path = plain("conflict")
    val table = open(path)
    val inputs = table.files()
    val r = stage(table, inputs, "r1")
    val victim = new File(inputs.head.path.stripPrefix("file:"))
    val kept = Files.readAllBytes(victim.toPath)
    victim.setLastModified(victim.lastModified + 5000L)
    assert(intercept[ZOrderConflictException](r.commit()).getMessage.contains("was changed"))
    assert(ids(path) == (0L until 40L) && traces(path).isEmpty)

    val again = open(path)
    val r2 = stage(again, again.files(), "r2")
    victim.delete()
    assert(intercept[ZOrderConflictException](r2.commit()).getMessage.contains("was deleted"))
    assert(open(path).files().size == 3 && traces(path).isEmpty)
    assert(kept.nonEmpty)
  }

  test("of two commits with the same base the second stops") {
    val path = plain("twice")
    val (a, b) = (open(path), open(path))
    val ra = stage(a, a.files(), "ra")
    val rb = stage(b, b.files(), "rb")
    ra.commit()
    intercept[ZOrderConflictException](rb.commit())
    assert(ids(path) == (0L until 40L))
    assert(open(path).state.runs().map(_.runId) == Seq("ra"))
  }

  test("rows appended during the run survive") {
    val path = plain("append")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    rows(40, 50).write.mode("append").parquet(path)
    r.commit()
    assert(ids(path) == (0L until 50L))
    val parts = partitioned("appendp")
    val t2 = open(parts)
    val r2 = stage(t2, t2.files(), "r1")
    rows(40, 51).write.mode("append").partitionBy("p").parquet(parts)
    r2.commit()
    assert(ids(parts) == (0L until 51L))
  }

  test("a file that comes late into the old directory is carried over once") {
    val path = plain("late")
    rewriteAll(open(path))
    val extra = dir("extra")
    rows(40, 45).write.parquet(extra)
    val old = traces(path).find(_.contains(".old-")).get
    copyFile(parquetFiles(extra).head.getPath, s"${new File(path).getParent}/$old/late.parquet")
    val table = open(path)
    val r = stage(table, table.files(), "r2")
    assert(ids(path) == (0L until 45L))
    r.commit()
    assert(ids(path) == (0L until 45L))
    val third = open(path)
    rewriteAll(third, "r3")
    assert(ids(path) == (0L until 45L))
  }

  test("a job that is writing stops the commit; nothing is left of it") {
    Seq("_temporary", ".spark-staging-1", "__magic").foreach { scratch =>
      val path = plain("writer")
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      new File(path, scratch).mkdir()
      val e = intercept[ZOrderConflictException](r.commit())
      assert(e.getMessage.contains(scratch))
      assert(ids(path) == (0L until 40L) && traces(path).isEmpty)
      assert(parquetFiles(path).size == 4)
    }
  }

  test("a journal that names the directories of others is none of ours, in whatever state it is") {
    val path = plain("named")
    rewriteAll(open(path))
    val victim = plain("victim")
    val store = open(path).store
    val own = store.all().head
    val at = new Path(victim)
    val unit = own.units.head
    val forged = Seq[Journal => Journal](
      _.copy(staging = at),
      _.copy(staging = new Path(at.getParent, ".other.zorder-x.new")),
      _.copy(units = Seq(unit.copy(target = at))),
      _.copy(units = Seq(unit.copy(old = at, inputs = Nil))),
      _.copy(units = Seq(unit.copy(old = new Path(unit.old, "../../..")))),
      _.copy(kind = JournalKind.Catalog, staging = at))
    // nobody asks what a finished commit had staged
    val forgedUnfinished = Seq[Journal => Journal](
      _.copy(units = Seq(unit.copy(staged = at))),
      _.copy(kind = JournalKind.Catalog, units = Seq(unit.copy(target = at, staged = at))))
    val unfinished = Seq(JournalState.Prepared, JournalState.Swapping, JournalState.Undoing)
    val all = forged.flatMap(f => (unfinished :+ JournalState.Done).map(f -> _)) ++
      forgedUnfinished.flatMap(f => unfinished.map(f -> _))
    for (((change, state), i) <- all.zipWithIndex) {
      val journal =
        change(own.copy(txn = s"forged$i", state = state, owner = "another", process = "", changedMs = 0))
      store.write(journal)
      assert(store.get(journal.txn).isEmpty && store.all() == Seq(own), journal)
      vacuumed(TableRef.Location(path), Some(100.0))
      assert(ids(path) == (0L until 40L) && ids(victim) == (0L until 40L), journal)
    }
    // nor is one that says it is another one
    TextFiles.replace(fs, new Path(store.parent, s".${store.base}.zorder-x.json"), JournalJson.write(own))
    assert(store.all() == Seq(own) && store.get("x").isEmpty)
  }

  test("a statement that reads lists again after an exchange, and not during one") {
    val path = plain("looked")
    rewriteAll(open(path))
    val store = open(path).store
    def whole(look: () => Int) = UnfinishedCommits.whole("t", store, "", waitMs = 200)(look())
    val looks = new AtomicInteger
    val listed = whole { () =>
      if (looks.incrementAndGet() == 1) rewriteAll(open(path), "r2")
      looks.get
    }
    assert(listed == 2)
    val other = store.all().last.at(JournalState.Swapping)
    store.write(other.copy(txn = "other", owner = "another", process = ""))
    assert(refused(whole(() => looks.incrementAndGet())).contains("is not done after") && looks.get == 2)
  }

  test(
    "a rollback is refused where the journal of the last run cannot be read, and takes back no earlier one") {
    val path = partitioned("hidden")
    Seq(0, 1).foreach { p =>
      val table = open(path)
      rewrite(table, table.files().filter(_.partition == s"p=$p"), s"r$p")
    }
    val store = open(path).store
    val last = store.file(store.all().last.txn)
    val text = TextFiles.read(fs, last).get
    TextFiles.replace(fs, last, "not for this user")
    assert(refused(rolledBack(TableRef.Location(path))).contains("cannot be read"))
    TextFiles.replace(fs, last, text)
    assert(rolledBack(TableRef.Location(path)).getAs[String]("run_id") == "r1")
    assert(ids(path) == (0L until 40L))
  }

  test("a run whose staging directory a vacuum has withdrawn changes nothing") {
    spark.sql("CREATE TABLE withdrawn (id LONG, v LONG, p LONG) USING parquet PARTITIONED BY (p)")
    rows(0, 40).write.insertInto("withdrawn")
    val path = plain("withdrawn")
    for (opened <- Seq(() => open(path), () => openName("withdrawn"))) {
      val table = opened()
      val before = table.files()
      val r = stage(table, before, "r1")
      // of another JVM, whose run seems dead
      table.store.write(r.journal.copy(owner = "another", changedMs = 0L))
      Journal.end(r.journal.txn)
      opened()
      assert(intercept[ZOrderConflictException](r.commit()).getMessage.contains("deleted by somebody else"))
      assert(opened().files() == before && opened().store.all().isEmpty)
    }
  }
}
