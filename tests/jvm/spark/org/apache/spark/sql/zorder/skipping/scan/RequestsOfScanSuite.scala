package org.apache.spark.sql.zorder.skipping.scan

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.SameOnAllLines
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

  private val look = "a BETWEEN 17 AND 19"
  private val PageIndexes = "parquet.filter.columnindex.enabled"

  private def table(dir: Path, files: Int): Path = {
    val at = dir.resolve(s"t$files")
    numbers(400000).repartition(16).write.parquet(at.toString)
    done(one(s"ZORDER TABLE '$at' BY (a, b) WITH (fileCount = $files, force = true)"))
    one(s"ZORDER INDEX '$at'")
    // the first query loads the index
    asked(at, look)
    at
  }

  test("requests of the files that a look-up opens") {
    withTempDir { dir =>
      val at = table(dir, files = 16)
      val pages = asked(at, look, PageIndexes -> "true")
      val chunks = asked(at, look)
      info(s"Spark ${spark.version}: $chunks; with page indexes $pages")
      assert(pages.files === 4 && chunks.files === 4)
      // Spark 3.5 opens a file for its footer and again for its rows, and looks for it before each
      val opens = if (spark.version.startsWith("3.5")) 4 else 1
      assert(pages.heads === opens * pages.files && chunks.heads === opens * chunks.files)
      // the length of the footer, the footer, two columns that lie apart
      assert(chunks.gets <= 4 * chunks.files)
      assert(pages.gets > chunks.gets && pages.bytes < chunks.bytes)
    }
  }

  test(
    "page indexes are read where files have more than a few pages, or somebody wants it so",
    SameOnAllLines) {
    withTempDir { dir =>
      val at = table(dir, files = 2)
      val pages = asked(at, look, PageIndexes -> "true")
      assert(asked(at, look) === pages)
      assert(pages.bytes < asked(at, look, PageIndexes -> "false").bytes)
    }
  }
}
