package org.apache.spark.sql.zorder.stats.bloom

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.format.{BloomFilterHeader, Util}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData

/**
 * The Bloom filters that a Parquet file has itself. They are read here, not by Parquet's library: that of 1.14 and
 * 1.15 takes what the first read of a stream gives, and leaves the rest of the filter empty, so that rows are lost.
 */
private[bloom] object OwnBlooms {
  private val MostBytes = 128 << 20

  /**
   * The filter of the whole file, if every row group has one; None if too many bits are set, or if it does not have
   * the bounds of its own row group. It is made smaller if it can be: by default, Parquet's writers give each the
   * largest size that there is.
   */
  def read(
      conf: Configuration,
      reader: ParquetFileReader,
      path: Seq[String],
      file: String): Option[Array[Int]] = {
    val chunks = reader.getRowGroups.asScala.map { group =>
      group.getColumns.asScala.find(_.getPath.toArray.toSeq == path).filter(_.getBloomFilterOffset >= 0)
    }
    if (chunks.isEmpty || chunks.contains(None)) None
    else
      try {
        val at = new Path(file)
        val in = at.getFileSystem(conf).open(at)
        val blooms =
          try chunks.flatten.iterator.map(of(in, _)).takeWhile(_.isDefined).flatten.toIndexedSeq
          finally in.close()
        if (blooms.length < chunks.length) None else joined(blooms)
      } catch { case NonFatal(_) => None }
  }

  private def joined(blooms: IndexedSeq[SplitBlockBloom]): Option[Array[Int]] = {
    val least = blooms.map(_.blocks).min
    if (blooms.exists(_.blocks % least != 0)) None
    else {
      val all = blooms.map(_.folded(least)).reduce(_.or(_))
      if (all.rate > SplitBlockBloom.MostRate) None else Some(all.smallest(SplitBlockBloom.UsualRate).words)
    }
  }

  private def of(in: FSDataInputStream, chunk: ColumnChunkMetaData): Option[SplitBlockBloom] = {
    in.seek(chunk.getBloomFilterOffset)
    val header = Util.readBloomFilterHeader(in)
    if (!known(header)) None
    else {
      val bytes = new Array[Byte](header.getNumBytes)
      in.readFully(bytes)
      Some(SplitBlockBloom.of(bytes)).filter(b => bounds(chunk).forall(v => b.mayContain(BloomKey.hashed(v))))
    }
  }

  private def known(h: BloomFilterHeader): Boolean =
    h.getAlgorithm.isSetBLOCK && h.getHash.isSetXXHASH && h.getCompression.isSetUNCOMPRESSED &&
      h.getNumBytes > 0 && h.getNumBytes <= MostBytes && h.getNumBytes % SplitBlockBloom.BytesInBlock == 0

  /** Values that the filter must have, or its writer hashes in another way than we do. */
  private def bounds(chunk: ColumnChunkMetaData): Seq[Array[Byte]] = {
    val statistics: Statistics[_] = chunk.getStatistics
    if (statistics == null || !statistics.hasNonNullValue) Nil
    else Seq(statistics.getMinBytes, statistics.getMaxBytes)
  }
}
