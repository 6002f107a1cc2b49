package org.apache.spark.sql.zorder.skipping.index

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.nio.file.Files
import java.util.BitSet

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.BloomBudget
import org.apache.spark.sql.zorder.stats.bloom.{BloomKey, BloomProbe, SplitBlockBloom}
import org.apache.spark.util.Utils
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Condition, Interval}
import sparkzorder.mark.SameOnAllLines

/** Filters written block by block and asked, beside the sets that they were made of. */
@SameOnAllLines
class ColumnBloomsSuite extends AnyFunSuite {
  private val fs = FileSystem.getLocal(new Configuration())

  private def withDir(body: Path => Unit): Unit = {
    val dir = Files.createTempDirectory("zorder-bloom-")
    try body(new Path(dir.toUri))
    finally Utils.deleteRecursively(dir.toFile)
  }

  private def filter(
      key: BloomKey,
      values: Seq[NormalizedValue],
      dataType: DataType,
      blocks: Int): Array[Int] = {
    val bloom = new SplitBlockBloom(new Array[Int](blocks * 8))
    values.map(key.probe(_, dataType)).collect { case BloomProbe.Hash(h) => bloom.insert(h) }
    bloom.words
  }

  private def all(files: Int): BitSet = {
    val set = new BitSet()
    set.set(0, files)
    set
  }

  private def blooms(
      dir: Path,
      dataType: DataType,
      segments: Seq[BloomSegment],
      failed: Throwable => Unit = e => throw e): ColumnBlooms =
    new ColumnBlooms(
      ColumnSegments(segments, Array.emptyIntArray),
      dataType,
      new BloomFiles(fs, dir),
      failed)

  test("a file that holds a value is never left out, whatever the type, the sizes and the condition") {
    val random = new Random(35)
    val numbers = Seq(BloomKey.Int32, BloomKey.Int64)
    val kinds = Seq[(DataType, Seq[BloomKey])](
      IntegerType -> Seq(BloomKey.Int32),
      LongType -> numbers,
      StringType -> Seq(BloomKey.Bytes),
      TimestampType -> Seq(BloomKey.Int64, BloomKey.Millis),
      DecimalType(12, 2) -> (numbers :+ BloomKey.Fixed(6)))
    var pruned, prunable = 0
    (0 until 80).foreach { round =>
      val (dataType, keys) = kinds(round % kinds.length)
      def value(): NormalizedValue = dataType match {
        case StringType => NormalizedBytes(random.nextInt(500).toString.getBytes)
        case TimestampType => NormalizedLong(random.nextInt(500) * 1000000L)
        case _ => NormalizedLong(random.nextInt(500).toLong - 250)
      }
      val files = 1 + random.nextInt(30)
      val held = IndexedSeq.fill(files)(Seq.fill(random.nextInt(40))(value()))
      val nulls = Array.fill(files)(random.nextInt(3) - 1L)
      withDir { dir =>
        val writer = new BloomWriter(fs, dir, most = random.nextInt(3000).toLong)
        held.indices.filter(_ => random.nextInt(10) != 0).foreach { f =>
          val key = keys(random.nextInt(keys.length))
          writer.add(0, f, key, filter(key, held(f), dataType, 1 + random.nextInt(4)))
        }
        val asked = blooms(dir, dataType, writer.close().map(_._2))
        (0 until 40).foreach { _ =>
          val points = Seq.fill(1 + random.nextInt(3))(value())
          val condition = Condition.in(points).copy(orNull = random.nextInt(3) == 0)
          val found = all(files)
          (0 until files).foreach(f => if (random.nextInt(5) == 0) found.clear(f))
          val kept = asked.narrow(found.clone().asInstanceOf[BitSet], condition, nulls)
          (0 until files).foreach { f =>
            val holds = held(f).exists(points.contains) || condition.orNull && nulls(f) != 0
            if (holds) assert(kept.get(f) === found.get(f), s"round $round, file $f, $condition")
            if (kept.get(f)) assert(found.get(f))
            if (found.get(f) && !holds) prunable += 1
            if (found.get(f) && !kept.get(f)) pruned += 1
          }
        }
      }
    }
    assert(pruned > prunable * 0.6, s"$pruned of $prunable")
  }

  test("what is no list of values, or too long a one, is not asked") {
    withDir { dir =>
      val writer = new BloomWriter(fs, dir)
      writer.add(0, 0, BloomKey.Int64, new Array[Int](8))
      val empty = blooms(dir, LongType, writer.close().map(_._2))
      val nulls = Array(0L)
      def kept(c: Condition): Boolean = empty.narrow(all(1), c, nulls).get(0)
      val points = (0 to ColumnBlooms.MostPoints).map(i => NormalizedLong(i.toLong))
      assert(!kept(Condition.equal(NormalizedLong(1))))
      assert(!kept(Condition.in(points.tail)))
      assert(kept(Condition.in(points)))
      assert(kept(Condition.between(NormalizedLong(1), NormalizedLong(2))))
      assert(kept(Condition.IsNull) && kept(Condition.IsNotNull))
      assert(kept(Condition(
        IndexedSeq(Interval.point(NormalizedLong(1)), Interval(Some(NormalizedLong(5)), None)),
        orNull = false)))
    }
  }

  test("a unique id over 1,000 files of 10,000: two files are opened, for 20 KB a file") {
    withDir { dir =>
      val (files, ids) = (1000, 10000)
      val writer = new BloomWriter(fs, dir)
      (0 until files).foreach { f =>
        val bloom = new SplitBlockBloom(new Array[Int](SplitBlockBloom.blocksFor(ids.toLong) * 8))
        (0 until ids).foreach { i =>
          BloomKey.Int64.probe(NormalizedLong(i.toLong * files + f), LongType) match {
            case BloomProbe.Hash(h) => bloom.insert(h)
            case other => fail(other.toString)
          }
        }
        writer.add(0, f, BloomKey.Int64, bloom.words)
      }
      val segments = writer.close().map(_._2)
      val asked = blooms(dir, LongType, segments)
      val nulls = new Array[Long](files)
      val kept = (0 until 300).map { q =>
        val id = q * 33331L
        val found = asked.narrow(all(files), Condition.equal(NormalizedLong(id)), nulls)
        assert(found.get((id % files).toInt))
        found.cardinality
      }
      val perFile = segments.map(_.bytes).sum.toDouble / files
      info(f"mean files ${kept.sum / 300.0}%.2f, bytes a file $perFile%.0f, segments ${segments.length}")
      assert(kept.sum / 300.0 <= 3.0)
      assert(perFile <= 30 * 1024)
    }
  }

  test("a segment whose key only another version knows is left out: its files are kept") {
    assert(Seq(-1, 4, 15, 16).forall(code => BloomKey.of(code).isEmpty))
    assert(BloomKey.of(20) === Some(BloomKey.Fixed(4)))
    withDir { dir =>
      val writer = new BloomWriter(fs, dir)
      // its code is 4
      writer.add(0, 0, BloomKey.Fixed(-12), new Array[Int](8))
      writer.add(0, 1, BloomKey.Int64, new Array[Int](8))
      val stored = blooms(dir, LongType, writer.close().map(_._2))
      val bytes = new ByteArrayOutputStream()
      IndexBlooms.write(new IndexBlooms(BloomBudget.Default, Map(0 -> stored)), new DataOutputStream(bytes))
      val in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray))
      val read = IndexBlooms.read(in)((_, s) => blooms(dir, LongType, s.segments)).columns(0)
      assert(read.stored.segments.map(_.key) === Seq(BloomKey.Int64))
      val kept = read.narrow(all(2), Condition.equal(NormalizedLong(1)), new Array[Long](2))
      assert(kept.get(0) && !kept.get(1))
    }
  }

  test("of a value of another kind than the key's, nothing is said") {
    assert(BloomKey.Bytes.probe(NormalizedLong(1), StringType) === BloomProbe.Unknown)
    for (key <- Seq(BloomKey.Int32, BloomKey.Int64, BloomKey.Fixed(6)))
      assert(key.probe(NormalizedBytes("1".getBytes), LongType) === BloomProbe.Unknown)
  }

  test("a flipped bit, a file that is cut off or gone: the files are read, and it is told") {
    withDir { dir =>
      val writer = new BloomWriter(fs, dir)
      (0 until 10).foreach(f =>
        writer.add(0, f, BloomKey.Int64, filter(BloomKey.Int64, Seq(NormalizedLong(f.toLong)), LongType, 4)))
      val segments = writer.close().map(_._2)
      val file = java.nio.file.Paths.get(new Path(dir, segments.head.file).toUri)
      val bytes = Files.readAllBytes(file)
      Files.delete(file.resolveSibling(s".${file.getFileName}.crc"))
      def kept(): (Int, Boolean) = {
        var told = false
        val asked = blooms(dir, LongType, segments, _ => told = true)
        (asked.narrow(all(10), Condition.equal(NormalizedLong(3)), new Array[Long](10)).cardinality, told)
      }
      assert(kept() === ((1, false)))
      // in the first piece, so that every reading of the whole sees it
      (0 until 8).foreach { bit =>
        val flipped = bytes.clone()
        flipped(8 + bit * 40) = (flipped(8 + bit * 40) ^ (1 << bit)).toByte
        Files.write(file, flipped)
        assert(kept() === ((10, true)))
      }
      Files.write(file, bytes.take(bytes.length - 3))
      assert(kept() === ((10, true)))
      Files.delete(file)
      assert(kept() === ((10, true)))
    }
  }
}
