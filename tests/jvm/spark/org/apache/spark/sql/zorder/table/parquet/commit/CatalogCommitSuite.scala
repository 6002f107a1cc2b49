package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.File
import java.nio.file.Files

import org.apache.hadoop.fs.Path
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.OtherFileSystem
import org.apache.spark.sql.zorder.clustering.JobWatch
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{CrashPoints, ParquetNames, TableFixture, TableRef}
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.parquet.journal.JournalState
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, TextFiles}
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 5: the commit of a table of the catalog. */
@SameOnAllLines
class CatalogCommitSuite extends AnyFunSuite with TableFixture with BeforeAndAfterEach with Steps {

  override def beforeEach(): Unit = {
    CrashPoint.meanwhile = (_: String) => ()
    Seq("m", "e", "mp", "ep").foreach(t => spark.sql(s"DROP TABLE IF EXISTS $t"))
    delete(temp.resolve("warehouse").toFile)
  }

  private def managed(name: String = "m"): Unit = rows(0, 40, 4).write.format("parquet").saveAsTable(name)

  private def managedPartitioned(name: String = "mp"): Unit = {
    rows(0, 40, 2).write.format("parquet").partitionBy("p").saveAsTable(name)
    moves(name)
  }

  private def external(name: String = "e"): String = {
    val path = dir("ext")
    rows(0, 40, 4).write.option("path", path).format("parquet").saveAsTable(name)
    moves(name)
    path
  }

  private def location(table: String, database: String = "default"): File = new File(
    spark.sessionState.catalog.getTableMetadata(TableIdentifier(table, Some(database))).location.getPath)

  private def vacuum(table: String, late: Option[LateChoice] = None): Seq[String] =
    vacuumed(TableRef.Name(Seq(table)), late = late).map(status)

  private def warehouse: Seq[String] = listed(temp.resolve("warehouse").toString).map(_.getName)
    .filterNot(_.endsWith(".crc"))

  /** Directories of ours: beside an external table, inside a managed one. */
  private def leftovers(table: String): Seq[String] = {
    val at = location(table)
    val base = at.getName.drop(at.getName.indexOf('.') + 1)
    val siblings = if (table == "e") listed(at.getParent).map(_.getName) else Nil
    siblings.filter(_.matches(s"z[a-zA-Z0-9]+[.]$base")) ++
      listed(at.getPath).map(_.getName).filter(_.startsWith(".z"))
  }

  private val forty = 0L until 40L

  test("an external table keeps its data in the old place until vacuum") {
    val path = external()
    rewriteAll(openName("e"))
    assert(tableIds("e") == forty && ids(path) == forty)
    assert(vacuum("e") == Seq("DELETED"))
    assert(tableIds("e") == forty && new File(path).isDirectory)
    rewriteAll(openName("e"), "r2")
    assert(tableIds("e") == forty)
    assert(vacuum("e").toSet == Set("WATCHED", "DELETED"))
    assert(tableIds("e") == forty)
  }

  test("a commit that died is not withdrawn by another table that is made where the first one began") {
    val path = external()
    assert(crashAt("altered")(rewriteAll(openName("e"))), "the point was not reached")
    Thread.sleep(1000) // the time of creation distinguishes tables, and some metastores count seconds
    spark.sql(s"CREATE TABLE other (id LONG, v LONG, p LONG) USING parquet LOCATION '$path'")
    moves("other")
    openName("other")
    vacuum("other")
    assert(tableIds("e") == forty)
    openName("e")
    assert(tableIds("e") == forty && openName("e").state.latest().isDefined)
    spark.sql("DROP TABLE other")
  }

  test("partitions of a managed table do not move where a metastore would drop them") {
    managedPartitioned("discovered")
    val tables = Seq("true" -> true, "false" -> false)
    tables.foreach { case (value, isRefused) =>
      spark.sql(s"ALTER TABLE discovered SET TBLPROPERTIES ('discover.partitions' = '$value')")
      val table = openName("discovered")
      if (isRefused) assert(refused(table.checkBeforeRun()).contains("discover.partitions' = 'false'"))
      else table.checkBeforeRun()
    }
    spark.sql("DROP TABLE discovered")
  }

  test("a writer that knows only the old path is not lost", LongTest) {
    val path = external()
    rewriteAll(openName("e"))
    step("beside the old files its rows are carried over") {
      rows(40, 45).write.mode("append").parquet(path)
      assert(carriedOver(vacuumed(TableRef.Name(Seq("e")))) == 1)
      assert(tableIds("e") == (0L until 45L))
    }
    step("where the old files are gone, nobody can tell whether these are further rows: it has to be said") {
      rows(45, 50).write.mode("append").parquet(path)
      assert(refused(openName("e").checkBeforeRun()).contains("LATE FILES APPEND"))
      assert(refused(vacuum("e")).contains("LATE FILES APPEND"))
      assert(refused(openName("e").prepare("r2")).contains("LATE FILES APPEND"))
      assert(vacuum("e", Some(LateChoice.Append)).head == "APPENDED")
      assert(tableIds("e") == (0L until 50L))
    }
    step("the old path is watched after the next run") {
      rewriteAll(openName("e"), "r2")
      vacuum("e")
      assert(vacuum("e") == Seq("WATCHED") && tableIds("e") == (0L until 50L))
    }
    step("a removal leaves the rows and no trace") {
      Maintenance.remove(classic, TableRef.Name(Seq("e")))
      assert(tableIds("e") == (0L until 50L) && traces(path).isEmpty)
    }
  }

  test("partitions of a managed table move run by run, and the table stays where it is") {
    managedPartitioned()
    step("only partitions with inputs move, in one call") {
      val table = openName("mp")
      val before = table.files()
      assert(before.map(_.partition).distinct == Seq("p=0", "p=1"))
      rewrite(table, before.filter(_.partition == "p=1"))
      assert(tableIds("mp") == forty)
      val after = openName("mp").files()
      assert(after.filter(_.partition == "p=0") == before.filter(_.partition == "p=0"))
      assert(after.count(_.partition == "p=1") == 1)
      assert(openName("mp").state.runs().size == 1)
      assert(location("mp").getName == "mp")
    }
    step("what is inserted afterwards is read, and the old files go with a vacuum") {
      rows(40, 50).write.insertInto("mp")
      assert(tableIds("mp") == (0L until 50L))
      assert(vacuum("mp") == Seq("DELETED"))
    }
    step("a run of all leaves no partition in its first place") {
      rewriteAll(openName("mp"), "r2")
      assert(listed(location("mp").getPath).map(_.getName).filter(_.startsWith("p=")).isEmpty)
      assert(tableIds("mp") == (0L until 50L))
    }
    step("after further runs and vacuums there is the table alone") {
      vacuum("mp")
      rewriteAll(openName("mp"), "r3")
      vacuum("mp")
      assert(tableIds("mp") == (0L until 50L))
      assert(openName("mp").state.runs().map(_.number) == Seq(1, 2, 3))
      assert(warehouse == Seq("mp"))
    }
  }

  test("a partition outside the table's directory is taken") {
    managedPartitioned()
    val far = dir("far")
    rows(100, 110).where("p = 1").drop("p").write.parquet(far)
    spark.sql(s"ALTER TABLE mp ADD PARTITION (p = 7) LOCATION '$far'")
    val expected = tableIds("mp")
    rewriteAll(openName("mp"))
    assert(tableIds("mp") == expected && openName("mp").files().size == 3)
  }

  test("a partitioned table whose partitions are not in the catalog is exchanged in place") {
    spark.conf.set("spark.sql.hive.manageFilesourcePartitions", "false")
    try {
      managedPartitioned()
      val before = location("mp")
      rewriteAll(openName("mp"))
      assert(tableIds("mp") == forty && location("mp") == before && openName("mp").files().size == 2)
      rows(40, 50).write.insertInto("mp")
      Maintenance.rollback(classic, TableRef.Name(Seq("mp")))
      assert(tableIds("mp") == (0L until 50L))
      assert(vacuum("mp").toSet == Set("DELETED"))
      Maintenance.remove(classic, TableRef.Name(Seq("mp")))
      assert(tableIds("mp") == (0L until 50L))
    } finally spark.conf.unset("spark.sql.hive.manageFilesourcePartitions")
  }

  test("a table that was exchanged by its path can be opened by name after a crash") {
    val path = external()
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    assert(crashAt("moved-old")(r.commit()))
    assert(openName("e").files().size == 1)
    spark.catalog.refreshTable("e")
    assert(tableIds("e") == forty)
  }

  test("of two runs with the same base the second stops") {
    Seq("m", "mp").foreach { t =>
      if (t == "m") managed() else managedPartitioned()
      val (a, b) = (openName(t), openName(t))
      val ra = stage(a, a.files().take(1), "ra")
      val rb = stage(b, b.files().takeRight(1), "rb")
      ra.commit()
      assert(intercept[ZOrderConflictException](rb.commit()).getMessage.contains("Another run"))
      assert(tableIds(t) == forty)
      assert(openName(t).state.runs().map(_.runId) == Seq("ra"))
    }
  }

  test("what others do during a run: no row is lost, and a run that cannot know stops", LongTest) {
    managed()
    step("a job that is writing stops it") {
      val table = openName("m")
      val r = stage(table, table.files(), "r1")
      rows(40, 45).write.insertInto("m")
      new File(location("m"), "_temporary").mkdir()
      assert(intercept[ZOrderConflictException](r.commit()).getMessage.contains("_temporary"))
      new File(location("m"), "_temporary").delete()
      assert(tableIds("m") == (0L until 45L))
    }
    step("an append is kept") {
      val table = openName("m")
      val r = stage(table, table.files().take(2), "r2")
      rows(45, 50).write.insertInto("m")
      r.commit()
      assert(tableIds("m") == (0L until 50L))
    }
    step("an input that is gone stops it, and leaves nothing beside the table") {
      val table = openName("m")
      val r = stage(table, table.files(), "r3")
      new File(table.files().head.path.stripPrefix("file:")).delete()
      intercept[ZOrderConflictException](r.commit())
      assert(warehouse.count(_.startsWith(".m.old-")) == 1 && !warehouse.exists(_.endsWith(".new")))
    }
  }

  for (fails <- "nothing" +: CrashPoints.catalogUndo)
    test(s"a job found right after the location changed brings the old one back, $fails fails") {
      Seq("e", "mp").foreach(bringsBack(_, fails))
    }

  private def bringsBack(t: String, fails: String): Unit = {
    if (t == "e") external() else managedPartitioned()
    val before = openName(t).files()
    val table = openName(t)
    val r = stage(table, table.files(), "r1")
    val scratch = new File(before.last.path.stripPrefix("file:")).getParent + "/_temporary"
    var named = ""
    CrashPoint.meanwhile = (at: String) =>
      if (at == "altered") {
        new File(scratch).mkdir()
        named = new File(openName(t).files().last.path.stripPrefix("file:")).getParent
      }
    if (fails == "nothing") intercept[ZOrderConflictException](r.commit())
    else assert(crashAt(fails)(r.commit()))
    CrashPoint.meanwhile = (_: String) => ()
    new File(scratch).delete()
    assert(openName(t).files() == before && tableIds(t) == forty)
    // what a query saw before is not what it sees now
    assert(mark(t).startsWith("undone "))
    // an INSERT that was planned while the catalog named the new place
    val late = dir("late")
    val columns = if (t == "mp") Seq("id", "v") else Seq("id", "v", "p")
    rows(41, 42).selectExpr(columns: _*).write.parquet(late)
    listed(late).filter(_.getName.endsWith(".parquet")).foreach(f =>
      copyFile(f.getPath, s"$named/${f.getName}"))
    assert(carriedOver(vacuumed(TableRef.Name(Seq(t)))) == 1)
    assert(tableIds(t) == forty :+ 41L && leftovers(t).isEmpty && openName(t).state.outlines().isEmpty)
  }

  test(
    "a statement that is cancelled as the location changes ends its commit, and before that takes it back") {
    for (point <- Seq("altered", "prepared")) {
      external()
      val table = openName("e")
      val r = stage(table, table.files(), "r1")
      val before = location("e")
      CrashPoint.meanwhile = at =>
        if (at == point) {
          CrashPoint.meanwhile = (_: String) => ()
          throw new InterruptedException("cancelled")
        }
      if (point == "altered") r.commit()
      else assert(refused(r.commit()).contains("nothing was changed"))
      assert(Thread.interrupted() && tableIds("e") == forty)
      assert((location("e") != before) == (point == "altered"))
      assert(openName("e").store.all().forall(_.state == JournalState.Done))
      spark.sql("DROP TABLE e")
    }
  }

  test("what comes as the location changes is asked about if the old files are gone, and not copied") {
    external()
    val table = openName("e")
    val r = stage(table, table.files(), "r1")
    val old = location("e").getPath
    val extra = dir("overwritten")
    rows(41, 42).write.parquet(extra)
    CrashPoint.meanwhile = at =>
      if (at == "altered") {
        listed(old).filter(_.getName.endsWith(".parquet")).foreach(_.delete())
        listed(extra).filter(_.getName.endsWith(".parquet")).foreach(f =>
          copyFile(f.getPath, s"$old/${f.getName}"))
      }
    r.commit()
    CrashPoint.meanwhile = (_: String) => ()
    assert(tableIds("e") == forty)
    assert(refused(vacuumed(TableRef.Name(Seq("e")))).contains("LATE FILES REPLACE"))
  }

  test("what the catalog says of partitions that move changes before and after their places do") {
    managedPartitioned()
    val seen = scala.collection.mutable.LinkedHashMap.empty[String, String]
    CrashPoint.meanwhile = at =>
      if (Seq("prepared", "tagged", "altered", "retired").contains(at)) seen(at) = mark("mp")
    rewriteAll(openName("mp"))
    CrashPoint.meanwhile = (_: String) => ()
    val txn = openName("mp").store.all().last.txn
    assert(seen.toSeq == Seq(
      "prepared" -> s"before $txn",
      "tagged" -> s"to $txn",
      "altered" -> s"to $txn",
      "retired" -> txn))
    assert(mark("mp") == txn && tableIds("mp") == forty)
  }

  /** A database `other`, in whose file system a rename counts as a copy. */
  private def inOther(body: => Unit): Unit = {
    // Hadoop has this file system for every session of the JVM, and for the catalog, until it is closed
    val conf = spark.sessionState.newHadoopConf()
    conf.set("fs.other.impl", classOf[OtherFileSystem].getName)
    val other = new Path("other:///").getFileSystem(conf)
    spark.sql(s"CREATE DATABASE other LOCATION 'other://${dir("other")}'")
    try body
    finally {
      spark.sql("DROP DATABASE other CASCADE")
      other.close()
    }
  }

  test("where a rename would be a copy, old files of a managed table are copied aside by tasks") {
    inOther {
      managedPartitioned("other.mp")
      val before = new File(location("mp", "other"), "p=1")
      assert(before.list.exists(_.endsWith(".parquet")))
      val (_, watch) = JobWatch(spark)(rewriteAll(openName("other.mp")))
      assert(watch.jobs.count(_.contains("move old files aside")) == 1, watch.jobs)
      assert(tableIds("other.mp") == forty && !before.exists)
      vacuumed(TableRef.Name(Seq("other", "mp")))
      assert(tableIds("other.mp") == forty)
    }
  }

  test("an old file goes when its copy aside is whole, and not before") {
    inOther {
      managedPartitioned("other.mp")
      val at = location("mp", "other")
      def lengths(top: File) =
        ParquetNames.below(top.getPath).map(f => f -> new File(top, f).length).toMap
      def aside = listed(at.getPath).filter(_.getName.endsWith(".old")).head
      val before = lengths(at)
      CrashPoint.meanwhile = place =>
        if (place == "retired-copied") {
          CrashPoint.meanwhile = _ => ()
          // as by a task that was given up and begins again
          Files.write(new File(aside, before.keys.head).toPath, Array.emptyByteArray)
          ()
        }
      rewriteAll(openName("other.mp"))
      assert(lengths(aside) == before && tableIds("other.mp") == forty)
      assert(Seq("p=0", "p=1").forall(p => !new File(at, p).exists))
    }
  }

  test("a partition that is dropped and made again after a run has died has its new rows alone") {
    managedPartitioned()
    val table = openName("mp")
    val r = stage(table, table.files(), "r1")
    assert(crashAt("altered")(r.commit()), "the point was not reached")
    spark.catalog.refreshTable("mp")
    spark.sql("ALTER TABLE mp DROP PARTITION (p = 1)")
    rows(100, 110).where("p = 1").write.insertInto("mp")
    val wanted = (forty.filter(_ % 2 == 0) ++ (101L until 110L by 2)).sorted
    assert(tableIds("mp") == wanted)
    vacuum("mp")
    assert(tableIds("mp") == wanted)
  }

  test("what a move that died has left goes, though the table stays where it is") {
    external()
    val table = openName("e")
    val r = stage(table, table.files(), "r1")
    assert(crashAt("prepared")(r.commit()), "the point was not reached")
    spark.sql("ALTER TABLE e UNSET TBLPROPERTIES ('zorder.location')")
    assert(openName("e").store.all().isEmpty && leftovers("e").isEmpty && tableIds("e") == forty)
  }

  test("the directory that a table has moved to is refused by its path") {
    external()
    rewriteAll(openName("e"))
    assert(refused(open(location("e").getPath)).contains("name the table"))
  }

  private def mark(table: String): String = spark.sessionState.catalog
    .getTableMetadata(TableIdentifier(table, Some("default"))).properties(CatalogCommit.TxnProperty)

  CrashPoints.managedCatalogCommit.foreach { point =>
    test(s"a crash at $point", LongTest.unless(point == "altered"): _*) {
      Seq("e", "mp").filter(_ == "mp" || CrashPoints.catalogCommit.contains(point)).foreach { t =>
        if (t == "e") external() else managedPartitioned()
        val table = openName(t)
        val r = stage(table, table.files(), "r1")
        assert(crashAt(point)(r.commit()), "the point was not reached")
        spark.catalog.refreshTable(t)
        assert(tableIds(t) == forty)
        openName(t)
        assert(tableIds(t) == forty)
        vacuum(t)
        assert(tableIds(t) == forty)

        assert(leftovers(t).size <= 1 && !warehouse.exists(_.startsWith(s".$t.")))
        rewriteAll(openName(t), "again")
        assert(tableIds(t) == forty)
      }
    }
  }

  test("old files of a dropped table are no rows of the next one of that name") {
    managed()
    rewriteAll(openName("m"))
    spark.sql("DROP TABLE m")
    delete(temp.resolve("warehouse").resolve("m").toFile)
    managed()
    rewriteAll(openName("m"), "r2")
    assert(tableIds("m") == forty)
    vacuum("m")
    assert(tableIds("m") == forty)
  }

  test("CHAR and VARCHAR stay what they are after a run and a removal") {
    spark.sql("DROP TABLE IF EXISTS e")
    spark.sql(s"CREATE TABLE e (id BIGINT, c CHAR(4), v VARCHAR(9)) USING parquet LOCATION '${dir("char")}'")
    spark.sql("INSERT INTO e SELECT id, 'c', 'v' FROM range(10)")
    def types = spark.sql("DESCRIBE e").collect().map(_.getString(1)).toSeq
    val before = types
    rewriteAll(openName("e"))
    assert(types == before && before.contains("char(4)"))
    Maintenance.remove(classic, TableRef.Name(Seq("e")))
    assert(types == before)
  }

  test("a rollback beside a vacuum keeps the files that it returns to") {
    external()
    rewriteAll(openName("e"))
    rewriteAll(openName("e"), "r2")
    var back = false
    CrashPoint.meanwhile = at =>
      if (at == "vacuum-deleted" && !back) {
        back = true
        assert(status(rolledBack(TableRef.Name(Seq("e")))) == "ROLLED_BACK")
      }
    vacuum("e")
    spark.sql("REFRESH TABLE e")
    assert(back && tableIds("e") == forty)
    vacuum("e")
    assert(tableIds("e") == forty)
  }

  test("a journal that cannot be read may be of a rollback beside a vacuum, which stops") {
    external()
    rewriteAll(openName("e"))
    rewriteAll(openName("e"), "r2")
    val store = openName("e").store
    val hidden = store.file("hidden")
    CrashPoint.meanwhile = at =>
      if (at == "vacuum-deleted") TextFiles.replace(fs, hidden, "not for this user")
    try assert(refused(vacuum("e")).contains("cannot be read"))
    finally CrashPoint.meanwhile = (_: String) => ()
    fs.delete(hidden, false)
    assert(status(rolledBack(TableRef.Name(Seq("e")))) == "ROLLED_BACK")
    spark.sql("REFRESH TABLE e")
    assert(tableIds("e") == forty)
  }
}
