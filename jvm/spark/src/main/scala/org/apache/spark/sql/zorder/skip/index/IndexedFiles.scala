package org.apache.spark.sql.zorder.skip.index

/**
 * The files that an index has entries of, by number.
 *
 * @param paths
 *   below the table's root, or in full for a file that lies elsewhere
 * @param modified
 *   modification times in milliseconds, as the listing had them that the footers were read by
 * @param readAt
 *   when the footer was read, by the store's own clock; `Long.MaxValue` for a file of one of our runs, whose name
 *   nobody uses again
 */
final class IndexedFiles(
    val paths: Array[String],
    val lengths: Array[Long],
    val modified: Array[Long],
    val rows: Array[Long],
    val readAt: Array[Long]) {

  def count: Int = paths.length

  private lazy val numbers: java.util.HashMap[String, Integer] = {
    val map = new java.util.HashMap[String, Integer](2 * count)
    paths.indices.foreach(i => map.put(paths(i), i))
    map
  }

  /**
   * The number of a file's entry, if the entry is of that very file: same path, length and modification time, and
   * not so fresh when it was read that it may have been written again within the granularity of its time.
   */
  def find(path: String, length: Long, modifiedAt: Long): Either[NoEntry, Int] = {
    val number = numbers.get(path)
    if (number == null) Left(NoEntry.New)
    else if (lengths(number) != length || modified(number) != modifiedAt) Left(NoEntry.Changed)
    else if (readAt(number) - IndexedFiles.RacyMs < modifiedAt) Left(NoEntry.Racy)
    else Right(number)
  }
}

/** Why an index says nothing of a file. */
sealed trait NoEntry

object NoEntry {

  /** The index has no entry of the file. */
  case object New extends NoEntry

  /** The entry is of an earlier file of that name. */
  case object Changed extends NoEntry

  /** The file was too fresh when its footer was read: it may have been replaced since by another of that length. */
  case object Racy extends NoEntry
}

object IndexedFiles {

  /** Stores keep times to the second, or two. */
  val RacyMs = 2000L
}
