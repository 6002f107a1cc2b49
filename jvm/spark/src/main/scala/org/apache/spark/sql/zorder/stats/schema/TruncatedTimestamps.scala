package org.apache.spark.sql.zorder.stats.schema

import java.nio.ByteOrder

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import org.apache.parquet.column.{ColumnDescriptor, ColumnReader}
import org.apache.parquet.column.page.DictionaryPageReadStore
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.BlockMetaData
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{GroupType, MessageType}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT96

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{ColumnChunks, ColumnReaders, FileFooter, FooterJob, FooterReader}

/**
 * Finds INT96 timestamps with nanoseconds, which Spark would truncate. They have no statistics, and Spark truncates
 * them when it reads, before and after a rewrite. So this reads the values with Parquet's own column readers. Files
 * that Spark wrote have whole microseconds only and are skipped.
 */
object TruncatedTimestamps {

  /** One sentence for each column, by one job; without one where only Spark has written INT96. */
  def losses(session: ClassicSession, footers: Seq[FileFooter]): Seq[String] = {
    val others = footers.filter(f => !f.bySpark && f.schema.leaves.exists(_.physical == "INT96"))
    if (others.isEmpty) Nil
    else {
      val cut = FooterJob.run(session, others.map(_.file), "INT96 timestamps", onDriver = 0) {
        (conf, slice) => slice.map(file => FooterReader.open(conf, file)(new Int96Scan(_).cut))
      }
      val byFile = others.map(_.file.path).zip(cut).toMap
      SchemaProblems.collect(others.map(f => (f, 1)))(f =>
        f.schema.leaves.filter(l => byFile(f.file.path)(l.path)).map { l =>
          s"Column ${l.name}" -> "has INT96 timestamps with nanoseconds, which Spark would cut to microseconds"
        })
    }
  }

  private val EpochDay = 2440588L
  private val NanosOfDay = 24L * 3600 * 1000 * 1000 * 1000

  /** Days whose microseconds since 1970 a LONG holds. */
  private val MostDays = Long.MaxValue / (NanosOfDay / 1000) - 1

  /** @param value nanoseconds of the day and the Julian day, low bytes first */
  private[stats] def isKept(value: Binary): Boolean = {
    val buffer = value.toByteBuffer.order(ByteOrder.LITTLE_ENDIAN)
    val nanos = buffer.getLong(buffer.position())
    val day = buffer.getInt(buffer.position() + 8)
    nanos % 1000 == 0 && nanos >= 0 && nanos < NanosOfDay && math.abs(day - EpochDay) <= MostDays
  }
}

/** The INT96 columns of one file; of a chunk that is all dictionary, the dictionary alone is read. */
final private class Int96Scan(reader: ParquetFileReader) {
  private val meta = reader.getFooter.getFileMetaData
  private val columns = meta.getSchema.getColumns.asScala.toSeq
    .filter(_.getPrimitiveType.getPrimitiveTypeName == INT96)

  /** Paths of the leaves with a value that is not kept. */
  def cut: Set[Seq[String]] = {
    val blocks = reader.getFooter.getBlocks.asScala.toSeq
    // an empty file of pyarrow has a row group without rows, which Parquet's library does not read
    blocks.indices.filter(blocks(_).getRowCount > 0).foldLeft(Set.empty[Seq[String]]) { (found, i) =>
      val left = columns.filterNot(c => found(c.getPath.toSeq))
      found ++ (if (left.isEmpty) Nil else cutIn(i, blocks(i), left)).map(_.getPath.toSeq)
    }
  }

  private def cutIn(number: Int, block: BlockMetaData, left: Seq[ColumnDescriptor]): Seq[ColumnDescriptor] = {
    val chunks = ColumnChunks.byPath(block)
    val (short, long) = left.partition(c => ColumnChunks.isAllDictionary(chunks(c.getPath.toSeq)))
    cutInDictionaries(block, short) ++ cutInPages(number, long, c => chunks(c.getPath.toSeq).getValueCount)
  }

  private def cutInDictionaries(block: BlockMetaData, some: Seq[ColumnDescriptor]): Seq[ColumnDescriptor] =
    if (some.isEmpty) Nil
    else {
      reader.setRequestedSchema(only(some))
      val dictionaries: DictionaryPageReadStore = reader.getDictionaryReader(block)
      some.filter { c =>
        val page = dictionaries.readDictionaryPage(c)
        val dictionary = page.getEncoding.initDictionary(c, page)
        !(0 to dictionary.getMaxId).forall(i => TruncatedTimestamps.isKept(dictionary.decodeToBinary(i)))
      }
    }

  private def cutInPages(
      number: Int,
      some: Seq[ColumnDescriptor],
      values: ColumnDescriptor => Long): Seq[ColumnDescriptor] =
    if (some.isEmpty) Nil
    else {
      val schema = only(some)
      reader.setRequestedSchema(schema)
      val pages = reader.readRowGroup(number)
      val store = ColumnReaders.of(pages, schema, meta.getCreatedBy)
      some.filter(c => !allKept(store.getColumnReader(c), values(c), c.getMaxDefinitionLevel))
    }

  private def allKept(values: ColumnReader, count: Long, definition: Int): Boolean = {
    @tailrec
    def from(value: Long): Boolean =
      if (value == count) true
      else if (values.getCurrentDefinitionLevel == definition && !TruncatedTimestamps.isKept(
          values.getBinary))
        false
      else {
        values.consume()
        from(value + 1)
      }
    from(0)
  }

  private def only(some: Seq[ColumnDescriptor]): MessageType = {
    val paths = some.map(_.getPath.toSeq).toSet
    def below(group: GroupType, at: Seq[String]): GroupType = group.withNewFields(
      group.getFields.asScala.filter(f => paths.exists(_.startsWith(at :+ f.getName))).map { f =>
        if (f.isPrimitive) f else below(f.asGroupType, at :+ f.getName)
      }.asJava)
    new MessageType(meta.getSchema.getName, below(meta.getSchema, Nil).getFields)
  }
}
