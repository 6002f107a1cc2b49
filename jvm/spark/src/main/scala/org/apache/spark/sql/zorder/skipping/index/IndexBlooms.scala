package org.apache.spark.sql.zorder.skipping.index

import java.io.{DataInputStream, DataOutputStream}
import java.lang.ref.SoftReference
import java.nio.{ByteBuffer, ByteOrder}
import java.util.{BitSet, UUID}
import java.util.zip.CRC32

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, FileSystem, Path}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.conf.BloomBudget
import org.apache.spark.sql.zorder.stats.bloom.{BloomKey, BloomProbe, SplitBlockBloom}
import sparkzorder.curve.NormalizedValue
import sparkzorder.curve.cost.Condition

/**
 * The Bloom filters of an index.
 *
 * @param budget
 *   that the user has set for them
 * @param columns
 *   by the number of the column in the index
 */
final class IndexBlooms(val budget: BloomBudget, val columns: Map[Int, ColumnBlooms]) {

  def bytes: Long = columns.values.map(_.stored.bytes).sum

  /** Names of the files that hold filters. */
  def files: Set[String] = columns.values.flatMap(_.stored.segments.map(_.file)).toSet
}

object IndexBlooms {
  val None: IndexBlooms = new IndexBlooms(BloomBudget.Default, Map.empty)

  /** What the index file says of the filters: where they are, not they themselves. */
  private[skipping] def write(blooms: IndexBlooms, out: DataOutputStream): Unit = {
    out.writeUTF(blooms.budget.text)
    out.writeInt(blooms.columns.size)
    blooms.columns.toSeq.sortBy(_._1).foreach { case (column, b) =>
      out.writeInt(column)
      ints(b.stored.without, out)
      out.writeInt(b.stored.segments.length)
      b.stored.segments.foreach { s =>
        out.writeUTF(s.file)
        out.writeLong(s.offset)
        out.writeInt(s.blocks)
        out.writeInt(s.key.code)
        ints(s.files, out)
      }
    }
  }

  /**
   * Filters whose keys only another version knows are left out: their files have none.
   *
   * @param column
   *   makes the filters of the column with this number
   */
  private[skipping] def read(in: DataInputStream)(column: (
      Int,
      ColumnSegments) => ColumnBlooms): IndexBlooms = {
    val budget = BloomBudget.of("bloomBudget", in.readUTF())
    val columns = Seq.fill(in.readInt()) {
      val number = in.readInt()
      val without = readInts(in)
      val segments = Seq.fill(in.readInt()) {
        val (file, offset, blocks) = (in.readUTF(), in.readLong(), in.readInt())
        val key = BloomKey.of(in.readInt())
        val files = readInts(in)
        key.map(BloomSegment(file, offset, blocks, _, files))
      }
      number -> column(number, ColumnSegments(segments.flatten, without))
    }
    new IndexBlooms(budget, columns.toMap)
  }

  private def ints(values: Array[Int], out: DataOutputStream): Unit = {
    out.writeInt(values.length)
    values.foreach(out.writeInt)
  }

  private def readInts(in: DataInputStream): Array[Int] = Array.fill(in.readInt())(in.readInt())
}

/**
 * The Bloom filters of one column of an index. A file without a filter, or whose filter cannot be read, may
 * hold anything.
 *
 * @param failed
 *   is told of what cannot be read
 */
final class ColumnBlooms(
    val stored: ColumnSegments,
    dataType: DataType,
    files: BloomFiles,
    failed: Throwable => Unit) {
  private val readers = stored.segments.map(new SegmentReader(files, _))
  @volatile private var broken = Set.empty[BloomSegment]

  /**
   * Keeps the files that may hold a value that meets the condition, or a NULL if the condition allows one.
   *
   * @param found
   *   the files that the ranges leave; not changed
   * @param nulls
   *   per file the number of NULLs, -1 where it is not known
   */
  def narrow(found: BitSet, condition: Condition, nulls: Array[Long]): BitSet =
    ColumnBlooms.points(condition).fold(found) { values =>
      val asked = found.clone().asInstanceOf[BitSet]
      if (condition.orNull)
        nulls.indices.foreach(f => if (nulls(f) != 0) asked.clear(f))
      val kept = found.clone().asInstanceOf[BitSet]
      if (!asked.isEmpty)
        readers.filterNot(r => broken(r.segment)).foreach { r =>
          try r.drop(values, dataType, asked, kept)
          catch {
            case NonFatal(e) =>
              if (!IndexFile.isOfStorage(e)) broken += r.segment
              failed(e)
          }
        }
      kept
    }
}

object ColumnBlooms {

  /** Longer lists are not asked: they would find something in most files. */
  val MostPoints = 1000

  /** The values of a condition that is met by single values only. */
  private def points(condition: Condition): Option[IndexedSeq[NormalizedValue]] = {
    val intervals = condition.intervals
    val isAsked = intervals.nonEmpty && intervals.length <= MostPoints && intervals.forall(_.isPoint)
    if (isAsked) Some(intervals.flatMap(_.min)) else None
  }
}

/**
 * Asks the filters of one segment. A small segment is read as a whole and kept until memory is short; of a
 * large one only the pieces that answer.
 */
final private class SegmentReader(files: BloomFiles, val segment: BloomSegment) {
  import SegmentReader._

  @volatile private var whole = new SoftReference[Array[ByteBuffer]](null)

  /** Takes from `kept` those of the files `asked` whose filters have none of the values. */
  def drop(values: IndexedSeq[NormalizedValue], dataType: DataType, asked: BitSet, kept: BitSet): Unit = {
    val places =
      segment.files.indices.filter(p => segment.files(p) >= 0 && asked.get(segment.files(p))).toArray
    val probes = values.map(segment.key.probe(_, dataType))
    val hashes = probes.collect { case BloomProbe.Hash(h) => h }.toArray
    if (!probes.contains(BloomProbe.Unknown) && places.length.toLong * hashes.length <= MostTests) {
      val blocks = hashes.map(SplitBlockBloom.blockOf(_, segment.blocks))
      val distinct = blocks.distinct.sorted
      if (places.nonEmpty && bytesFor(distinct.length) <= MostBytes) {
        val rows = this.rows(distinct)
        val rowOf = blocks.map(b => rows(java.util.Arrays.binarySearch(distinct, b)))
        places.foreach { place =>
          var h = 0
          while (h < hashes.length && !BloomFiles.mayContain(rowOf(h), place, hashes(h))) h += 1
          if (h == hashes.length) kept.clear(segment.files(place))
        }
      }
    }
  }

  private def small: Boolean = segment.bytes <= KeptBytes

  private def bytesFor(rows: Int): Long =
    if (small) 0L else if (rows > MostPieces) segment.bytes else rows.toLong * segment.rowBytes

  private def rows(blocks: Array[Int]): Array[ByteBuffer] = {
    val kept = whole.get
    if (blocks.isEmpty) Array.empty
    else if (kept != null) blocks.map(kept(_))
    else if (small) {
      val all = files.open(segment.file)(BloomFiles.all(_, segment))
      whole = new SoftReference(all)
      blocks.map(all(_))
    } else
      files.open(segment.file) { in =>
        if (blocks.length <= MostPieces) BloomFiles.rows(in, segment, blocks)
        else {
          val all = BloomFiles.all(in, segment)
          blocks.map(all(_))
        }
      }
  }
}

private object SegmentReader {

  /** Segments up to this size stay in memory. */
  val KeptBytes: Long = 4L << 20

  /** More pieces than these are not read one by one, but with all that is between them. */
  val MostPieces = 16

  /** A condition that would read more from one segment is not asked. */
  val MostBytes: Long = 64L << 20

  /** Nor one that would compare so many values with files: about a tenth of a second. */
  val MostTests: Long = 20L * 1000 * 1000
}

/**
 * Filters of one column that lie together, block by block: for each number of a block, that block of every
 * file, one file after the other, and a checksum of these. So one piece of the segment answers for all its
 * files.
 *
 * @param file
 *   name of the file that holds it, beside the index
 * @param blocks
 *   that each filter has
 * @param files
 *   for each place in a row the number that the index gives the file; [[BloomSegment.Gone]] if it has none
 *   any more
 */
final case class BloomSegment(file: String, offset: Long, blocks: Int, key: BloomKey, files: Array[Int]) {
  def rowBytes: Int = files.length * SplitBlockBloom.BytesInBlock + BloomSegment.SumBytes

  def bytes: Long = rowBytes.toLong * blocks

  def live: Int = files.count(_ != BloomSegment.Gone)

  def rowAt(block: Int): Long = offset + block.toLong * rowBytes

  /** This segment with its files renumbered. */
  def renumbered(number: Int => Int): BloomSegment =
    copy(files = files.map(f => if (f == BloomSegment.Gone) f else number(f)))
}

object BloomSegment {
  val Gone: Int = -1
  private[index] val SumBytes = 4
}

/**
 * All that an index says of the filters of one column.
 *
 * @param without
 *   numbers of the files that can have none
 */
final case class ColumnSegments(segments: Seq[BloomSegment], without: Array[Int]) {

  /** The files whose filters need not be made. */
  def done: Iterator[Int] = segments.iterator.flatMap(_.files).filter(_ != BloomSegment.Gone) ++ without

  def bytes: Long = segments.map(_.bytes).sum

  def filters: Int = segments.map(_.live).sum
}

object ColumnSegments {
  val Empty: ColumnSegments = ColumnSegments(Nil, Array.emptyIntArray)
}

/** Reads pieces of the files that hold filters. Nothing that a checksum does not confirm is believed. */
final class BloomFiles(fs: FileSystem, dir: Path) {

  /** Runs `body` with the file open; reads within it are positioned. */
  def open[T](name: String)(body: FSDataInputStream => T): T = {
    val in = fs.open(new Path(dir, name))
    try body(in)
    finally in.close()
  }

  /** The filters of a segment, each with the number of its file; of files that are there still. */
  def filters(s: BloomSegment): Seq[(Int, Array[Int])] = {
    val rows = open(s.file)(BloomFiles.all(_, s))
    s.files.indices.filter(p => s.files(p) != BloomSegment.Gone).map { place =>
      val words = new Array[Int](s.blocks * SplitBlockBloom.WordsInBlock)
      words.indices.foreach { w =>
        val block = rows(w / SplitBlockBloom.WordsInBlock)
        words(w) = block.getInt(place * SplitBlockBloom.BytesInBlock + w % SplitBlockBloom.WordsInBlock * 4)
      }
      s.files(place) -> words
    }
  }
}

object BloomFiles {
  val Prefix = "bloom-"

  /** Whether a file beside the index holds filters. */
  def isOne(name: String): Boolean = name.startsWith(Prefix)

  /** The rows of a segment that have these numbers, which ascend. */
  private[index] def rows(in: FSDataInputStream, s: BloomSegment, blocks: Array[Int]): Array[ByteBuffer] =
    blocks.map { b =>
      val row = new Array[Byte](s.rowBytes)
      in.readFully(s.rowAt(b), row)
      checked(row, 0, row.length)
    }

  /** All rows of a segment, read at once. */
  private[index] def all(in: FSDataInputStream, s: BloomSegment): Array[ByteBuffer] = {
    if (s.bytes > Int.MaxValue) throw new BrokenIndex("A segment of filters is too large to be read at once.")
    val bytes = new Array[Byte](s.bytes.toInt)
    in.readFully(s.offset, bytes)
    Array.tabulate(s.blocks)(b => checked(bytes, b * s.rowBytes, s.rowBytes))
  }

  private[index] def sum(row: Array[Byte], from: Int, length: Int): Int = {
    val crc = new CRC32()
    crc.update(row, from, length)
    crc.getValue.toInt
  }

  private def checked(bytes: Array[Byte], from: Int, length: Int): ByteBuffer = {
    val data = length - BloomSegment.SumBytes
    val row = ByteBuffer.wrap(bytes, from, length).slice().order(ByteOrder.LITTLE_ENDIAN)
    if (row.getInt(data) != sum(bytes, from, data))
      throw new BrokenIndex("The checksum of a piece of the Bloom filters does not agree.")
    row
  }

  /** Whether the block at `place` of a row has all bits of the key. */
  private[index] def mayContain(row: ByteBuffer, place: Int, hash: Long): Boolean = {
    val from = place * SplitBlockBloom.BytesInBlock
    var i = 0
    while (i < SplitBlockBloom.WordsInBlock && (row.getInt(from + 4 * i) & SplitBlockBloom.mask(
        hash,
        i)) != 0) i += 1
    i == SplitBlockBloom.WordsInBlock
  }
}

/**
 * Writes filters into one new file, those of a column that have the same size together, block by block. The
 * file is not read before an index names it, and never changed.
 *
 * @param most
 *   bytes of filters that wait in memory until they are written
 */
final class BloomWriter(fs: FileSystem, dir: Path, most: Long = BloomWriter.Waiting) {
  import BloomWriter._

  private val name = BloomFiles.Prefix + UUID.randomUUID
  private val waiting = mutable.LinkedHashMap.empty[(Int, BloomKey, Int), Heap]
  private val written = mutable.ArrayBuffer.empty[(Int, BloomSegment)]
  private var out: Option[FSDataOutputStream] = None
  private var bytesWaiting = 0L

  /** Takes the filter of a file for the column number `column`. */
  def add(column: Int, file: Int, key: BloomKey, words: Array[Int]): Unit = {
    val kind = (column, key, words.length / SplitBlockBloom.WordsInBlock)
    val heap = waiting.getOrElseUpdate(kind, new Heap)
    heap.files += file
    heap.filters += words
    heap.bytes += 4L * words.length
    bytesWaiting += 4L * words.length
    if (heap.bytes >= SegmentBytes) flush(kind)
    while (bytesWaiting > most) flush(waiting.maxBy(_._2.bytes)._1)
  }

  /** The segments that were written, each with the number of its column. */
  def close(): Seq[(Int, BloomSegment)] = {
    waiting.keys.toSeq.foreach(flush)
    out.foreach(_.close())
    written.toSeq
  }

  /** Takes away what was written: nobody has seen it. */
  def abort(): Unit = {
    try out.foreach(_.close())
    catch { case NonFatal(_) => }
    if (out.isDefined)
      try {
        val _ = fs.delete(new Path(dir, name), false)
      } catch { case NonFatal(_) => }
  }

  private def flush(kind: (Int, BloomKey, Int)): Unit = waiting.remove(kind).foreach { heap =>
    val (column, key, blocks) = kind
    val to = out.getOrElse {
      fs.mkdirs(dir)
      val created = fs.create(new Path(dir, name), false)
      out = Some(created)
      created.writeLong(Magic)
      created
    }
    val segment = BloomSegment(name, to.getPos, blocks, key, heap.files.toArray)
    val row = new Array[Byte](segment.rowBytes)
    val data = row.length - BloomSegment.SumBytes
    val buffer = ByteBuffer.wrap(row).order(ByteOrder.LITTLE_ENDIAN)
    var b = 0
    while (b < blocks) {
      buffer.clear()
      heap.filters.foreach { words =>
        var i = 0
        while (i < SplitBlockBloom.WordsInBlock) {
          buffer.putInt(words(b * SplitBlockBloom.WordsInBlock + i))
          i += 1
        }
      }
      buffer.putInt(BloomFiles.sum(row, 0, data))
      to.write(row)
      b += 1
    }
    written += column -> segment
    bytesWaiting -= heap.bytes
  }
}

object BloomWriter {
  private val Magic = 0x5a4f5244424c4d01L // "ZORDBLM" and the version of the format

  /** A segment gets no more filters when it has so many bytes, so that it can be read at once if need be. */
  private[index] val SegmentBytes: Long = 32L << 20

  private val Waiting: Long = 128L << 20

  final private class Heap {
    val files = mutable.ArrayBuffer.empty[Int]
    val filters = mutable.ArrayBuffer.empty[Array[Int]]
    var bytes = 0L
  }
}
