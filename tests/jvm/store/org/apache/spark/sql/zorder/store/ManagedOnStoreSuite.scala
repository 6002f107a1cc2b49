package org.apache.spark.sql.zorder.store

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.CrashPoints
import sparkzorder.{LongTest, Steps}

/** Managed tables of a database on an object store: refused where a directory would be renamed, else as anywhere. */
class ManagedOnStoreSuite extends AnyFunSuite with StoreFixture with BeforeAndAfterEach with Steps {

  private var at = ""

  override def beforeEach(): Unit = {
    super.beforeEach()
    at = place("lake")
    sql(s"CREATE DATABASE lake LOCATION '$at'")
    ()
  }

  override def afterEach(): Unit = {
    sql("DROP DATABASE lake CASCADE")
    super.afterEach()
  }

  private def make(partitioned: Boolean): Unit = {
    val written = numbers(0, 4000).write
    (if (partitioned) written.partitionBy("p") else written).saveAsTable("lake.t")
  }

  test("without partitions it is refused before any work, with the way out; INTO works") {
    make(partitioned = false)
    val before = beside(s"$at/t")
    val said = refused("ZORDER TABLE lake.t BY (a, b) WITH (fileCount = 4, force = true)")
    assert(
      said.contains("managed table on an object store") && said.contains("INTO") && said.contains("EXTERNAL"),
      said)
    assert(beside(s"$at/t") === before && ids("lake.t") === (0L until 4000))
  }

  test("with partitions every statement keeps the rows, and Spark's own find their files", LongTest) {
    make(partitioned = true)
    step("a run") {
      done(cluster("lake.t"))
      assert(ids("lake.t") === (0L until 4000))
    }
    step("a run of appended rows") {
      append("lake.t", 4000, 5000)
      done(cluster("lake.t"))
      assert(ids("lake.t") === (0L until 5000))
    }
    step("a rollback") {
      one("ZORDER ROLLBACK lake.t")
      assert(ids("lake.t") === (0L until 5000))
    }
    step("a vacuum") {
      sql("ZORDER VACUUM lake.t RETAIN 0 HOURS").collect()
      assert(ids("lake.t") === (0L until 5000))
    }
    step("overwritten whole") {
      numbers(0, 100).write.mode("overwrite").partitionBy("p").saveAsTable("lake.t")
      assert(ids("lake.t") === (0L until 100))
    }
    step("DROP takes all that lies in the directory") {
      done(cluster("lake.t"))
      sql("DROP TABLE lake.t")
      assert(beside(s"$at/t").filter(_.startsWith("t/")) === Nil)
    }
  }

  for (point <- CrashPoints.managedCommitByCopies)
    test(s"with partitions: a run that dies at $point", LongTest) {
      make(partitioned = true)
      assert(crashAt(point)(cluster("lake.t")), "the point was not reached")
      sql("ZORDER VACUUM lake.t RETAIN 0 HOURS").collect()
      assert(ids("lake.t") === (0L until 4000), "after recovery")
      cluster("lake.t")
      sql("ZORDER VACUUM lake.t RETAIN 0 HOURS").collect()
      assert(ids("lake.t") === (0L until 4000), "after the next run")
      assert(beside(s"$at/t").count(_.endsWith(".parquet")) === spark.table("lake.t").inputFiles.length)
    }
}
