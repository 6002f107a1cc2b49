package org.apache.spark.sql.zorder.store

import java.nio.file.Files

import org.apache.hadoop.fs.Path
import org.scalatest.concurrent.Eventually.eventually
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.sql.DataFrame
import org.apache.spark.util.Utils
import sparkzorder.bench.CountingFileSystem
import sparkzorder.mark.LongTest

/**
 * The file system that benchmarks count by says of a query what the S3 server's log says of it: the files of a table
 * are copied to the local disk, and both copies are asked.
 */
@LongTest
class CounterSuite extends AnyFunSuite with StoreFixture {

  /** A look for an index would be asked of one of the two places only. */
  override protected def settings: Map[String, String] = Map("spark.zorder.skipping.enabled" -> "false")

  private val kinds = Seq("HeadObject", "ListObjectsV2", "GetObject")

  private val onDisk = Map(
    "fs.file.impl" -> classOf[CountingFileSystem].getName,
    "fs.file.impl.disable.cache" -> "true")

  /** The server answers before it logs: all of it is there when a later request is. */
  private def settled(): Unit = {
    val last = new Path(place("last"))
    fs.exists(last)
    eventually(Timeout(Span(20, Seconds))) {
      assert(S3Server.requests().exists(_.key.contains(last.getParent.getName)))
    }
    // those beside it
    Thread.sleep(300)
  }

  private def logged(query: => Any): Seq[Long] = {
    settled()
    val made = requests {
      query
      settled()
    }.filterNot(_.key.contains("last"))
    assert(made.map(_.action).toSet.subsetOf(kinds.toSet))
    kinds.map(kind => made.count(_.action == kind).toLong)
  }

  private def counted(query: => Any): Seq[Long] = {
    onDisk.foreach { case (key, value) => spark.conf.set(key, value) }
    try {
      CountingFileSystem.reset()
      query
      CountingFileSystem.kinds().toList
    } finally onDisk.keys.foreach(spark.conf.unset)
  }

  private val queries = Seq[(String, DataFrame => DataFrame)](
    "all columns" -> (d => d),
    "one column" -> (_.select("b")),
    "two columns apart" -> (_.select("id", "p")),
    "a range, whose pages are few" -> (_.where("a BETWEEN 17 AND 19").select("id")),
    "nothing" -> (_.where("b = -1").select("id")))

  test("as many HEADs, LISTs and GETs as the server has logged") {
    val at = place("counted")
    // so many rows that a reader skips more in a file than what S3A reads ahead
    numbers(0, 800000, files = 2).write.parquet(at)
    sql(s"CREATE TABLE counted (id BIGINT, a INT, b BIGINT, p BIGINT) USING parquet LOCATION '$at'")
    done(one("ZORDER TABLE counted BY (a, b) WITH (fileCount = 4, force = true, location = 'move')"))
    val now = sql("DESCRIBE FORMATTED counted").where("col_name = 'Location'").head().getString(1)
    val disk = Files.createTempDirectory("zorder-counted-")
    try {
      val copy = disk.resolve("t")
      fs.copyToLocalFile(false, new Path(now), new Path(copy.toUri), true)
      val schema = spark.table("counted").schema
      val (s3, local) = (spark.read.schema(schema).parquet(now), spark.read.schema(schema).parquet(s"$copy"))
      val seen = queries.map { case (name, query) =>
        (name, logged(query(s3).collect()), counted(query(local).collect()))
      }
      seen.foreach { case (name, log, count) =>
        info(s"$name: ${kinds.zip(log).mkString(", ")}; counted $count")
      }
      assert(seen.map(s => s._1 -> s._2) === seen.map(s => s._1 -> s._3))
      // with the listing of the directory and a schema from a footer
      assert(logged(spark.read.parquet(now)) === counted(spark.read.parquet(s"$copy")))
    } finally {
      sql("DROP TABLE counted")
      Utils.deleteRecursively(disk.toFile)
    }
  }
}
