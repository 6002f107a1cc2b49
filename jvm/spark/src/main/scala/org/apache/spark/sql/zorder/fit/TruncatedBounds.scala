package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.{Block, BytesWord, Zone}

/**
 * How Parquet truncates the bounds of strings and binary. Row-group statistics keep them whole, or not at all
 * where both together have 4,096 bytes or more (`ParquetMetadataConverter.MAX_STATS_SIZE`). A page index cuts
 * them at 64 bytes (`parquet.columnindex.truncate.length`), the lower one down and the upper one up. Words
 * of other types are shorter than either.
 */
object TruncatedBounds {

  /** If both bounds have at least this many bytes together, a footer leaves them out. */
  val ChunkBytes = 4096

  /** Bytes of a bound that a page index keeps. */
  val PageBytes = 64

  /** A file or a row group as its footer will describe it. */
  def ofChunk(block: Block): Block =
    kept(block)((min, max) => if (min.length + max.length < ChunkBytes) Some((min, max)) else None)

  /**
   * A page as the page index will describe it, within the bounds that the footer has for its row group: where these
   * leave out the row group, no reader comes to the page.
   */
  def ofPage(block: Block, rowGroup: Block): Block = {
    val page = kept(block)((min, max) => above(max).map((min.take(PageBytes), _)))
    page.copy(zones = page.zones.zip(ofChunk(rowGroup).zones).map { case (a, b) => Zone.within(a, b) })
  }

  private def kept(block: Block)(
      bounds: (Array[Byte], Array[Byte]) => Option[(Array[Byte], Array[Byte])]): Block =
    if (!block.zones.exists(isLong)) block
    else block.copy(zones = block.zones.map {
      case zone @ Zone.Between(BytesWord(min), BytesWord(max)) if isLong(zone) =>
        bounds(min, max).fold[Zone](Zone.Unknown) { case (a, b) => Zone.Between(BytesWord(a), BytesWord(b)) }
      case other => other
    })

  private def isLong(zone: Zone): Boolean = zone match {
    case Zone.Between(BytesWord(min), BytesWord(max)) => math.max(min.length, max.length) > PageBytes
    case _ => false
  }

  /** The shortest string of at most `PageBytes` bytes above all that begin like this one. */
  private def above(max: Array[Byte]): Option[Array[Byte]] =
    if (max.length <= PageBytes) Some(max)
    else {
      val start = max.take(PageBytes).reverse.dropWhile(_ == -1).reverse
      if (start.isEmpty) Some(max) else Some(start.init :+ (start.last + 1).toByte)
    }
}
