package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.mark.SameOnAllLines

/** Two schedulers and one table: the work is done once. */
@SameOnAllLines
class SkipIfRunningSuite extends AnyFunSuite with RunFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true"

  private def claim(path: Path): Path = path.resolveSibling(s".${path.getFileName}.claim-zorder")

  test("a run with skipIfRunning ends before any work while another is at work, and leaves its claim alone") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).write.parquet(path.toString)
      var second: (String, Seq[String]) = ("", Nil)
      CrashPoint.meanwhile = place =>
        if (place == "prepared") {
          CrashPoint.meanwhile = _ => ()
          val (why, watch) = JobWatch(spark) {
            intercept[ZOrderConflictException](zorder(path, s"$run, skipIfRunning = true)")).getMessage
          }
          second = (why, watch.jobs)
          assert(Files.exists(claim(path)))
        }
      try done(keepsRows(path)(zorder(path, s"$run)")))
      finally CrashPoint.meanwhile = _ => ()
      assert(second._1.contains("is at work on") && second._2.isEmpty, second)
      assert(!Files.exists(claim(path)))
      assert(status(zorder(path, s"$run, skipIfRunning = true)")) === "NOTHING_TO_DO")
    }
  }

  test("the claim of a run that died is out of date after a minute, and a vacuum takes it away") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).write.parquet(path.toString)
      def left(secondsAgo: Long): Unit = {
        Files.write(claim(path), "dead".getBytes("UTF-8"))
        Files.setLastModifiedTime(
          claim(path),
          java.nio.file.attribute.FileTime.fromMillis(System.currentTimeMillis - secondsAgo * 1000))
        ()
      }
      left(1)
      refused(path, s"ZORDER TABLE '$path' $run, skipIfRunning = true)", "run dead is at work")
      spark.sql(s"ZORDER VACUUM '$path'").collect()
      assert(Files.exists(claim(path)))
      left(100)
      done(zorder(path, s"$run, skipIfRunning = true)"))
      assert(!Files.exists(claim(path)))
      left(100)
      spark.sql(s"ZORDER VACUUM '$path'").collect()
      assert(!Files.exists(claim(path)))
      // who does not ask to skip is not hindered
      left(1)
      done(zorder(path, s"FULL $run)"))
    }
  }
}
