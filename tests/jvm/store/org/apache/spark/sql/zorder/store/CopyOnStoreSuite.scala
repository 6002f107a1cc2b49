package org.apache.spark.sql.zorder.store

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.storage.{ClaimFile, CrashPoint, RunClaim}

/** Statements that leave a path on an object store as it is, and what they say where one would change it. */
class CopyOnStoreSuite extends AnyFunSuite with StoreFixture {

  private val by = "BY (a, b) WITH (fileCount = 4, force = true)"

  private def readIds(at: String): Seq[Long] =
    spark.read.parquet(at).select("id").collect().map(_.getLong(0)).toSeq.sorted

  test("a path is refused in place, with the way out") {
    val at = place("path")
    numbers(0, 4000).write.parquet(at)
    val said = refused(s"ZORDER TABLE '$at' $by")
    assert(
      said.contains("on an object store") && said.contains("INTO") && said.contains("CREATE TABLE"),
      said)
  }

  test("a dry run on a path forecasts and writes nothing") {
    val at = place("path")
    numbers(0, 4000).write.parquet(at)
    val made = requests(assert(one(s"ZORDER TABLE '$at' $by DRY RUN").getAs[String]("status") === "DRY_RUN"))
    assert(made.map(_.action).toSet.intersect(StoreFixture.writing) === Set.empty)
  }

  test("a path has an index, an audit and advice: its files stay as they are") {
    val at = place("path")
    numbers(0, 4000).write.parquet(at)
    val before = fs.listStatus(new Path(at)).map(_.getPath.getName).filter(_.endsWith(".parquet")).toSet
    assert(one(s"ZORDER INDEX '$at'").getAs[String]("status") === "INDEXED")
    val scan = sql(s"ZORDER EXPLAIN SELECT * FROM parquet.`$at` WHERE id = 17").collect().head
    assert(scan.getAs[Long]("kept") === 1, scan)
    assert(sql(s"SELECT * FROM clustering_information('$at', 'a, b')").count() > 0)
    assert(sql(s"SELECT * FROM clustering_advice('$at')").count() > 0)
    val after = fs.listStatus(new Path(at)).map(_.getPath.getName).filter(_.endsWith(".parquet")).toSet
    assert(after === before && readIds(at) === (0L until 4000))
  }

  test("a copy of a path is made INTO another one, and of a local table too") {
    val (from, to) = (place("path"), place("copy"))
    numbers(0, 4000).write.partitionBy("p").parquet(from)
    val before = beside(from)
    val made = requests(done(one(s"ZORDER TABLE '$from' $by INTO '$to'")))
    assert(made.filter(_.action == "CopyObject") === Nil)
    assert(beside(from) === before && readIds(to) === (0L until 4000))
    assert(sql(s"SELECT * FROM zorder_history('$to')").count() === 1)

    numbers(0, 4000).write.saveAsTable("here")
    try {
      val other = place("copy")
      done(one(s"ZORDER TABLE here $by INTO '$other'"))
      assert(readIds(other) === (0L until 4000))
      assert(refused(s"ZORDER TABLE here $by INTO '$other'").contains("is not empty"))
    } finally sql("DROP TABLE here")
  }

  test("a copy to a place where another run is writing one is refused") {
    val (from, to) = (place("path"), place("copy"))
    numbers(0, 4000).write.parquet(from)
    val copy = s"ZORDER TABLE '$from' $by INTO '$to'"
    val other = RunClaim.take(ClaimFile.beside(fs, new Path(to)).get, to, "the other", skipIfRunning = false)
    try assert(refused(copy).contains(s"The run the other is writing a copy to $to"))
    finally other.foreach(_.close())
    done(one(copy))
    assert(readIds(to) === (0L until 4000))
    assert(beside(to).forall(!_.contains("claim")))
  }

  test("what others write during a run to the place of a copy is not deleted") {
    val (from, to) = (place("path"), place("copy"))
    numbers(0, 4000).write.parquet(from)
    CrashPoint.meanwhile = at =>
      if (at == "parquet-written") numbers(4000, 4010).coalesce(1).write.mode("append").parquet(to)
    try assert(refused(s"ZORDER TABLE '$from' $by INTO '$to'").contains("Somebody wrote to"))
    finally CrashPoint.meanwhile = _ => ()
    assert((4000L until 4010).toSet.subsetOf(readIds(to).toSet))
  }
}
