package org.apache.spark.sql.zorder.skip.bloom

import java.lang.ref.SoftReference
import java.nio.ByteBuffer
import java.util.BitSet

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.stats.bloom.{BloomProbe, SplitBlockBloom}
import sparkzorder.curve.Word

/**
 * Asks the filters of one segment. A small segment is read as a whole and kept until memory is short; of a large one
 * only the pieces that answer.
 */
final private[bloom] class SegmentReader(files: BloomFiles, val segment: BloomSegment) {
  import SegmentReader._

  @volatile private var whole = new SoftReference[Array[ByteBuffer]](null)

  /** Takes from `kept` those of the files `asked` whose filters have none of the values. */
  def drop(words: IndexedSeq[Word], dataType: DataType, asked: BitSet, kept: BitSet): Unit = {
    val places =
      segment.files.indices.filter(p => segment.files(p) >= 0 && asked.get(segment.files(p))).toArray
    val probes = words.map(segment.key.probe(_, dataType))
    val hashes = probes.collect { case BloomProbe.Hash(h) => h }.toArray
    if (!probes.contains(BloomProbe.Unasked) && places.length.toLong * hashes.length <= MostTests) {
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

private[bloom] object SegmentReader {

  /** Segments up to this size stay in memory. */
  val KeptBytes: Long = 4L << 20

  /** More pieces than these are not read one by one, but with all that is between them. */
  val MostPieces = 16

  /** A condition that would read more from one segment is not asked. */
  val MostBytes: Long = 64L << 20

  /** Nor one that would compare so many values with files: about a tenth of a second. */
  val MostTests: Long = 20L * 1000 * 1000
}
