package org.apache.spark.sql.zorder.stats.bloom

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.format.{BloomFilterHeader, Util}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, FileMetaData}
import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats._
import org.apache.spark.sql.zorder.table.file.DataFile

/** What came of the filter of one column of one file. */
sealed trait FileBloom

object FileBloom {

  /**
   * @param key
   *   how the file stores the values
   * @param own
   *   whether it was made from filters that the file has itself, so that no data was read
   */
  final case class Built(key: BloomKey, words: Array[Int], own: Boolean) extends FileBloom

  /** The file has not got the column, or not in a type that has keys, or too many values. */
  case object Impossible extends FileBloom

  /** The file could not be read; another time perhaps. */
  case object Unread extends FileBloom
}

/** Bloom filters of the files of a table. */
object FileBloomReader {

  /**
   * One job; each task reads one column at a time.
   *
   * @return
   *   for each file, in their order, one for each column
   */
  def read(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn]): Seq[Seq[FileBloom]] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    FooterJob.run(session, files, "Bloom filters", onDriver = 0) { (conf, slice) =>
      slice.map(file => columns.map(ofFile(conf, file, _, caseSensitive)))
    }
  }

  private[bloom] def ofFile(
      conf: Configuration,
      file: DataFile,
      column: StatColumn,
      caseSensitive: Boolean): FileBloom =
    try FooterReader.open(conf, file) { reader =>
        val meta = reader.getFooter.getFileMetaData
        val made =
          if (meta.getEncryptionType != FileMetaData.EncryptionType.UNENCRYPTED) None
          else
            for {
              path <- FooterReader.pathOf(meta, column, caseSensitive)
              key <- BloomKey.of(meta.getSchema.getType(path: _*).asPrimitiveType, column)
              bloom <- OwnBlooms.read(conf, reader, path, file.path).map(FileBloom.Built(key, _, own = true))
                .orElse(ofValues(reader, meta, path, key).map(FileBloom.Built(key, _, own = false)))
            } yield bloom
        made.getOrElse(FileBloom.Impossible)
      }
    catch { case NonFatal(_) => FileBloom.Unread }

  private def ofValues(
      reader: ParquetFileReader,
      meta: FileMetaData,
      path: Seq[String],
      key: BloomKey): Option[Array[Int]] = {
    val only = new MessageType(meta.getSchema.getName, alone(meta.getSchema, path))
    val descriptor = only.getColumns.get(0)
    reader.setRequestedSchema(only)
    val hashes = new BloomOfHashes(reader.getRowGroups.asScala.map(_.getRowCount).sum)
    Iterator.continually(reader.readNextRowGroup()).takeWhile(_ != null).foreach {
      pages =>
        val column = ColumnReaders.of(pages, only, meta.getCreatedBy).getColumnReader(descriptor)
        val values = pages.getRowCount
        val defined = descriptor.getMaxDefinitionLevel
        var i = 0L
        while (i < values) {
          if (column.getCurrentDefinitionLevel == defined) hashes.add(key.hash(column))
          column.consume()
          i += 1
        }
    }
    hashes.result().map(_.words)
  }

  /** The group with nothing but this leaf in it. */
  private def alone(group: GroupType, path: Seq[String]): Type = group.getType(path.head) match {
    case leaf if leaf.isPrimitive => leaf
    case inner => inner.asGroupType.withNewFields(alone(inner.asGroupType, path.tail))
  }
}

/**
 * The Bloom filters that a Parquet file has itself. They are read here, not by Parquet's library: that of 1.14 and
 * 1.15 takes what the first read of a stream gives, and leaves the rest of the filter empty, so that rows are lost.
 */
private object OwnBlooms {
  private val MostBytes = 128 << 20

  /**
   * The filter of the whole file, if every row group has one; None if too many bits are set, or if it does not have
   * the bounds of its own row group, or these are not known. It is made smaller if it can be: by default, Parquet's
   * writers give each the largest size that there is.
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
      val sure = bounds(chunk)
      Some(SplitBlockBloom.of(bytes)).filter(b =>
        (sure.nonEmpty || hasNoValue(chunk)) && sure.forall(v => b.mayContain(BloomKey.hashed(v))))
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

  private def hasNoValue(chunk: ColumnChunkMetaData): Boolean = {
    val statistics: Statistics[_] = chunk.getStatistics
    statistics != null && statistics.isNumNullsSet && statistics.getNumNulls == chunk.getValueCount
  }
}
