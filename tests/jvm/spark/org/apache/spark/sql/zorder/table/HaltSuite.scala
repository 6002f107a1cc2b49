package org.apache.spark.sql.zorder.table

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.parquet.journal.Journal
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import sparkzorder.mark.LongTest
import sparkzorder.mark.SameOnAllLines

/**
 * docs/spec.md, section 5: JVMs that are halted at every step of a commit, once each. Undoing, rollback, second crashes and
 * partitions of a path are left to the crashes inside one JVM of [[CrashSuite]] and [[MaintenanceSuite]].
 */
abstract class HaltTests(pathPoints: Seq[String], catalogPoints: Seq[String]) extends AnyFunSuite
    with TableFixture {

  private val forty = 0L until 40L

  private lazy val paths: Map[String, String] =
    (pathPoints :+ "vacuum-deleted").map(p => p -> plain("halt")).toMap
  private def table(point: String): String = s"halt_${point.replace('-', '_')}"
  private def image(point: String): File = temp.resolve(s"$point.image").toFile

  private lazy val settings = Seq(
    s"spark.sql.warehouse.dir=${temp.resolve("warehouse").toUri}",
    "spark.zorder.commit.waitSeconds=0.3")

  override def beforeAll(): Unit = {
    super.beforeAll()
    rewriteAll(open(paths("vacuum-deleted")))
    val vacuum = s"ZORDER VACUUM '${paths("vacuum-deleted")}' RETAIN 0 HOURS"
    val others = Halt("vacuum-deleted", StatementVictim, vacuum +: settings)
    Victims.run(pathPoints.map(ofPath) ++ catalogPoints.map(ofCatalog) :+ others)
  }

  private def ofPath(point: String): Halt =
    Halt(point, PathVictim, paths(point) +: staged(open(paths(point))))

  private def ofCatalog(point: String): Halt = {
    val name = table(point)
    rows(0, 40, 2).write.format("parquet").partitionBy("p").saveAsTable(name)
    moves(name)
    CatalogImage.write(spark, name, image(point))
    Halt(point, CatalogVictim, (name +: staged(openName(name)) :+ image(point).getPath) ++ settings)
  }

  /** The commit and the record of a rewrite that waits for its commit. */
  private def staged(of: ParquetTable): Seq[String] = {
    val r = stage(of, of.files(), "r1")
    of.store.all().foreach { journal => // from now on it is the victim's
      of.store.write(journal.copy(owner = "victim"))
      Journal.end(journal.txn)
    }
    Seq(r.journal.txn, RunRecordJson.write(r.request.record))
  }

  /** All rows, or a clear error: never fewer. */
  private def readAtOnce(path: String): Unit =
    try assert(ids(path) == forty)
    catch { case e: AnalysisException => assert(e.getMessage.contains("PATH_NOT_FOUND"), e.getMessage) }

  pathPoints.foreach { point =>
    test(s"a path, the JVM halted at $point") {
      val path = paths(point)
      readAtOnce(path)
      open(path)
      assert(ids(path) == forty && rows(0, 40).except(spark.read.parquet(path)).isEmpty)
      clean(path)
      rewriteAll(open(path), "again")
      assert(ids(path) == forty)
    }
  }

  test("a path, the JVM halted in the middle of a vacuum") {
    val path = paths("vacuum-deleted")
    assert(ids(path) == forty)
    clean(path)
  }

  private def clean(path: String): Unit = {
    Maintenance.vacuum(classic, TableRef.Location(path), Some(0.0), dryRun = false)
    assert(traces(path).isEmpty && ids(path) == forty)
  }

  catalogPoints.foreach { point =>
    test(s"a partitioned table of the catalog, the JVM halted at $point") {
      val name = table(point)
      CatalogImage.alter(spark, image(point))
      assert(tableIds(name) == forty)
      openName(name)
      assert(tableIds(name) == forty && rows(0, 40).except(spark.table(name)).isEmpty)
      Maintenance.vacuum(classic, TableRef.Name(Seq(name)), Some(0.0), dryRun = false)
      assert(tableIds(name) == forty)
      assert(onDisk(name) == spark.table(name).inputFiles.map(_.split('/').last).toSet)
      rewriteAll(openName(name), "again")
      assert(tableIds(name) == forty)
    }
  }
}

/** The step of each kind of table at which its directory or its place has just changed. */
@SameOnAllLines
class HaltSuite extends HaltTests(Seq("moved-old"), Seq("altered"))

/** All other steps. */
@LongTest
@SameOnAllLines
class EveryHaltSuite extends HaltTests(
      CrashPoints.pathCommit.filterNot(_ == "moved-old"),
      CrashPoints.managedCatalogCommit.filterNot(_ == "altered"))
