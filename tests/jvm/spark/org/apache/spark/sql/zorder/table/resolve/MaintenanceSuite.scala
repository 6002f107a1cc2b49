package org.apache.spark.sql.zorder.table.resolve

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.table.{
  CrashPoints,
  Operation,
  RecordedFile,
  RunRecord,
  RunRecordJson,
  TableFixture,
  TableRef,
  TableState,
  ParquetNames
}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.parquet.journal.Journal
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, LocalProcesses}
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 5: vacuum, rollback, remove and history. */
@SameOnAllLines
class MaintenanceSuite extends AnyFunSuite with TableFixture with Steps {

  private def at(path: String): TableRef = TableRef.Location(path)

  private case class Cleaned(deleted: Long, carriedOver: Long, status: String)

  private def vacuum(
      path: String,
      hours: Double = 0.0,
      dryRun: Boolean = false,
      late: Option[LateChoice] = None): Seq[Cleaned] =
    vacuumed(at(path), Some(hours), dryRun, late).map { r =>
      Cleaned(r.getAs[Long]("files_deleted"), r.getAs[Long]("files_carried_over"), status(r))
    }

  private def old(path: String): String =
    s"${new File(path).getParent}/${traces(path).find(_.contains(".old-")).get}"

  test("vacuum deletes what runs have rewritten, once the retention has passed") {
    val path = plain("vac")
    step("without a run there is nothing to do")(
      assert(vacuum(path).map(_.status) == Seq("NOTHING_TO_DO")))
    rewriteAll(open(path))
    step("it keeps to the retention, of the statement and by default") {
      assert(vacuum(path, hours = 1).map(_.status) == Seq("KEPT"))
      val kept = vacuumed(at(path), None)
      assert(kept.map(status) == Seq("KEPT"))
      assert(
        kept.head.getAs[String]("reason").matches(
          "\\d+ files, [\\d.]+ K?i?B, from before a run: kept until 20\\d\\d-\\d\\d-\\d\\dT[\\d:]+Z, so that " +
            "ZORDER ROLLBACK can restore them; with RETAIN 0 HOURS the vacuum deletes them now."),
        kept.head)
      val forever = vacuumed(at(path), Some(1e15)).head
      assert(status(forever) == "KEPT" && forever.getAs[String]("reason").contains("kept until +292278994-"))
    }
    step("a dry run says what it would delete, and deletes nothing") {
      assert(vacuum(path, dryRun = true).map(r => (r.deleted >= 4, r.status)) == Seq((true, "DRY_RUN")))
      assert(traces(path).size == 2)
    }
    step("it deletes the old files and no others") {
      val deleted = vacuumed(at(path), Some(0.0))
      assert(deleted.map(r => (status(r), r.getAs[String]("reason"))) == Seq(("DELETED", null)))
      assert(traces(path).isEmpty && ids(path) == (0L until 40L))
    }
    step("a retention below zero is refused")(
      assert(refused(vacuum(path, hours = -1)).contains("retention")))
  }

  test("a retention without a unit, or below zero, deletes nothing") {
    rows(0, 40, 4).write.saveAsTable("kept")
    rewriteAll(openName("kept"))
    def cleaned(retention: String): Seq[String] = {
      spark.sql(s"ALTER TABLE kept SET TBLPROPERTIES ('zorder.retention' = '$retention')")
      vacuumed(TableRef.Name(Seq("kept")), None).map(status)
    }
    Seq("7", "-7d", "1 week").foreach { text =>
      assert(refused(cleaned(text)).endsWith(
        s"The option zorder.retention takes a time with its unit, such as 7d, 36h, 90m or 30s, not '$text'."))
    }
    assert(cleaned("7d") == Seq("KEPT"))
    spark.sql("DROP TABLE kept")
  }

  test("vacuum never deletes a file that no journal names") {
    val path = plain("unnamed")
    rewriteAll(open(path))
    val dir = old(path)
    step("somebody's own file stays") {
      write(s"$dir/_private/notes.txt", "mine")
      val left = vacuumed(at(path), Some(0.0))
      assert(left.map(status) == Seq("FILES_LEFT"))
      assert(left.head.getAs[String]("reason").startsWith("1 file that no run has replaced"))
      assert(new File(s"$dir/_private/notes.txt").exists)
    }
    step("what it does with late rows has to be said") {
      val extra = plain("extra", 5, 1)
      val file = listed(extra).find(_.getName.endsWith(".parquet")).get
      copyFile(file.getPath, s"$dir/new.parquet")
      assert(refused(vacuum(path)).contains("LATE FILES"))
      assert(vacuum(path, dryRun = true).map(r => (r.carriedOver, r.status)).contains((1L, "OVERWRITTEN")))
    }
    step("late rows are appended, once") {
      assert(vacuum(path, late = Some(LateChoice.Append)).map(r => (r.carriedOver, r.status)) ==
        Seq((1L, "APPENDED"), (0L, "FILES_LEFT")))
      assert(ids(path).size == 45)
      vacuum(path)
      assert(ids(path).size == 45)
    }
    step("without a journal nothing is deleted") {
      new File(path).getParentFile.listFiles.filter(_.getName.endsWith(".json")).foreach(_.delete())
      assert(vacuum(path).map(_.status) == Seq("NO_JOURNAL"))
      assert(new File(s"$dir/_private/notes.txt").exists)
    }
  }

  test("the statement that a refusal names runs as it stands, also for a path with a quote") {
    val path = plain("somebody's")
    rewriteAll(open(path))
    val place = old(path)
    write(s"$place/_private/notes.txt", "mine")
    vacuum(path)
    val late = listed(plain("extra", 5, 1)).find(_.getName.endsWith(".parquet")).get
    copyFile(late.getPath, s"$place/new.parquet")
    val said = refused(vacuum(path))
    val statement = s"ZORDER VACUUM ${at(path).sql} LATE FILES IGNORE"
    assert(statement.contains("VACUUM '/") && said.contains(s"Run $statement if"), said)
    assert(spark.sql(statement).collect().map(status).contains("IGNORED"))
    vacuum(path)
    assert(ids(path) == (0L until 40L))
  }

  test("vacuum waits for a job that still writes into an old directory") {
    val path = plain("busy")
    rewriteAll(open(path))
    new File(s"${old(path)}/_temporary").mkdir()
    assert(vacuum(path).map(_.status) == Seq("WRITER_IN_FLIGHT"))
  }

  test("a crash in the middle of vacuum") {
    val path = plain("vaccrash")
    rewriteAll(open(path))
    assert(crashAt("vacuum-deleted")(vacuum(path)))
    assert(vacuum(path).map(_.status) == Seq("DELETED"))
    assert(traces(path).isEmpty && ids(path) == (0L until 40L))
  }

  Seq("plain", "partitioned").foreach { kind =>
    def make(): String = if (kind == "plain") plain("rb") else partitioned("rb")

    test(s"rollback, $kind: the old files, the new rows, the history") {
      val path = make()
      val before = open(path).files()
      rewriteAll(open(path))
      val w = rows(40, 45).write.mode("append")
      (if (kind == "plain") w else w.partitionBy("p")).parquet(path)
      val row = rolledBack(at(path))
      assert(status(row) == "ROLLED_BACK" && row.getAs[String]("run_id") == "r1")
      assert(before.toSet.subsetOf(open(path).files().toSet))
      assert(ids(path) == (0L until 45L))
      assert(open(path).state.runs().map(_.operation.text) == Seq("OPTIMIZE", "ROLLBACK"))
      assert(open(path).state.latest().isEmpty)
      assert(refused(Maintenance.rollback(classic, at(path))).contains("all were rolled back already"))
      vacuum(path)
      assert(traces(path).isEmpty && ids(path) == (0L until 45L))
    }

    CrashPoints.pathRollback.foreach { point =>
      test(s"rollback, $kind: a crash at $point", LongTest.unless(point == "moved-old"): _*) {
        val path = make()
        rewriteAll(open(path))
        val w = rows(40, 45).write.mode("append")
        (if (kind == "plain") w else w.partitionBy("p")).parquet(path)
        assert(crashAt(point) { Maintenance.rollback(classic, at(path)); () }, "the point was not reached")
        open(path)
        assert(ids(path) == (0L until 45L))
        if (Seq("synced", "prepared").contains(point)) Maintenance.rollback(classic, at(path))
        assert(open(path).state.runs().map(_.operation.text) == Seq("OPTIMIZE", "ROLLBACK"))
        assert(ids(path) == (0L until 45L))
        vacuum(path)
        assert(traces(path).isEmpty && ids(path) == (0L until 45L))
      }
    }
  }

  test("rollback is refused when it would lose something") {
    val path = plain("rbno")
    assert(refused(Maintenance.rollback(classic, at(path))).contains("none was made"))
    rewriteAll(open(path))
    rows(0, 3).write.mode("overwrite").parquet(path)
    assert(refused(Maintenance.rollback(classic, at(path))).contains("overwritten"))
    val other = plain("rbvac")
    rewriteAll(open(other))
    listed(old(other)).filter(_.getName.endsWith(".parquet")).head.delete()
    assert(refused(Maintenance.rollback(classic, at(other))).contains("vacuumed"))
    val vacuumed = plain("rbgone")
    rewriteAll(open(vacuumed))
    vacuum(vacuumed)
    val none = refused(Maintenance.rollback(classic, at(vacuumed)))
    assert(none.contains("no run") && none.contains("they were vacuumed"))
  }

  test("rollback of two runs, one after the other") {
    val path = plain("rb2")
    val before = open(path).files()
    rewriteAll(open(path), "r1")
    val between = open(path).files()
    rewriteAll(open(path), "r2")
    Maintenance.rollback(classic, at(path))
    assert(open(path).files() == between && open(path).state.latest().get.layoutIds.nonEmpty)
    Maintenance.rollback(classic, at(path))
    assert(open(path).files() == before)
    vacuum(path)
    assert(traces(path).isEmpty && ids(path) == (0L until 40L))
  }

  Seq(false, true).foreach { partitioned =>
    test(s"rollbacks and the removal of a catalog table, partitioned = $partitioned") {
      val name = s"cat_$partitioned"
      val writer = rows(0, 40, 2).write.format("parquet")
      (if (partitioned) writer.partitionBy("p") else writer).saveAsTable(name)
      val ref = TableRef.Name(Seq(name))
      def named() = openName(name).files().map(f => (openName(name).recorded(f), f.length)).toSet
      val before = named()
      step("a rollback brings the old files back and keeps the new rows") {
        rewriteAll(openName(name))
        rows(40, 45).write.insertInto(name)
        Maintenance.rollback(classic, ref)
        assert(before.subsetOf(named()) && tableIds(name) == (0L until 45L))
      }
      step("a rollback that dies before it begins changes nothing") {
        rewriteAll(openName(name), "r2")
        assert(crashAt("prepared") { Maintenance.rollback(classic, ref); () })
        openName(name)
        assert(tableIds(name) == (0L until 45L))
        assert(openName(name).state.runs().map(_.operation.text) == Seq("OPTIMIZE", "ROLLBACK", "OPTIMIZE"))
      }
      step("a removal takes our properties and our state, and no others") {
        spark.sql(s"ALTER TABLE $name SET TBLPROPERTIES ('zorder.by' = 'id', 'kept' = 'yes')")
        Maintenance.remove(classic, ref)
        val meta = spark.sessionState.catalog.getTableMetadata(TableIdentifier(name, Some("default")))
        assert(!meta.properties.keys.exists(_.startsWith("zorder.")) && meta.properties("kept") == "yes")
        assert(!new File(openName(name).root.toUri.getPath, "_zorder").exists)
      }
      step("Spark writes and reads as before") {
        rows(45, 50).write.insertInto(name)
        assert(tableIds(name) == (0L until 50L))
      }
      spark.sql(s"DROP TABLE $name")
    }
  }

  test("remove takes away every trace; Spark reads and writes as before") {
    val path = plain("rm")
    rewriteAll(open(path))
    rewriteAll(open(path), "r2")
    val extra = plain("extra", 5, 1)
    copyFile(listed(extra).find(_.getName.endsWith(".parquet")).get.getPath, s"${old(path)}/late.parquet")
    assert(refused(Maintenance.remove(classic, at(path))).contains("VACUUM"))
    vacuum(path, hours = 100)
    assert(status(removed(at(path))) == "REMOVED")
    assert(traces(path).isEmpty && !new File(path, "_zorder").exists)
    assert(ids(path).size == 45)
    rows(40, 41).write.mode("append").parquet(path)
    assert(ids(path).size == 46)
  }

  test("a vacuum takes the claim of a killed run away at once, also beside a former place of the table") {
    val path = plain("claimed")
    def claim(root: String) = new File(new File(root).getParent, s".${new File(root).getName}.claim-zorder")
    def left(root: String, pid: Any): Unit =
      write(claim(root).getPath, s"r1\n${LocalProcesses.own.replaceFirst("^[0-9]+", pid.toString)}")
    left(path, "1") // a process that lives
    vacuum(path)
    assert(claim(path).exists)
    left(path, Int.MaxValue)
    vacuum(path)
    assert(!claim(path).exists)
    spark.sql(s"CREATE TABLE claimed USING parquet LOCATION '$path'")
    rewriteAll(openName("claimed"))
    left(path, Int.MaxValue)
    Maintenance.vacuum(classic, TableRef.Name(Seq("claimed")), Some(0.0), dryRun = false)
    assert(!claim(path).exists)
    spark.sql("DROP TABLE claimed")
  }

  test("a vacuum without retention leaves what a run of another JVM prepares, as long as that is at work") {
    val path = plain("preparing")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    table.store.write(r.journal.copy(owner = "another", changedMs = System.currentTimeMillis - 60000))
    Journal.end(r.journal.txn)
    val claim = new File(new File(path).getParent, s".${new File(path).getName}.claim-zorder")
    write(claim.getPath, s"r1\n${LocalProcesses.own.replaceFirst("^[0-9]+", "1")}") // a process that lives
    vacuum(path)
    assert(table.store.get(r.journal.txn).isDefined && new File(r.journal.staging.toUri.getPath).exists)
    assert(claim.delete())
    vacuum(path)
    assert(table.store.get(r.journal.txn).isEmpty && !new File(r.journal.staging.toUri.getPath).exists)
    assert(ids(path) == (0L until 40L))
  }

  test("history has a row for each run, as its schema says; state that is gone is no history") {
    val path = plain("hist")
    rewriteAll(open(path))
    Maintenance.rollback(classic, at(path))
    val rows = Maintenance.history(classic, at(path)).map(named(_, Maintenance.historySchema))
    assert(rows.map(r => (r.getAs[Int]("run"), r.getAs[String]("operation"), status(r))) ==
      Seq((1, "OPTIMIZE", "ROLLED_BACK"), (2, "ROLLBACK", "DONE")))
    val df = spark.createDataFrame(java.util.Arrays.asList(rows: _*), Maintenance.historySchema)
    assert(df.count() == 2 && df.select("columns").head().getSeq[String](0) == Seq("id", "v"))
    write(s"$path/_zorder/runs/1.json", "{ broken")
    assert(open(path).state.runs().map(_.number) == Seq(2))
    delete(new File(path, "_zorder"))
    assert(Maintenance.history(classic, at(path)).isEmpty && open(path).state.layout("abcd1234").isEmpty)
    assert(vacuum(path).map(_.status) == Seq("DELETED"))
    assert(CrashPoint.Property.nonEmpty)
  }

  test("nothing in the state ends in .parquet, and a record reads back as it was") {
    val files = Seq(RecordedFile("p=1/a.parquet", 7L, 1, 3, 5))
    val r = record("x", files, Seq(DataFile("file:/t/a", 1L, 2L, "p=1")))
    assert(RunRecordJson.read(RunRecordJson.write(r)).contains(r))
    val ids = r.copy(columnIds = Seq("1", "4"), branch = Some("side"))
    assert(RunRecordJson.read(RunRecordJson.write(ids)).contains(ids))
    assert(!Seq("columnIds", "branch").exists(RunRecordJson.write(r).contains(_)))
    assert(Seq("", "[1]", "{}", "{").forall(RunRecordJson.read(_).isEmpty))
    val path = plain("names")
    rewriteAll(open(path))
    assert(!ParquetNames.below(s"$path/_zorder").exists(_.endsWith(".parquet")))
  }

  test("the commits of the last run that stands, none where the version of one was lost") {
    def record(number: Int, id: String, operation: Operation, version: Option[Long]) =
      RunRecord(number, id, 0L, 0L, operation, "", Nil, "", Map.empty, Nil, Nil, "{}", version)
    def last(records: RunRecord*) = new TableState {
      override def runs(): Seq[RunRecord] = records
      override def layout(id: String): Option[String] = None
    }.lastRun().map(_.number)
    val (a, b) = (record(1, "a", Operation.Optimize, Some(5L)), record(2, "b", Operation.Optimize, Some(6L)))
    assert(last(a, b, record(3, "b", Operation.Optimize, Some(7L))) == Seq(2, 3))
    assert(last(a, b, record(3, "b", Operation.Rollback, None)) == Seq(1))
    assert(last(
      a,
      record(2, "b", Operation.Optimize, None),
      record(3, "b", Operation.Optimize, Some(7L))).isEmpty)
    assert(last().isEmpty)
  }
}
