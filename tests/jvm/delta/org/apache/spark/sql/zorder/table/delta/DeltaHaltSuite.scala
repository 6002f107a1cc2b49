package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.{CrashPoints, Halt, RebaseVictim, StatementVictim, Victims}
import org.apache.spark.util.Utils
import sparkzorder.mark.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements on Delta tables in JVMs that are halted before, at and after the commit. */
@SameOnAllLines
@LongTest
class DeltaHaltSuite extends AnyFunSuite with DeltaFixture {
  private lazy val temp = Files.createTempDirectory("zorder-halt-")
  private def table(point: String): Path = temp.resolve(point)
  private def rebased(point: String): Path = temp.resolve("rebased-" + point.replace(':', '-'))

  override def beforeAll(): Unit = {
    super.beforeAll()
    val settings = Seq(
      s"spark.sql.extensions=$deltaExtension,${ZOrderSession.extension}",
      "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
      "spark.databricks.delta.snapshotPartitions=1")
    def run(path: Path) = s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 4)"
    val first = CrashPoints.delta.map { point =>
      delta(table(point), 2000)
      Halt(point, StatementVictim, run(table(point)) +: settings)
    }
    val second = CrashPoints.rebased(CrashPoints.delta).map { point =>
      val path = rebased(point)
      delta(path, 2000, Map("enableDeletionVectors" -> "true"))
      Halt(point, RebaseVictim, run(path) +: s"DELETE FROM delta.`$path` WHERE id < 10" +: settings)
    }
    Victims.run(first ++ second)
  }

  override def afterAll(): Unit = {
    Utils.deleteRecursively(temp.toFile)
    super.afterAll()
  }

  for (point <- CrashPoints.delta)
    test(s"the JVM halted at $point") { survives(table(point), numbers(2000), 2000, point) }

  for (point <- CrashPoints.rebased(CrashPoints.delta))
    test(s"the JVM halted at $point, after others removed rows") {
      survives(rebased(point), numbers(2000).where("id >= 10"), 1990, point)
    }

  /** The table has these rows before and after a vacuum and the next run; nothing else is left in its directory. */
  private def survives(path: Path, rows: DataFrame, n: Long, point: String): Unit = {
    def whole(): Unit = assert(read(path).exceptAll(rows).isEmpty && read(path).count() === n)
    whole()
    assert(files(path) === (if (point == "delta-committed") 4 else 6))
    withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
      spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").collect()
    }
    whole()
    assert(dataFiles(path).size === files(path))
    done(zorder(path, "FULL BY (a, b) WITH (fileCount = 8, force = true)"))
    whole()
  }
}
