package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.{CrashPoints, Halt, StatementVictim, Victims}
import sparkzorder.mark.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements on Iceberg tables in JVMs that are halted before, at and after the commit. */
@SameOnAllLines
@LongTest
class IcebergHaltSuite extends AnyFunSuite with IcebergFixture {
  private val points = CrashPoints.iceberg.map(point => point -> (point == "iceberg-committed"))
  private def table(point: String): String = s"ice.db.${point.replace('-', '_')}"

  override def beforeAll(): Unit = {
    super.beforeAll()
    points.foreach { case (point, _) =>
      create(table(point).stripPrefix("ice.db."), "id BIGINT, a INT, b INT")
      fill(table(point), 2000, 6, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    }
    val settings = Seq("spark.sql.extensions", "spark.sql.catalog.ice", "spark.sql.catalog.ice.type") :+
      "spark.sql.catalog.ice.warehouse"
    val same = settings.map(key => s"$key=${spark.conf.get(key)}")
    Victims.run(points.map { case (point, _) =>
      val statement = s"ZORDER TABLE ${table(point)} BY (a, b) WITH (fileCount = 4, force = true)"
      Halt(point, StatementVictim, statement +: same)
    })
  }

  for ((point, committed) <- points) test(s"the JVM halted at $point") {
    val t = table(point)
    val rows = spark.range(0, 2000).selectExpr("id", "int(hash(id)) AS a", "int(id % 97) AS b")
    def whole(): Unit = {
      sql(s"REFRESH TABLE $t")
      assert(spark.table(t).exceptAll(rows).isEmpty && spark.table(t).count() == 2000)
    }
    whole()
    assert(filesOf(t).size == (if (committed) 4 else 6))
    sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").collect()
    whole()
    assert(filesOnDisk(t) == filesOf(t).map(_.split('/').last))
    assert(status(cluster(t, "b, a", "WITH (fileCount = 8, force = true)")) == "DONE")
    whole()
  }
}
