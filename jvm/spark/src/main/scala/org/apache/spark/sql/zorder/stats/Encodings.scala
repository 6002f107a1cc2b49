package org.apache.spark.sql.zorder.stats

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData, CompressionCodecName}
import org.apache.parquet.hadoop.metadata.CompressionCodecName._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY

/** Codecs and encodings: which ones every Spark can read, and which ones have to be tried. */
private[stats] object Encodings {
  private val SafeCodecs = Set(UNCOMPRESSED, SNAPPY, GZIP, ZSTD)
  private val SafeEncodings = Set("PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY")
  private val DeltaEncodings = Set("DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")

  /** Top-level columns with a codec or encoding that some Sparks cannot read, and its name. */
  def inDoubt(blocks: Seq[BlockMetaData]): Set[(String, String)] =
    blocks.flatMap(_.getColumns.asScala).flatMap { chunk =>
      val codec = Seq(chunk.getCodec).filterNot(SafeCodecs).map(_.name)
      (codec ++ encodings(chunk)).map(chunk.getPath.toArray.head -> _)
    }.toSet

  private def encodings(chunk: ColumnChunkMetaData): Seq[String] = {
    val fixed = chunk.getPrimitiveType.getPrimitiveTypeName == FIXED_LEN_BYTE_ARRAY
    val safe = if (fixed) SafeEncodings else SafeEncodings ++ DeltaEncodings
    chunk.getEncodings.asScala.toSeq.map(_.name).filterNot(safe)
  }

  def isCodec(packing: String): Boolean = CompressionCodecName.values.exists(_.name == packing)
}
