package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.{CrashPoints, Halt, RebaseVictim, StatementVictim, Victims}
import sparkzorder.mark.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements on Iceberg tables in JVMs that are halted before, at and after the commit. */
@SameOnAllLines
@LongTest
class IcebergHaltSuite extends AnyFunSuite with IcebergFixture {
  private val rebases =
    Seq(2 -> CrashPoints.rebased(CrashPoints.iceberg), 3 -> CrashPoints.marked(CrashPoints.iceberg))
  private def named(text: String): String = "ice.db." + text.replace('-', '_').replace(':', '_')
  private def table(point: String): String = named(point)
  private def rebased(point: String, version: Int): String = named(s"rebased_${version}_$point")

  override def beforeAll(): Unit = {
    super.beforeAll()
    val settings = Seq("spark.sql.extensions", "spark.sql.catalog.ice", "spark.sql.catalog.ice.type") :+
      "spark.sql.catalog.ice.warehouse"
    val same = settings.map(key => s"$key=${spark.conf.get(key)}")
    def run(t: String) = s"ZORDER TABLE $t BY (a, b) WITH (fileCount = 4, force = true)"
    val first = CrashPoints.iceberg.map { point =>
      made(table(point), "")
      Halt(point, StatementVictim, run(table(point)) +: same)
    }
    val second =
      for ((version, points) <- rebases; point <- points) yield {
        val t = rebased(point, version)
        made(
          t,
          s"TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = 'merge-on-read')")
        Halt(point, RebaseVictim, run(t) +: s"DELETE FROM $t WHERE id < 10" +: same)
      }
    Victims.run(first ++ second)
  }

  private def made(t: String, properties: String): Unit = {
    create(t.stripPrefix("ice.db."), "id BIGINT, a INT, b INT", properties)
    fill(t, 2000, 6, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
  }

  for (point <- CrashPoints.iceberg)
    test(s"the JVM halted at $point") { survives(table(point), 0, point) }

  for ((version, points) <- rebases; point <- points)
    test(s"the JVM halted at $point, after others removed rows, version $version") {
      survives(rebased(point, version), 10, point)
    }

  /**
   * The table has its rows before and after a vacuum and the next run; no data file is left in its directory that no
   * snapshot has.
   *
   * @param first
   *   the first row that nobody has removed
   */
  private def survives(t: String, first: Long, point: String): Unit = {
    val rows = spark.range(first, 2000).selectExpr("id", "int(hash(id)) AS a", "int(id % 97) AS b")
    def whole(): Unit = {
      sql(s"REFRESH TABLE $t")
      assert(spark.table(t).exceptAll(rows).isEmpty && spark.table(t).count() == 2000 - first)
    }
    whole()
    assert(filesOf(t).size == (if (point == "iceberg-committed") 4 else 6))
    vacuumAll(t)
    whole()
    assert(filesOnDisk(t).filterNot(_.contains("-deletes")) == filesOf(t).map(_.split('/').last))
    assert(vectorsOnDisk(t).subsetOf(vectorsOf(t)))
    assert(status(cluster(t, "b, a", "WITH (fileCount = 8, force = true)")) == "DONE")
    whole()
  }
}
