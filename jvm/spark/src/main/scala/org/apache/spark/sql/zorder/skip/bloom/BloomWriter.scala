package org.apache.spark.sql.zorder.skip.bloom

import java.nio.{ByteBuffer, ByteOrder}
import java.util.UUID

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, FSDataOutputStream, Path}

import org.apache.spark.sql.zorder.stats.bloom.{BloomKey, SplitBlockBloom}

/**
 * Writes filters into one new file, those of a column that have the same size together, block by block. The file is
 * not read before an index names it, and never changed.
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
  private[bloom] val SegmentBytes: Long = 32L << 20

  private val Waiting: Long = 128L << 20

  final private class Heap {
    val files = mutable.ArrayBuffer.empty[Int]
    val filters = mutable.ArrayBuffer.empty[Array[Int]]
    var bytes = 0L
  }
}
