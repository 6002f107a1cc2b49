package org.apache.spark.sql.zorder.stats

import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.parquet.column.{ColumnDescriptor, Dictionary}
import org.apache.parquet.column.page.DictionaryPageReadStore
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import sparkzorder.curve.{NormalizedValue, Zone}

/**
 * The values of columns that have few of them in a file, from the dictionaries of its row groups. It is known that
 * there are no others only where the footer says that every page of every row group is encoded by the dictionary. A
 * dictionary may have values that no row has.
 */
object Dictionaries {

  /** A file with more distinct values lists none. */
  val MostValues = 32

  /** A dictionary that takes more bytes in the file is not read. */
  private val MostBytes = 16L << 10

  /**
   * The values of each column of a file that is open and not encrypted; None where there may be others. One read for
   * each column and row group that may have few. Never fails.
   *
   * @param wanted
   *   the columns to look at; None for one whose values nobody wants
   */
  private[stats] def of(
      reader: ParquetFileReader,
      wanted: IndexedSeq[Option[ChunkZone]]): IndexedSeq[Option[IndexedSeq[NormalizedValue]]] = {
    val blocks = reader.getRowGroups.asScala.toIndexedSeq
    try {
      val promising = wanted.map(_.filter(w => blocks.forall(mayTell(w, _))))
      if (promising.forall(_.isEmpty)) promising.map(_ => None)
      else {
        val message = reader.getFooter.getFileMetaData.getSchema
        val found = blocks.foldLeft(promising.map(_.map(_ => Set.empty[NormalizedValue]))) { (sets, block) =>
          val dictionaries = reader.getNextDictionaryReader
          val more = sets.indices.map { c =>
            for {
              values <- sets(c)
              column <- promising(c)
              here <- ofChunk(column, block, dictionaries)(path => message.getColumnDescription(path.toArray))
              all = values ++ here
              if all.size <= MostValues
            } yield all
          }
          reader.skipNextRowGroup()
          more
        }
        found.map(_.map(_.toIndexedSeq.sortWith(_ < _)))
      }
    } catch { case NonFatal(_) => wanted.map(_ => None) }
  }

  private def mayTell(column: ChunkZone, block: BlockMetaData): Boolean =
    column.decoder.isDefined && chunkOf(column, block).exists { case (chunk, onlyNulls) =>
      onlyNulls || ColumnChunks.isAllDictionary(chunk) && isSmall(chunk)
    }

  /** The chunk, and whether it holds only NULL. */
  private def chunkOf(column: ChunkZone, block: BlockMetaData): Option[(ColumnChunkMetaData, Boolean)] = {
    val chunks = ColumnChunks.byPath(block)
    val rows = block.getRowCount
    column.chunk(chunks, rows).map(c => (c, column.of(chunks, rows) == Zone.OnlyNulls))
  }

  /** Whether the dictionary is small, by the place of the first page behind it: old writers do not say where it is. */
  private def isSmall(chunk: ColumnChunkMetaData): Boolean = {
    val bytes = chunk.getFirstDataPageOffset - chunk.getStartingPos
    bytes > 0 && bytes <= MostBytes
  }

  private def ofChunk(column: ChunkZone, block: BlockMetaData, dictionaries: DictionaryPageReadStore)(
      descriptor: Seq[String] => ColumnDescriptor): Option[Set[NormalizedValue]] =
    chunkOf(column, block).flatMap {
      case (_, true) => Some(Set.empty[NormalizedValue])
      case (chunk, _) =>
        val named = descriptor(chunk.getPath.toArray.toSeq)
        for {
          page <- Option(dictionaries.readDictionaryPage(named))
          if page.getDictionarySize <= MostValues
          decoder <- column.decoder
          normalized <- normalized(page.getEncoding.initDictionary(named, page), named, decoder)
        } yield normalized
    }

  /** None if one of the values has no normalized value of its own, such as NaN. */
  private def normalized(
      dictionary: Dictionary,
      descriptor: ColumnDescriptor,
      decoder: ZoneDecoder): Option[Set[NormalizedValue]] = {
    val all = (0 to dictionary.getMaxId).map { i =>
      val bytes = plain(dictionary, descriptor, i)
      decoder.zone(bytes, bytes) match {
        case Zone.Between(low, high) if low == high => Some(low)
        case _ => None
      }
    }
    if (all.contains(None)) None else Some(all.flatten.toSet)
  }

  /** The value as statistics have it; null for a type that has none. */
  private def plain(dictionary: Dictionary, descriptor: ColumnDescriptor, i: Int): Array[Byte] = {
    def little(bytes: Int): ByteBuffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN)
    descriptor.getPrimitiveType.getPrimitiveTypeName match {
      case INT32 => little(4).putInt(dictionary.decodeToInt(i)).array
      case INT64 => little(8).putLong(dictionary.decodeToLong(i)).array
      case FLOAT => little(4).putFloat(dictionary.decodeToFloat(i)).array
      case DOUBLE => little(8).putDouble(dictionary.decodeToDouble(i)).array
      case BINARY | FIXED_LEN_BYTE_ARRAY => dictionary.decodeToBinary(i).getBytes
      case _ => null
    }
  }
}
