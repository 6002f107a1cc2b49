package org.apache.spark.sql.zorder.skip.bloom

import java.io.IOException
import java.nio.{ByteBuffer, ByteOrder}
import java.util.zip.CRC32

import org.apache.hadoop.fs.{FileSystem, FSDataInputStream, Path}

import org.apache.spark.sql.zorder.stats.bloom.SplitBlockBloom

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
  private[bloom] def rows(in: FSDataInputStream, s: BloomSegment, blocks: Array[Int]): Array[ByteBuffer] =
    blocks.map { b =>
      val row = new Array[Byte](s.rowBytes)
      in.readFully(s.rowAt(b), row)
      checked(row, 0, row.length)
    }

  /** All rows of a segment, read at once. */
  private[bloom] def all(in: FSDataInputStream, s: BloomSegment): Array[ByteBuffer] = {
    if (s.bytes > Int.MaxValue) throw new IOException("A segment of filters is too large to be read at once.")
    val bytes = new Array[Byte](s.bytes.toInt)
    in.readFully(s.offset, bytes)
    Array.tabulate(s.blocks)(b => checked(bytes, b * s.rowBytes, s.rowBytes))
  }

  private[bloom] def sum(row: Array[Byte], from: Int, length: Int): Int = {
    val crc = new CRC32()
    crc.update(row, from, length)
    crc.getValue.toInt
  }

  private def checked(bytes: Array[Byte], from: Int, length: Int): ByteBuffer = {
    val data = length - BloomSegment.SumBytes
    val row = ByteBuffer.wrap(bytes, from, length).slice().order(ByteOrder.LITTLE_ENDIAN)
    if (row.getInt(data) != sum(bytes, from, data))
      throw new IOException("The checksum of a piece of the Bloom filters does not agree.")
    row
  }

  /** Whether the block at `place` of a row has all bits of the key. */
  private[bloom] def mayContain(row: ByteBuffer, place: Int, hash: Long): Boolean = {
    val from = place * SplitBlockBloom.BytesInBlock
    var i = 0
    while (i < SplitBlockBloom.WordsInBlock && (row.getInt(from + 4 * i) & SplitBlockBloom.mask(
        hash,
        i)) != 0) i += 1
    i == SplitBlockBloom.WordsInBlock
  }
}
