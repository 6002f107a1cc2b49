package org.apache.spark.sql.zorder.store

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.CrashPoints
import sparkzorder.LongTest

/** A crash at every step of a commit: the rows are all there at once, and the next statement finishes or withdraws it. */
class CrashOnStoreSuite extends AnyFunSuite with StoreFixture {

  for {
    partitioned <- Seq(false, true)
    point <- if (partitioned) CrashPoints.partitionedCatalogCommit else CrashPoints.catalogCommit
  } {
    val kind = if (partitioned) "partitioned" else "without partitions"
    val tags = LongTest.unless(point == "altered")

    test(s"a table $kind: a run that dies at $point", tags: _*) {
      withTable(partitioned) { (name, at) =>
        assert(crashAt(point)(cluster(name)), "the point was not reached")
        whole(name, at, 4000)
      }
    }

    test(s"a table $kind: a rollback that dies at $point", LongTest) {
      withTable(partitioned) { (name, at) =>
        done(cluster(name))
        append(name, 4000, 4100)
        assert(crashAt(point)(one(s"ZORDER ROLLBACK $name")), "the point was not reached")
        whole(name, at, 4100)
      }
    }
  }

  test("a second crash in the recovery from the first", LongTest) {
    withTable(partitioned = true) { (name, at) =>
      assert(crashAt("altered")(cluster(name)))
      Seq("state-moved", "done").foreach(p => crashAt(p)(sql(s"ZORDER VACUUM $name").collect()))
      whole(name, at, 4000)
    }
  }

  for (point <- Seq("vacuum-deleted", "removed-state", "late-copied"))
    test(s"maintenance that dies at $point", LongTest) {
      withTable(partitioned = false) { (name, at) =>
        done(cluster(name))
        numbers(4000, 4100, files = 1).write.mode("append").parquet(at)
        def maintained(): Unit = {
          sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
          sql(s"ZORDER REMOVE $name STAY").collect()
          ()
        }
        assert(crashAt(point)(maintained()), "the point was not reached")
        maintained()
        whole(name, at, 4100)
      }
    }

  private def whole(name: String, at: String, rows: Long): Unit = {
    spark.catalog.refreshTable(name)
    assert(ids(name) === (0L until rows), "before recovery")
    sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
    assert(ids(name) === (0L until rows), "after recovery")
    val row = cluster(name)
    assert(Set("DONE", "NOTHING_TO_DO")(row.getAs[String]("status")), row.getAs[String]("reason"))
    sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
    assert(ids(name) === (0L until rows), "after the next run")
    val live = spark.table(name).inputFiles.toSet
    val data = beside(at).filter(o => o.endsWith(".parquet"))
    assert(data.size === live.size, "data files that no vacuum takes away")
    assert(beside(at).filter(_.contains("__magic")) === Nil)
  }
}
