package org.apache.spark.sql.zorder.stats

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/** How many bytes the values of a column chunk take in a writer's memory before they are encoded. */
private[stats] object RawBytes {

  /** Before the bytes of a string. */
  private val Length = 4L

  def of(chunk: ColumnChunkMetaData): Long = {
    val found: Statistics[_] = chunk.getStatistics
    val statistics = Option[Statistics[_]](found)
    val nulls = statistics.filter(_.isNumNullsSet).fold(0L)(s => math.max(0L, s.getNumNulls))
    width(chunk, statistics).fold(chunk.getTotalUncompressedSize)(_ * (chunk.getValueCount - nulls))
  }

  /** Of a string, as long as the bounds are on the mean; None where nothing tells, or where bits are packed. */
  private def width(chunk: ColumnChunkMetaData, statistics: Option[Statistics[_]]): Option[Long] =
    chunk.getPrimitiveType.getPrimitiveTypeName match {
      case PrimitiveTypeName.INT32 | PrimitiveTypeName.FLOAT => Some(4L)
      case PrimitiveTypeName.INT64 | PrimitiveTypeName.DOUBLE => Some(8L)
      case PrimitiveTypeName.INT96 => Some(12L)
      case PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY => Some(chunk.getPrimitiveType.getTypeLength.toLong)
      case PrimitiveTypeName.BINARY if hasDictionary(chunk) =>
        statistics.filter(_.hasNonNullValue).map(s =>
          Length + (s.getMinBytes.length + s.getMaxBytes.length) / 2)
      case _ => None
    }

  /** Without one, the bytes before compression are those of the values. */
  private def hasDictionary(chunk: ColumnChunkMetaData): Boolean = chunk.getDictionaryPageOffset > 0
}
