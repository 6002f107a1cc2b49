package org.apache.spark.sql.zorder.skipping

import java.io.InterruptedIOException
import java.nio.ByteBuffer
import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.concurrent.{Executors, TimeUnit}
import java.util.zip.CRC32

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.hadoop.fs.{FSDataInputStream, RawLocalFileSystem}
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.{UncompiledQueries, ZOrderSession}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.index.{
  FileColumn,
  IndexFile,
  IndexStore,
  LoadedIndexes,
  StatisticsIndex
}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.curve.NormalizedLong
import sparkzorder.mark.SameOnAllLines

/** Whatever becomes of the files and of the index between two queries, no query misses a row. */
@SameOnAllLines
class IndexUnderChangeSuite extends AnyFunSuite with UncompiledQueries {

  private def file(i: Long, from: Long, rows: Long = 100): Path = {
    val dir = Files.createTempDirectory("zorder-file-")
    spark.range(from, from + rows, 1, 1).selectExpr("id", s"id % 7 + $i a").write.mode("overwrite")
      .parquet(dir.toString)
    data(dir).head
  }

  private def data(dir: Path): Seq[Path] = {
    val all = Files.list(dir)
    try all.iterator.asScala.filter(_.getFileName.toString.endsWith(".parquet")).toList.sorted
    finally all.close()
  }

  private def put(source: Path, target: Path): Unit = {
    Files.move(source, target, StandardCopyOption.REPLACE_EXISTING)
    ()
  }

  private def index(path: Path): Seq[Path] = {
    val all = Files.list(path.resolve("_zorder/index"))
    try all.iterator.asScala.filter(_.getFileName.toString.startsWith("index-")).toList.sorted
    finally all.close()
  }

  /** Rows that are there before a query are in its answer; while nothing is written, there are no others. */
  private def nothingIsMissed(path: Path, at: Random, quiet: Boolean = true): Unit =
    withConf(ZOrderSession.interpreted: _*)(asked(path, at, quiet))

  private def asked(path: Path, at: Random, quiet: Boolean): Unit = {
    LoadedIndexes.forget(new org.apache.hadoop.fs.Path(path.toUri))
    val id = at.nextInt(4000).toLong
    Seq(s"id = $id", s"id BETWEEN $id AND ${id + 150}", s"a >= ${at.nextInt(40)}").foreach { where =>
      def rows: Seq[Long] =
        spark.read.parquet(path.toString).where(where).select("id").collect().map(_.getLong(0)).toSeq.sorted
      val before = withConf("spark.zorder.skipping.enabled" -> "false")(rows)
      val found = rows
      assert(before.diff(found).isEmpty && (!quiet || found === before), where)
    }
  }

  test("appended, overwritten under the same name, deleted; an index cut off by a writer that died") {
    withTempDir { dir =>
      val path = Files.createDirectory(dir.resolve("t"))
      val random = new Random(17)
      (0 until 8).foreach(i => put(file(i.toLong, i * 100L), path.resolve(s"f$i.parquet")))
      spark.sql(s"ZORDER INDEX '$path'")
      val before = SkippedScans.usage.map(_.pruned).sum
      (8 until 22).foreach { i =>
        random.nextInt(6) match {
          case 0 => put(file(i.toLong, i * 80L), path.resolve(s"f$i.parquet"))
          case 1 | 2 =>
            // the same name and often the same length, and another place of its values
            val old = data(path)(random.nextInt(data(path).length))
            put(file(i.toLong, random.nextInt(3000).toLong), old)
          case 3 if data(path).length > 3 => Files.delete(data(path)(random.nextInt(data(path).length)))
          case 4 =>
            val newest = index(path).last
            Files.write(newest, Files.readAllBytes(newest).take(random.nextInt(200)))
          case _ => spark.sql(s"ZORDER INDEX '$path'")
        }
        nothingIsMissed(path, random)
      }
      assert(SkippedScans.usage.map(_.pruned).sum > before)
    }
  }

  test("several writers of the index at once, while files come: the newest whole index counts", LongTest) {
    withTempDir { dir =>
      val path = Files.createDirectory(dir.resolve("t"))
      (0 until 4).foreach(i => put(file(i.toLong, i * 100L), path.resolve(s"f$i.parquet")))
      spark.sql(s"ZORDER INDEX '$path'")
      val pool = Executors.newFixedThreadPool(3)
      try {
        val more = (4 until 10).map(i => file(i.toLong, i * 100L) -> path.resolve(s"f$i.parquet"))
        val work = more.map { case (made, target) => () => put(made, target) } ++
          Seq.fill(4)(() => { spark.sql(s"ZORDER REFRESH INDEX '$path'").collect(); () })
        val done = new Random(3).shuffle(work).map(w => pool.submit[Unit](() => w()))
        val queries = new Random(5)
        (0 until 5).foreach(_ => nothingIsMissed(path, queries, quiet = false))
        done.foreach(_.get(120, TimeUnit.SECONDS))
      } finally pool.shutdownNow()
      spark.sql(s"ZORDER REFRESH INDEX '$path'")
      nothingIsMissed(path, new Random(7))
      assert(spark.sql(s"ZORDER DESCRIBE INDEX '$path'").head().getAs[Long]("files") === 10)
    }
  }

  test("a refresh begins again from an index that is made meanwhile, and makes none that is dropped") {
    withTempDir { dir =>
      val path = Files.createDirectory(dir.resolve("t"))
      (0 until 2).foreach(i => put(file(i.toLong, i * 100L), path.resolve(s"f$i.parquet")))
      def refreshed(meanwhile: String): String = {
        CrashPoint.meanwhile = at =>
          if (at == "index-built") {
            CrashPoint.meanwhile = _ => ()
            spark.sql(meanwhile).collect()
            ()
          }
        try spark.sql(s"ZORDER REFRESH INDEX '$path'").head().getAs[String]("status")
        finally CrashPoint.meanwhile = _ => ()
      }
      def columns: Seq[String] =
        spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[String]("column")).toSeq
      spark.sql(s"ZORDER INDEX '$path'")
      // a writer that died
      Files.write(path.resolve("_zorder/index/index-7"), Array[Byte](1, 2, 3))
      assert(refreshed(s"ZORDER INDEX '$path' COLUMNS (a) WITH (bloom = 'a')") === "REFRESHED")
      assert(columns === Seq("a"))
      assert(refreshed(s"ZORDER DROP INDEX '$path'") === "NOTHING_TO_DO")
      assert(!Files.exists(path.resolve("_zorder/index")))
      // a new index has the number of the one before
      spark.sql(s"ZORDER INDEX '$path' COLUMNS (id)").collect()
      val again = s"ZORDER INDEX '$path' COLUMNS (a)"
      CrashPoint.meanwhile = at =>
        if (at == "index-built") {
          CrashPoint.meanwhile = _ => ()
          spark.sql(s"ZORDER DROP INDEX '$path'").collect()
          spark.sql(again).collect()
          ()
        }
      try assert(spark.sql(s"ZORDER REFRESH INDEX '$path'").head().getAs[String]("status") === "REFRESHED")
      finally CrashPoint.meanwhile = _ => ()
      assert(columns === Seq("a"))
    }
  }

  test("an index that is dropped while a run exchanges partitions stays dropped") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(4000).selectExpr("id", "pmod(hash(id), 100) AS a", "id % 2 AS p").write.partitionBy("p")
        .parquet(path.toString)
      def run(): Unit = {
        val rows =
          spark.sql(s"ZORDER TABLE '$path' FULL BY (id, a) WITH (fileCount = 4)").collect()
        assert(rows.head.getAs[String]("status") === "DONE")
      }
      spark.sql(s"ZORDER INDEX '$path'").collect()
      run()
      assert(Files.exists(path.resolve("_zorder/index")))
      CrashPoint.meanwhile = at =>
        if (at == "prepared") {
          CrashPoint.meanwhile = _ => ()
          spark.sql(s"ZORDER DROP INDEX '$path'").collect()
          ()
        }
      try run()
      finally CrashPoint.meanwhile = _ => ()
      assert(!Files.exists(path.resolve("_zorder/index")))
    }
  }

  test("an index with a flipped bit, which the disk's own checksums find, is made anew") {
    withTempDir { dir =>
      val path = Files.createDirectory(dir.resolve("t"))
      (0 until 2).foreach(i => put(file(i.toLong, i * 100L), path.resolve(s"f$i.parquet")))
      spark.sql(s"ZORDER INDEX '$path'").collect()
      val bytes = Files.readAllBytes(index(path).last)
      bytes(20) = (bytes(20) ^ 1).toByte
      Files.write(index(path).last, bytes)
      assert(Files.exists(path.resolve("_zorder/index/.index-1.crc")))
      nothingIsMissed(path, new Random(1))
      assert(spark.sql(s"ZORDER INDEX '$path'").head().getAs[String]("status") === "INDEXED")
      assert(spark.sql(s"ZORDER DESCRIBE INDEX '$path'").head().getAs[Long]("files") === 2)
    }
  }

  /** The bytes of an index as another version writes them, by rules of that number; None where it knows none. */
  private def by(rules: Option[Int], of: StatisticsIndex): Array[Byte] = {
    val bytes = IndexFile.bytes(of)
    val end = bytes.length - 16
    val numbers = ByteBuffer.wrap(bytes)
    val start = end - numbers.getInt(end)
    val number = rules.fold(Array.emptyByteArray)(n => ByteBuffer.allocate(4).putInt(n).array)
    val directory = bytes.slice(start, end - 4) ++ number
    val sum = new CRC32()
    sum.update(directory, 0, directory.length)
    val trailer = ByteBuffer.allocate(16).putInt(directory.length).putInt(sum.getValue.toInt)
      .putLong(numbers.getLong(end + 8)).array
    bytes.take(start) ++ directory ++ trailer
  }

  test("an index by older rules is not believed and made anew, and one by later rules is unreadable") {
    withTempDir { dir =>
      val path = Files.createDirectory(dir.resolve("t"))
      val root = new org.apache.hadoop.fs.Path(s"file:$path")
      val indexes = path.resolve("_zorder/index")
      (0 until 2).foreach(i => put(file(i.toLong, i * 100L), path.resolve(s"f$i.parquet")))
      spark.sql(s"ZORDER INDEX '$path' WITH (bloom = 'a', bloomBudget = '900%')").collect()
      val store = IndexStore.of(Shims.classic(spark), root)
      def found(id: Int): Long = {
        LoadedIndexes.forget(root)
        spark.read.parquet(path.toString).where(s"id = $id").count()
      }
      def described(column: String): Seq[Any] =
        spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[Any](column)).toSeq
      val made = store.newest().get._2
      val narrow = FileColumn.ranges(
        LongType,
        IndexedSeq.fill(2)(FileColumn.between(NormalizedLong(0), NormalizedLong(9), 0L)))
      val wrong = new StatisticsIndex(
        made.files,
        made.columns,
        made.caseSensitive,
        (c: Int) => if (made.columns(c).sql == "id") Some(narrow) else made.rangesAt(c),
        made.blooms)
      Files.write(indexes.resolve("index-2"), by(None, wrong))
      assert(found(150) === 1)
      assert(described("files") === Seq(0, 0))
      assert(described("note").forall(_.toString.contains("an older version of spark-zorder made it")))
      val explained = spark.sql(s"ZORDER EXPLAIN SELECT * FROM parquet.`$path` WHERE id = 150").head()
      val reason = explained.getAs[String]("reason")
      assert(reason.contains("an older version of spark-zorder made the index") && !reason.contains("stale"))
      assert(spark.sql(s"ZORDER REFRESH INDEX '$path'").head().getAs[Long]("footers_read") === 2)
      assert(described("files") === Seq(2, 2) && described("bloom_files") === Seq(0, 2))
      assert(described("note") === Seq(null, null) && found(150) === 1)
      Files.write(indexes.resolve("index-9"), by(Some(1000), store.newest().get._2))
      assert(found(150) === 1)
      for (statement <- Seq("REFRESH", "DESCRIBE")) {
        val refused = intercept[ZOrderException](spark.sql(s"ZORDER $statement INDEX '$path'").collect())
        assert(refused.condition === "ZORDER_STATE_UNREADABLE.INDEX")
      }
      assert(spark.sql(s"ZORDER INDEX '$path'").head().getAs[String]("status") === "INDEXED")
      assert(described("files") === Seq(2, 2))
    }
  }

  test("an index that cannot be read once is read again") {
    withTempDir { dir =>
      withConf("fs.brittle.impl" -> classOf[BrittleFileSystem].getName) {
        val path = Files.createDirectory(dir.resolve("t"))
        (0 until 2).foreach(i => put(file(i.toLong, i * 100L), path.resolve(s"f$i.parquet")))
        val place = s"brittle://$path"
        spark.sql(s"ZORDER INDEX '$place'").collect()
        def left: Int = {
          val before = SkippedScans.usage.map(_.pruned).sum
          assert(spark.read.parquet(place).where("id = 150").count() === 1)
          (SkippedScans.usage.map(_.pruned).sum - before).toInt
        }
        LoadedIndexes.forget(new org.apache.hadoop.fs.Path(place))
        BrittleFileSystem.fails = true
        try {
          assert(left === 0)
          // who can do without it does
          val audited = spark.sql(s"ZORDER AUDIT '$place' BY (id)").collect()
          assert(audited.nonEmpty)
          assert(spark.sql(s"ZORDER INDEX '$place'").head().getAs[String]("status") === "INDEXED")
        } finally BrittleFileSystem.fails = false
        spark.sql(s"ZORDER DROP INDEX '$place'").collect()
        spark.sql(s"ZORDER INDEX '$place'").collect()
        assert(left === 1)
        LoadedIndexes.forget(new org.apache.hadoop.fs.Path(place))
        BrittleFileSystem.fails = true
        try assert(left === 0)
        finally BrittleFileSystem.fails = false
        eventually(timeout(Span(20, Seconds)), interval(Span(1, Seconds)))(assert(left === 1))
      }
    }
  }
}

/** The local disk, where index files cannot be opened for a while. */
final class BrittleFileSystem extends RawLocalFileSystem {
  override def getUri: java.net.URI = java.net.URI.create("brittle:///")
  override def getScheme: String = "brittle"
  override def open(file: org.apache.hadoop.fs.Path, bufferSize: Int): FSDataInputStream = {
    if (file.getName.startsWith("index-") && BrittleFileSystem.fails)
      throw new InterruptedIOException("read failed")
    super.open(file, bufferSize)
  }
}

object BrittleFileSystem {
  @volatile var fails: Boolean = false
}
