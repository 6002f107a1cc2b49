package org.apache.spark.sql.zorder.table

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 5: every rename and every delete of a commit fails once; rows stay, and what is said is true. */
@SameOnAllLines
class FailedRenameSuite extends AnyFunSuite with TableFixture {

  private val forty = 0L until 40L

  override def beforeAll(): Unit = {
    super.beforeAll()
    Faults.settings.foreach { case (key, value) => spark.conf.set(key, value) }
  }

  /** Lets each call fail in turn, until there is no such call any more; how many there were. */
  private def each(fault: Int => Faults.Fault)(commit: Int => (() => Unit, () => Unit)): Int = {
    var n = 0
    var struck = true
    while (struck) {
      n += 1
      val (run, check) = commit(n)
      struck = Faults.during(fault(n)) {
        try run()
        catch { case e: ZOrderException => assert(sentence(e.getMessage), s"call $n: ${e.getMessage}") }
      }
      check()
    }
    n - 1
  }

  private def sentence(said: String): Boolean = said.contains("Injected") || said.contains("Cannot rename")

  private def ofPath(make: () => String)(n: Int): (() => Unit, () => Unit) = {
    val path = make()
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    var failed = false
    def run(): Unit =
      try r.commit()
      catch { case e: Throwable => failed = true; throw e }
    def check(): Unit = {
      open(path)
      assert(ids(path) == forty, s"call $n")
      // a run that says that it failed has changed nothing, and one that says nothing is in the history
      assert(open(path).state.runs().map(_.runId) == (if (failed) Nil else Seq("r1")), s"call $n")
      Maintenance.vacuum(classic, TableRef.Location(path), Some(0.0), dryRun = false)
      assert(traces(path).isEmpty && ids(path) == forty, s"call $n")
    }
    (() => run(), () => check())
  }

  test("a path: each rename is false once") {
    assert(each(Faults.Rename(_, throws = false))(ofPath(() => plain("rename"))) >= 5)
  }

  test("a partitioned path: each rename throws once", LongTest) {
    assert(each(Faults.Rename(_, throws = true))(ofPath(() => partitioned("renamep"))) >= 7)
  }

  for (throws <- Seq(false, true))
    test(
      s"a table of the catalog: each rename ${if (throws) "throws" else "is false"} once",
      LongTest.unless(throws): _*) {
      assert(each(Faults.Rename(_, throws))(ofCatalog) >= 3)
    }

  test("a path: each delete fails once", LongTest) {
    assert(each(Faults.Delete(_))(ofPath(() => plain("delete"))) >= 1)
  }

  test("a path: no journal can be read after a rename that fails, so nobody knows that nothing was changed") {
    val calls = each(Faults.Rename(_, throws = true, unread = true)) { n =>
      val path = plain("unread")
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      def run(): Unit =
        try r.commit()
        catch {
          case e: ZOrderException =>
            assert(e.condition == "ZORDER_COMMIT_FAILED.UNFINISHED", s"call $n: ${e.getMessage}")
        }
      def check(): Unit = {
        open(path)
        assert(ids(path) == forty, s"call $n")
        Maintenance.vacuum(classic, TableRef.Location(path), Some(0.0), dryRun = false)
        assert(traces(path).isEmpty && ids(path) == forty, s"call $n")
      }
      (() => run(), () => check())
    }
    assert(calls >= 5)
  }

  test("a path: a run that ends while no journal can be read leaves the new files to recovery") {
    val path = plain("stuck")
    val table = open(path)
    val r = stage(table, table.files(), "r1")
    assert(crashAt("moved-old")(r.commit()), "the point was not reached")
    assert(Faults.during(Faults.Rename(0, throws = true, unread = true))(table.discard(r.journal)))
    assert(open(path).files().size == 1 && ids(path) == forty)
  }

  private def ofCatalog(n: Int): (() => Unit, () => Unit) = {
    val name = s"renamed_${java.util.UUID.randomUUID.toString.take(8)}"
    rows(0, 40, 2).write.format("parquet").partitionBy("p").saveAsTable(name)
    val table = openName(name)
    val r = stage(table, table.files(), "r1")
    var failed = false
    def run(): Unit =
      try r.commit()
      catch { case e: Throwable => failed = true; throw e }
    def check(): Unit = {
      openName(name)
      spark.catalog.refreshTable(name)
      assert(tableIds(name) == forty, s"call $n")
      assert(openName(name).state.runs().map(_.runId) == (if (failed) Nil else Seq("r1")), s"call $n")
      Maintenance.vacuum(classic, TableRef.Name(Seq(name)), Some(0.0), dryRun = false)
      assert(tableIds(name) == forty, s"call $n")
      assert(onDisk(name) == spark.table(name).inputFiles.map(_.split('/').last).toSet, s"call $n")
      spark.sessionState.catalog.dropTable(TableIdentifier(name), ignoreIfNotExists = false, purge = true)
    }
    (() => run(), () => check())
  }

  test("a vacuum: each delete fails once", LongTest) {
    val calls = each(Faults.Delete(_)) { n =>
      val path = plain("vacuum")
      rewriteAll(open(path))
      def vacuum(): Unit = {
        Maintenance.vacuum(classic, TableRef.Location(path), Some(0.0), dryRun = false)
        ()
      }
      def check(): Unit = {
        vacuum()
        assert(traces(path).isEmpty && ids(path) == forty, s"call $n")
      }
      (() => vacuum(), () => check())
    }
    assert(calls >= 6) // four files and their directory, the journal
  }
}
