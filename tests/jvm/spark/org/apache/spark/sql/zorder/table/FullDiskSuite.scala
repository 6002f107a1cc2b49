package org.apache.spark.sql.zorder.table

import java.nio.file.Path

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.ZOrderException
import org.apache.spark.sql.zorder.run.RunFixture

/** Runs on plain Parquet whose writes fail: in a task that Spark tries again, or for ever. */
class FullDiskSuite extends AnyFunSuite with RunFixture with BeforeAndAfterAll {

  private var session: SparkSession = _
  override protected def spark: SparkSession = session

  override def beforeAll(): Unit = {
    SparkSession.getDefaultSession.foreach(_.stop())
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    session = Faults.builder().config("spark.zorder.commit.waitSeconds", "0.3").getOrCreate()
    SparkSession.setActiveSession(session)
    super.beforeAll()
  }

  override def afterAll(): Unit = {
    session.stop()
    super.afterAll()
  }

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

  // the sizes of data files, of journals and of records, and nothing
  for ((within, room) <- Seq(".new/part-", ".new/_temporary", ".zorder-", ".json", "_zorder").flatMap(w => Seq(w -> 0L, w -> 300L, w -> 3000L)))
    test(s"no room in $within after $room bytes: a sentence, the rows as they were, and the next run works") {
      withTempDir { dir =>
        val path = table(dir)
        keepsRows(path) {
          var failed = false
          val struck = Faults.during(Faults.FullDisk(room, within)) {
            try done(zorder(path, by))
            catch {
              case e: ZOrderException =>
                failed = true
                assert(e.getMessage.contains("No space left on device"), e.getMessage)
                assert(!e.getMessage.trim.contains('\n'), e.getMessage)
            }
          }
          assert(struck === failed, "a write that failed was not said")
        }
        keepsRows(path)(done(zorder(path, by)))
        keepsRows(path)(vacuum(s"'$path'"))
        assert(traces(path) === Set.empty && dataFiles(path).size === 4)
      }
    }

  for ((within, room) <- Seq(".z", ".zorder-", "_zorder").flatMap(w => Seq(w -> 0L, w -> 300L, w -> 3000L)))
    test(s"a table of the catalog: no room in $within after $room bytes") {
      withTable("full") {
        numbers(2000).write.format("parquet").saveAsTable("full")
        val before = spark.table("full").collect().toSet
        var failed = false
        val struck = Faults.during(Faults.FullDisk(room, within)) {
          try done(one(s"ZORDER TABLE full $by"))
          catch {
            case e: ZOrderException =>
              failed = true
              assert(e.getMessage.contains("No space left on device"), e.getMessage)
          }
        }
        assert(struck === failed, "a write that failed was not said")
        assert(spark.table("full").collect().toSet === before)
        done(one(s"ZORDER TABLE full $by"))
        vacuum("full")
        assert(spark.table("full").collect().toSet === before && spark.table("full").count() === 2000)
      }
    }
}
