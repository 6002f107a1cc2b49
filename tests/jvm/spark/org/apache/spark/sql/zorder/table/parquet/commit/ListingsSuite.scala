package org.apache.spark.sql.zorder.table.parquet.commit

import java.net.URI
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path => HadoopPath, RawLocalFileSystem}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.table.ListingFileSystem
import org.apache.spark.sql.zorder.table.parquet.files.ActiveWriters
import sparkzorder.SameOnAllLines

/** How often a run lists a directory with old files, which is a request for each on an object store. */
class ListingsSuite extends AnyFunSuite with RunFixture {
  private val by = "BY (a, b) WITH (fileCount = 4, force = true"

  /**
   * Which directories a run over a new table lists: four files, or four in each of two partitions.
   *
   * @param named
   *   whether the catalog has the table
   */
  private def listed(
      partitioned: Boolean,
      move: Boolean = false,
      named: Boolean = true): Map[String, Int] = {
    var found = Seq.empty[String]
    withTempDir { dir =>
      val at = dir.resolve("t")
      val data = numbers(4000).selectExpr("id", "a", "b", "id % 2 AS p").repartition(4)
      (if (partitioned) data.write.partitionBy("p") else data.write).parquet(at.toString)
      if (named)
        spark.sql("CREATE TABLE listings (id BIGINT, a INT, b BIGINT, p BIGINT) USING parquet " +
          (if (partitioned) "PARTITIONED BY (p) " else "") + s"LOCATION '$at'")
      val table = if (named) "listings" else s"'$at'"
      try {
        if (named && partitioned) spark.sql("MSCK REPAIR TABLE listings")
        withConf(ListingFileSystem.settings: _*) {
          found = ListingFileSystem.during {
            done(one(s"ZORDER TABLE $table $by${if (move) ", location = 'move'" else ""})"))
          }
        }
      } finally spark.sql("DROP TABLE IF EXISTS listings")
      found = found.map(kind(_, at))
    }
    found.groupBy(identity).map { case (what, all) => what -> all.size }.withDefaultValue(0)
  }

  /** `t/p=0` before the commit, `old/p=0` when it was renamed. */
  private def kind(dir: String, table: Path): String = {
    val parent = s"${table.getParent}/"
    if (dir.startsWith(parent)) dir.stripPrefix(parent).replaceFirst("^[.]t[.]old-[^/]*", "old") else ""
  }

  test("partitions that are exchanged", SameOnAllLines) {
    val counts = listed(partitioned = true)
    // to read them; before and after files are copied; right before the rename of each
    assert(counts("t/p=0") === 4, counts)
    // right after the rename: what is there is what was rewritten
    assert(counts("old/p=0") === 1, counts)
  }

  test("partitions of a path", SameOnAllLines) {
    val counts = listed(partitioned = true, named = false)
    assert(counts("t/p=0") === 4 && counts("old/p=0") === 1, counts)
  }

  test("partitions that move", SameOnAllLines) {
    // to read them; before and after files are copied; for jobs after the catalog was altered, and for their files
    val counts = listed(partitioned = true, move = true)
    assert(counts("t/p=0") === 5, counts)
  }

  // Spark lists a table without partitions when it is analysed, and when its size is asked for
  private val bySpark = 2

  test("a table that is exchanged") {
    val counts = listed(partitioned = false)
    assert(counts("t") === 4 + bySpark, counts)
    assert(counts("old") === 1, counts)
  }

  test("a path without partitions", SameOnAllLines) {
    val counts = listed(partitioned = false, named = false)
    assert(counts("t") === 4 && counts("old") === 1, counts)
  }

  test("a table that moves", SameOnAllLines) {
    val counts = listed(partitioned = false, move = true)
    assert(counts("t") === 5 + bySpark, counts)
  }

  test("partitions are listed several at a time, after what is above them") {
    withTempDir { dir =>
      val slow = new SlowFileSystem
      val dirs = (0 until 8).map(i => Files.createDirectory(dir.resolve(s"p=$i")))
      Files.write(dirs(5).resolve("a.parquet"), Array[Byte](1))
      val trees = ActiveWriters.await(
        slow,
        new HadoopPath(dir.toUri),
        dirs.map(d => new HadoopPath(d.toUri)),
        waitMs = 0)
      assert(trees.map(_.data.length) === Seq(0, 0, 0, 0, 0, 1, 0, 0))
      assert(slow.most.get > 1)
    }
  }
}

/** The local file system, which takes its time and counts how many listings it is asked for at once. */
private final class SlowFileSystem extends RawLocalFileSystem {
  initialize(URI.create("file:///"), new Configuration(false))

  private val asked = new AtomicInteger
  val most = new AtomicInteger

  override def listStatus(path: HadoopPath): Array[FileStatus] = {
    val now = asked.incrementAndGet()
    most.updateAndGet(m => math.max(m, now))
    Thread.sleep(50)
    try super.listStatus(path)
    finally {
      asked.decrementAndGet()
      ()
    }
  }
}
