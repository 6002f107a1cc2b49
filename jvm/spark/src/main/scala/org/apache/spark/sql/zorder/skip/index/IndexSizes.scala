package org.apache.spark.sql.zorder.skip.index

import java.io.IOException

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.sql.zorder.expr.word.LongWordType

/** What parts of an index will take in memory, from what they have unpacked. */
private[index] object IndexSizes {

  /** A short string or array is about three times its bytes. */
  private val OfText = 3L

  /** The entry of a file in the map from names to numbers. */
  private val InMap = 64L

  /** @param parts bytes of the sections of the list of files, paths first */
  def ofFiles(count: Int, parts: Seq[Long]): Long = OfText * parts.head + parts.tail.sum + InMap * count

  def ofColumn(dataType: DataType, bytes: Long): Long = WordTypes.of(dataType) match {
    case Some(_: LongWordType) => bytes
    case _ => OfText * bytes
  }
}

/** Not even the list of files of an index may be loaded. */
final private[skip] class IndexTooLarge(path: Path) extends IOException(s"$path is too large to be loaded")
