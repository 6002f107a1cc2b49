package org.apache.spark.sql.zorder.table

import java.nio.file.Path

import org.apache.hadoop.fs.{Path => HPath}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.zorder.OwnSession
import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.parquet.commit.ExchangeMark
import org.apache.spark.sql.zorder.table.parquet.journal.{JournalState, JournalStore}
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Runs on plain Parquet whose writes fail: in a task that Spark tries again, or for ever. */
@SameOnAllLines
class FullDiskSuite extends AnyFunSuite with RunFixture with OwnSession {

  override protected def spark: SparkSession = ownSession

  override protected def builder: SparkSession.Builder =
    Faults.builder().config("spark.zorder.commit.waitSeconds", "0.3")

  private val by = "FULL BY (a, b) WITH (fileCount = 4, force = true)"

  private def vacuum(target: String): Unit = {
    spark.sql(s"ZORDER VACUUM $target RETAIN 0 HOURS").collect()
    ()
  }

  /** What is beside the table and not its own. */
  private def traces(path: Path): Set[String] =
    listing(path).keySet.filterNot(f => f.startsWith(s"${path.getFileName}/") || f.endsWith(".crc"))

  private def table(dir: Path): Path = {
    val path = dir.resolve("t")
    numbers(2000).write.parquet(path.toString)
    path
  }

  test("a task that fails twice is tried again: the rows are exact, no file is there twice") {
    withTempDir { dir =>
      val path = table(dir)
      val struck = Faults.during(Faults.FullDisk(1000, ".zorder-", times = 2)) {
        val row = keepsRows(path)(done(zorder(path, by)))
        assert(metric[Long](row, "numFilesAdded") === 4)
      }
      assert(struck && dataFiles(path).size === 4)
      vacuum(s"'$path'")
      assert(traces(path) === Set.empty && dataFiles(path).size === 4)
    }
  }

  /** Fails with a sentence; the rows are as they were; the next run works; vacuum leaves nothing. */
  private def full(path: Path, room: Long, within: String): Boolean = keepsRows(path) {
    var failed = false
    val struck = Faults.during(Faults.FullDisk(room, within)) {
      try done(zorder(path, by))
      catch { case e: ZOrderException => failed = sentence(e.getMessage) }
    }
    assert(struck === failed, "a write that failed was not said")
    keepsRows(path)(done(zorder(path, by)))
    keepsRows(path)(vacuum(s"'$path'"))
    assert(traces(path) === Set.empty && dataFiles(path).size === 4)
    struck
  }

  private def sentence(said: String): Boolean = {
    assert(said.contains("No space left on device") && !said.trim.contains('\n'), said)
    true
  }

  test("a path: no room in data files") {
    withTempDir(dir => assert(full(table(dir), 9000L, ".new/_temporary")))
  }

  for ((what, within) <- Seq("journal" -> ".zorder-[^/]*json", "record" -> "_zorder"))
    test(s"a path: no room for its $what, wherever the disk is full", LongTest) {
      // up to a size for which there is room
      val rooms = Iterator.iterate(300L)(_ * 4)
      withTempDir(dir => assert(full(table(dir), 0L, within)))
      withTempDir(dir =>
        assert(rooms.takeWhile(room => full(table(dir.resolve(s"$room")), room, within)).size >= 1))
    }

  for ((within, room) <-
      Seq("_temporary" -> 9000L, ".zorder-[^/]*json" -> 0L, ".zorder-[^/]*json" -> 1200L, "_zorder" -> 300L))
    test(s"a table of the catalog: no room in $within after $room bytes") {
      withTable("full") {
        numbers(2000).write.format("parquet").saveAsTable("full")
        val before = spark.table("full").collect().toSet
        def whole(): Unit = {
          assert(spark.table("full").count() === 2000)
          assert(spark.table("full").collect().toSet === before)
        }
        assert(Faults.during(Faults.FullDisk(room, within)) {
          val said = intercept[ZOrderException](one(s"ZORDER TABLE full $by")).getMessage
          assert(sentence(said))
        })
        whole()
        done(one(s"ZORDER TABLE full $by"))
        vacuum("full")
        whole()
      }
    }

  for (moves <- Seq(false, true))
    test(s"a run without room for its history is done, where files ${if (moves) "move" else "stay"}") {
      withTable("full") {
        numbers(2000).selectExpr("*", "id % 2 AS p").write.format("parquet").partitionBy("p")
          .saveAsTable("full")
        if (moves) spark.sql("ALTER TABLE full SET TBLPROPERTIES ('zorder.location' = 'move')")
        val before = spark.table("full").collect().toSet
        def run() = done(one("ZORDER TABLE full FULL BY (a, b) WITH (force = true, targetFileSize = '64k')"))
        def records = spark.sql("SELECT * FROM zorder_history('full')").count()
        val said = Warnings.of("org.apache.spark.sql.zorder.table.parquet.commit.CommitHistory") {
          assert(Faults.during(Faults.FullDisk(0L, "/full/_zorder/")) { run(); () })
        }
        assert(said.nonEmpty && said.forall(_.contains("could not be written")))
        assert(!entry("full").properties.contains(ExchangeMark.Property))
        val root = new HPath(entry("full").location)
        val store = JournalStore.beside(root.getFileSystem(spark.sessionState.newHadoopConf()), root)
        // others are of tables of that name that are gone
        assert(store.all().nonEmpty && store.all().forall(_.state === JournalState.Done))
        assert(spark.table("full").collect().toSet === before && records === 0)
        run()
        assert(spark.table("full").collect().toSet === before && records === 1)
      }
    }

  private def entry(table: String): CatalogTable =
    spark.sessionState.catalog.getTableMetadata(TableIdentifier(table, Some("default")))

  for ((what, within) <-
      Seq("claim" -> "claim-zorder", "journal" -> ".zorder-[^/]*json", "record" -> "_zorder"))
    test(s"no room for a $what from the start, as the local file system says it") {
      withTempDir { dir =>
        val path = table(dir)
        keepsRows(path) {
          val struck = Faults.during(Faults.FullDisk(0L, within, local = true)) {
            // a claim is a courtesy: a run goes on without
            if (what == "claim") done(zorder(path, by))
            else assert(sentence(intercept[ZOrderException](zorder(path, by)).getMessage))
          }
          assert(struck)
          done(zorder(path, by))
        }
        if (what == "journal") keepsRows(path) {
          assert(Faults.during(Faults.FullDisk(0L, within, local = true)) {
            val said = intercept[ZOrderException](spark.sql(s"ZORDER ROLLBACK '$path'").collect()).getMessage
            assert(sentence(said) && said.contains("rollback"), said)
          })
        }
        keepsRows(path)(vacuum(s"'$path'"))
        assert(traces(path) === Set.empty && dataFiles(path).size === 4)
      }
    }
}
