package org.apache.spark.sql.zorder.table

import java.io.IOException

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.parquet.journal.JournalState
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.mark.SameOnAllLines

/** Commits to the catalog that fail before the alteration, in the middle of it, or after it took effect. */
@SameOnAllLines
class FailedAlterSuite extends AnyFunSuite with TableFixture with BeforeAndAfterEach {

  override def afterEach(): Unit = CrashPoint.meanwhile = _ => ()

  /** Not an answer of the catalog, or of the file system, at this place, once. */
  private def failAt(place: String): Unit = CrashPoint.meanwhile = at =>
    if (at == place) {
      CrashPoint.meanwhile = _ => ()
      throw new IOException("Injected: no answer")
    }

  private val forty = 0L until 40L

  for {
    partitioned <- Seq(false, true)
    places = if (partitioned) CrashPoints.managedCatalogCommit else CrashPoints.catalogCommit
    place <- places
  } test(s"no answer at $place, ${if (partitioned) "partitioned" else "one directory"}") {
    val name = s"t_${place.replace('-', '_')}_$partitioned"
    saved(name, if (partitioned) "managed partitioned" else "external")
    moves(name)
    val table = openName(name)
    val before = table.files()
    val r = stage(table, before, "r1")
    failAt(place)
    val tookPlace = places.indexOf(place) >= places.indexOf("altered")
    if (tookPlace) r.commit()
    else {
      val said = intercept[ZOrderException](r.commit()).getMessage
      assert(said.contains("Injected") && said.contains("nothing was changed"), said)
    }
    assert(tableIds(name) == forty)
    assert((openName(name).files() == before) != tookPlace)
    assert(openName(name).state.runs().map(_.runId) == (if (tookPlace) Seq("r1") else Nil))
    Maintenance.vacuum(classic, TableRef.Name(Seq(name)), Some(0.0), dryRun = false)
    assert(tableIds(name) == forty)
    val left = listed(temp.resolve("warehouse").toString).map(_.getName)
    assert(!left.exists(_.startsWith(s".$name.")))
  }

  for {
    partitioned <- Seq(false, true)
    arrives <- Seq(true, false)
  } test(
    s"an answer that is lost: the change ${if (arrives) "comes late" else "never comes"}, $partitioned") {
    val name = s"late_${arrives}_$partitioned"
    saved(name, if (partitioned) "managed partitioned" else "external")
    moves(name)
    val table = openName(name)
    val r = stage(table, table.files(), "r1")
    failAt("asked")
    val e = intercept[ZOrderException](r.commit())
    assert(e.condition == "ZORDER_COMMIT_UNKNOWN.CATALOG" && e.getMessage.contains("Injected"), e.getMessage)
    // neither the next statement nor a vacuum takes the new files away
    Maintenance.vacuum(classic, TableRef.Name(Seq(name)), Some(0.0), dryRun = false)
    val store = openName(name).store
    val waiting = store.all().find(_.state == JournalState.Prepared).get
    assert(tableIds(name) == forty && waiting.units.forall(u => store.fs.exists(u.target)))
    def passes(ms: Long): Unit = {
      val _ = store.write(waiting.copy(changedMs = waiting.changedMs - ms))
    }
    if (arrives) {
      waiting.units.foreach { u =>
        val spec = if (partitioned) u.partition.split('/').mkString("PARTITION (", ", ", ") ") else ""
        spark.sql(s"ALTER TABLE $name ${spec}SET LOCATION '${u.target.toUri}'")
      }
      spark.catalog.refreshTable(name)
      assert(tableIds(name) == forty)
      passes(60000L)
    } else passes(25L * 3600 * 1000)
    Maintenance.vacuum(classic, TableRef.Name(Seq(name)), Some(0.0), dryRun = false)
    assert(tableIds(name) == forty)
    assert(openName(name).state.runs().map(_.runId) == (if (arrives) Seq("r1") else Nil))
    assert(arrives || waiting.units.forall(u => !store.fs.exists(u.target)))
  }
}
