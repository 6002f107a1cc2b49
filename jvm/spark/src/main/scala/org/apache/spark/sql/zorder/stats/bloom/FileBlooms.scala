package org.apache.spark.sql.zorder.stats.bloom

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.FileMetaData
import org.apache.parquet.io.api.{Converter, GroupConverter, PrimitiveConverter}
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
  final case class Made(key: BloomKey, words: Array[Int], own: Boolean) extends FileBloom

  /** The file has not got the column, or not in a type that has keys, or too many values. */
  case object Impossible extends FileBloom

  /** The file could not be read; another time perhaps. */
  case object Unread extends FileBloom
}

/** Bloom filters of the files of a table. */
object FileBlooms {

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
              bloom <- OwnBlooms.read(conf, reader, path, file.path).map(FileBloom.Made(key, _, own = true))
                .orElse(ofValues(reader, meta, path, key).map(FileBloom.Made(key, _, own = false)))
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
        val column = new ColumnReadStoreImpl(pages, new Ignoring(only), only, meta.getCreatedBy)
          .getColumnReader(descriptor)
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

  /** Parquet's reader wants somebody to give values to, though we take them from it. */
  final private class Ignoring(group: GroupType) extends GroupConverter {
    override def getConverter(field: Int): Converter = group.getType(field) match {
      case leaf if leaf.isPrimitive => new PrimitiveConverter {}
      case inner => new Ignoring(inner.asGroupType)
    }
    override def start(): Unit = ()
    override def end(): Unit = ()
  }
}
