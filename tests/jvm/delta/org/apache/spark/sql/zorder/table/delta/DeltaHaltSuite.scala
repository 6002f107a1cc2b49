package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.{CrashPoints, Halt, StatementVictim, Victims}
import org.apache.spark.util.Utils
import sparkzorder.mark.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements on Delta tables in JVMs that are halted before, at and after the commit. */
@SameOnAllLines
@LongTest
class DeltaHaltSuite extends AnyFunSuite with DeltaFixture {
  private val points = CrashPoints.delta.map(point => point -> (point == "delta-committed"))
  private lazy val temp = Files.createTempDirectory("zorder-halt-")
  private def table(point: String): Path = temp.resolve(point)

  override def beforeAll(): Unit = {
    super.beforeAll()
    points.foreach { case (point, _) => delta(table(point), 2000) }
    val settings = Seq(
      s"spark.sql.extensions=$deltaExtension,${ZOrderSession.extension}",
      "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
      "spark.databricks.delta.snapshotPartitions=1")
    Victims.run(points.map { case (point, _) =>
      Halt(
        point,
        StatementVictim,
        s"ZORDER TABLE '${table(point)}' BY (a, b) WITH (fileCount = 4)" +: settings)
    })
  }

  override def afterAll(): Unit = {
    Utils.deleteRecursively(temp.toFile)
    super.afterAll()
  }

  for ((point, committed) <- points) test(s"the JVM halted at $point") {
    val path = table(point)
    def whole(): Unit = assert(read(path).exceptAll(numbers(2000)).isEmpty && read(path).count() === 2000)
    whole()
    assert(files(path) === (if (committed) 4 else 6))
    withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
      spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").collect()
    }
    whole()
    assert(dataFiles(path).size === files(path))
    done(zorder(path, "FULL BY (a, b) WITH (fileCount = 8, force = true)"))
    whole()
  }
}
