package org.apache.spark.sql.zorder.skipping.make

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.conf.BloomBudget
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index._
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.sql.zorder.stats.bloom.{BloomOfHashes, FileBloom, FileBloomReader, SplitBlockBloom}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.util.Utils
import sparkzorder.curve.Evenly

/**
 * Makes the Bloom filters of an index: those of an earlier one are taken over, and only of files that are new
 * to it a column is read, so many files at a time as the driver can hold filters of.
 *
 * @param columns
 *   to have filters of, by their numbers in the index
 */
final private[make] class BloomBuilder(
    session: ClassicSession,
    table: IndexedTable,
    store: IndexStore,
    columns: Seq[(Int, StatColumn)],
    budget: BloomBudget)
    extends Logging {
  import BloomBuilder._

  /**
   * The filters of the files of `index`.
   *
   * @param files
   *   of the table
   * @param before
   *   an index whose filters are taken over where they are still true
   * @param strict
   *   whether filters that would exceed the budget are refused; else the new files get none
   * @return
   *   the filters, and of how many files values were read
   */
  def build(
      index: StatisticsIndex,
      files: Seq[DataFile],
      before: Option[StatisticsIndex],
      strict: Boolean): (IndexBlooms, Int) = {
    val there = store.bloomNames()
    val kept = columns.map { case (c, _) =>
      c -> before.fold(ColumnSegments.Empty)(inherited(index, c, _, there))
    }.toMap
    val done = kept.map { case (c, segments) => c -> segments.done.toSet }
    val keys = new FileKeys(table.root)
    // an entry that is not trusted now is made anew later, and so is its filter
    val known = for {
      f <- files
      n <- index.files.find(keys.of(new Path(f.path)), f.length, f.modified).toOption
    } yield n -> f
    val wanted = known.sortBy(_._1)
      .map { case (n, f) => FileWithoutBloom(n, f, columns.filterNot { case (c, _) => done(c)(n) }) }
      .filter(_.columns.nonEmpty)
    val most = budget.bytes(files.map(_.length).sum)
    val mayGrow = wanted.nonEmpty || before.exists(_.blooms.budget != budget)
    val fit = !mayGrow || fits(index, wanted, kept.values.map(_.bytes).sum, most, strict)
    if (fit && wanted.nonEmpty) written(index, wanted, kept) else (blooms(index, kept), 0)
  }

  /** What an earlier index has of the column, for the files that are the same now. */
  private def inherited(
      index: StatisticsIndex,
      column: Int,
      before: StatisticsIndex,
      there: Set[String]): ColumnSegments = {
    val c = index.columns(column)
    val stored =
      if (before.caseSensitive != index.caseSensitive) None
      else before.bloomsOf(c.sql, c.dataType).map(_.stored)
    stored.fold(ColumnSegments.Empty) { s =>
      val b = before.files
      val numbers = Array.tabulate(b.count) { i =>
        def in(files: IndexedFiles) = files.find(b.paths(i), b.lengths(i), b.modified(i))
        if (in(b).contains(i)) in(index.files).getOrElse(BloomSegment.Gone) else BloomSegment.Gone
      }
      ColumnSegments(
        s.segments.filter(x => there(x.file)).map(_.renumbered(numbers(_))).filter(_.live > 0),
        s.without.map(numbers(_)).filter(_ != BloomSegment.Gone))
    }
  }

  private def fits(
      index: StatisticsIndex,
      wanted: Seq[FileWithoutBloom],
      there: Long,
      most: Long,
      strict: Boolean): Boolean = {
    val atMost = wanted.map(BloomSizeEstimate.atMost(index, _)).sum
    val need = there + (
      if (there + atMost <= most) atMost
      else BloomSizeEstimate.estimated(index, wanted)(read(_).map(_.bytes).sum)
    )
    if (need > most) {
      val exceeded = new ZOrderException(
        "ZORDER_LIMIT_EXCEEDED.INDEX_BLOOM_BUDGET",
        "columns" -> columns.map { case (c, _) => index.columns(c).sql }.mkString(", "),
        "size" -> Utils.bytesToString(need),
        "table" -> table.name,
        "limit" -> Utils.bytesToString(most),
        "value" -> budget.text)
      if (strict) throw exceeded
      logWarning(
        s"${exceeded.getMessage} New files get none and are read by every query that the ranges do not exclude")
    }
    need <= most
  }

  private def written(
      index: StatisticsIndex,
      wanted: Seq[FileWithoutBloom],
      kept: Map[Int, ColumnSegments]): (IndexBlooms, Int) = {
    val writer = store.bloomWriter()
    try {
      val stay = kept.map { case (c, s) => c -> rewritten(c, s, writer) }
      var (without, valuesRead) = (Seq.empty[(Int, Int)], Set.empty[Int])
      BloomSizeEstimate.lots(index, wanted).foreach { lot =>
        val made = read(lot)
        made.foreach { m =>
          m.bloom match {
            case FileBloom.Built(key, words, own) =>
              writer.add(m.column, m.number, key, words)
              if (!own) valuesRead += m.number
            case FileBloom.Impossible => without :+= m.column -> m.number
            case FileBloom.Unread =>
          }
        }
      }
      val fresh = writer.close()
      val all = stay.map { case (c, s) =>
        c -> ColumnSegments(
          s.segments ++ fresh.filter(_._1 == c).map(_._2),
          s.without ++ without.filter(_._1 == c).map(_._2))
      }
      (blooms(index, all), valuesRead.size)
    } catch {
      case e: Throwable =>
        writer.abort()
        throw e
    }
  }

  /**
   * Small segments, and those that are mostly of files that are gone, are written anew with the new ones: a
   * query reads a piece of each segment.
   *
   * @return
   *   what stays as it is
   */
  private def rewritten(column: Int, stored: ColumnSegments, writer: BloomWriter): ColumnSegments = {
    val (again, stay) =
      stored.segments.partition(s => s.bytes < SmallBytes || s.live < s.files.length / 2)
    again.foreach { s =>
      try store.bloomFiles.filters(s).foreach { case (f, words) => writer.add(column, f, s.key, words) }
      catch {
        case NonFatal(e) =>
          logWarning(s"Bloom filters in ${s.file} cannot be read: the next refresh makes them anew", e)
      }
    }
    stored.copy(segments = stay)
  }

  private def blooms(index: StatisticsIndex, segments: Map[Int, ColumnSegments]): IndexBlooms =
    new IndexBlooms(budget, segments.map { case (c, s) => c -> store.blooms(s, index.columns(c).dataType) })

  private def read(files: Seq[FileWithoutBloom]): Seq[BuiltBloom] =
    files.groupBy(_.columns.map(_._1)).values.toSeq.flatMap { same =>
      val of = same.head.columns
      val found = FileBloomReader.read(session, same.map(_.file), of.map(_._2))
      for {
        (file, blooms) <- same.zip(found)
        ((column, _), bloom) <- of.zip(blooms)
      } yield BuiltBloom(file.number, column, bloom)
    }
}

private object BloomBuilder {

  /** What came of one column of one file. */
  final private case class BuiltBloom(number: Int, column: Int, bloom: FileBloom) {
    def bytes: Long = bloom match {
      case FileBloom.Built(_, words, _) => words.length * 4L
      case _ => 0L
    }
  }

  private val SmallBytes = 8L << 20
}

/** A file that has no filter yet, by its number in the index, and the columns that want one, by theirs. */
final private case class FileWithoutBloom(number: Int, file: DataFile, columns: Seq[(Int, StatColumn)])

/** How many bytes filters will have, told before any data is read. */
private object BloomSizeEstimate {

  /** The number of files that show how often values come again. */
  private val Looked = 8

  /** If no value comes twice. */
  def atMost(index: StatisticsIndex, file: FileWithoutBloom): Long = file.columns.map { case (c, _) =>
    val nulls = index.rangesAt(c).fold(0L)(r => math.max(0L, r.nulls(file.number)))
    val values = math.max(0L, index.files.rows(file.number) - nulls)
    SplitBlockBloom.blocksFor(math.min(
      values,
      BloomOfHashes.MostKeys)).toLong * SplitBlockBloom.BytesInBlock
  }.sum

  /**
   * The need of all files, by the filters of a few that are evenly spaced.
   *
   * @param made
   *   the bytes of the filters of some files
   */
  def estimated(
      index: StatisticsIndex,
      files: Seq[FileWithoutBloom])(made: Seq[FileWithoutBloom] => Long): Long = {
    val some = Evenly.take(files, Looked)
    val all = files.map(atMost(index, _)).sum
    val ofSome = some.map(atMost(index, _)).sum
    if (ofSome == 0) all else math.ceil(all.toDouble * made(some) / ofSome).toLong
  }

  /** Splits the files into lots whose filters the driver can hold. */
  def lots(index: StatisticsIndex, files: Seq[FileWithoutBloom]): Seq[Seq[FileWithoutBloom]] = {
    val most = math.max(64L << 20, math.min(256L << 20, Runtime.getRuntime.maxMemory / 8))
    val before = files.scanLeft(0L)((sum, f) => sum + atMost(index, f))
    files.zip(before).groupBy(_._2 / most).toSeq.sortBy(_._1).map(_._2.map(_._1))
  }
}
