package org.apache.spark.sql.zorder.skipping.scan

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.bench.CountingFileSystem

/**
 * What a query asks of an object store for each file that it opens, by the file system of the benchmarks, which counts
 * as an S3 server does (CounterSuite of the store tests).
 */
class RequestsOfScanSuite extends AnyFunSuite with RunFixture {

  private case class Asked(files: Long, heads: Long, lists: Long, gets: Long, bytes: Long)

  private val counting =
    Seq("fs.file.impl" -> classOf[CountingFileSystem].getName, "fs.file.impl.disable.cache" -> "true")

  private def asked(at: Path, where: String, settings: (String, String)*): Asked =
    withConf(counting ++ settings: _*) {
      val query = spark.read.schema("id BIGINT, a INT, b BIGINT, s STRING, d DATE").parquet(at.toString)
        .where(where).select("id")
      CountingFileSystem.reset()
      query.collect()
      val kinds = CountingFileSystem.kinds()
      val counts = CountingFileSystem.counts()
      Asked(files = counts(0), heads = kinds(0), lists = kinds(1), gets = kinds(2), bytes = counts(2))
    }

  test("requests of the files that a look-up opens") {
    withTempDir { dir =>
      val at = dir.resolve("t")
      numbers(400000).repartition(16).write.parquet(at.toString)
      done(one(s"ZORDER TABLE '$at' BY (a, b) WITH (fileCount = 16, force = true)"))
      one(s"ZORDER INDEX '$at'")
      val range = "a BETWEEN 17 AND 19"
      val pages = asked(at, range)
      val none = asked(at, range, "parquet.filter.columnindex.enabled" -> "false")
      info(s"${spark.version}: with page indexes $pages, without $none")
      println(s"ASKED ${spark.version}: with page indexes $pages, without $none; all ${asked(at, "true")}")
      println(s"ASKED ${spark.version}: ${asked(at, "a = 17")} ${asked(at, "a = 17", "parquet.filter.columnindex.enabled" -> "false")}")
      println(s"ASKED ${spark.version}: vectored ${asked(at, range, "parquet.hadoop.vectored.io.enabled" -> "false")}")
    }
  }
}
