package org.apache.spark.sql.zorder.clustering.inspect

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.clustering.fit.{ByLevel, Levels}
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, ColumnResolver, RunContext}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, PageIndex, ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{Block, NormalizedBytes, NormalizedLong, NormalizedValue, Zone}
import sparkzorder.curve.cost.{ShareRead, SortedValues}
import sparkzorder.curve.layout.BytesScale

/**
 * The columns that a run samples: those it clusters by, and after them those that it only watches.
 *
 * @param watched
 *   columns that clustering expressions are computed from, then those that the files skip by today
 * @param bases
 *   how many are of the former kind
 * @param stored
 *   per column its statistics; None for an expression
 * @param ofWholeFiles
 *   per column whether only whole files will have bounds of it, and no row groups and pages
 */
final private[clustering] case class TrackedColumns(
    clustering: Seq[ClusterColumn],
    watched: Seq[ClusterColumn],
    bases: Int,
    stored: IndexedSeq[Option[StatColumn]],
    ofWholeFiles: IndexedSeq[Boolean]) {
  val all: Seq[ClusterColumn] = clustering ++ watched

  /** Places of the columns that are watched. */
  val watchedPlaces: Range = clustering.length until all.length

  /** What look-ups can use: the clustering columns that files have statistics of, and the others' bases. */
  val measured: Seq[Int] = all.indices.take(clustering.length + bases).filter(stored(_).isDefined)

  /** The columns with statistics, in their order. */
  val statColumns: Seq[StatColumn] = stored.flatten

  /** Whether a look-up in files that Spark writes can use bounds of the column. */
  val bounded: IndexedSeq[Boolean] = stored.map(_.exists(s => ParquetZones.bounds(s.dataType)))

  /** The clustering columns that look-ups can skip files by. */
  val boundedClustering: Seq[Int] = clustering.indices.filter(bounded(_))

  /** The mean of a share that each of these has. */
  def meanShare(ofColumn: Int => Double): Double =
    boundedClustering.map(ofColumn).sum / boundedClustering.length

  /** The mean share of the rows that look-ups of some values in these columns read. */
  def meanShareRead(blocks: Seq[Block], values: IndexedSeq[SortedValues]): Double =
    meanShare(c => ShareRead.of(blocks.map(b => (b.rows, b.zones(c))), values(c)))

  /** What look-ups read: by columns that only files have bounds of, a reader opens a whole file or none. */
  def read(shares: IndexedSeq[ByLevel[Double]]): IndexedSeq[ByLevel[Double]] =
    shares.zipWithIndex.map { case (share, c) => if (ofWholeFiles(c)) share.ofFiles else share }

  /**
   * The blocks of files that are there, with the zones of these columns.
   *
   * @param inFooters
   *   the statistics that the footers were read with
   * @param pages
   *   of some or all of the files
   */
  def levels(
      footers: Seq[FileFooter],
      inFooters: Seq[StatColumn],
      pages: SomePages = SomePages.NotRead): Levels = {
    def places(read: Seq[StatColumn]): IndexedSeq[Option[Int]] =
      stored.map(_.map(s => read.indexWhere(_.path == s.path)))
    val numbers = places(inFooters)
    val ofPages = places(pages.columns).map(_.filter(_ >= 0))
    Levels(
      footers.map(_.block(numbers)),
      footers.flatMap(_.rowGroupBlocks(numbers)),
      pages.files.flatMap(_.runs(ofPages)))
  }
}

private[clustering] object TrackedColumns {

  /** The most columns that are watched because files skip by them today. */
  private val MostSkipped = 8

  /** If look-ups in a column read more than this share of the files, it has nothing to lose. */
  private val NothingToLose = 0.9

  /**
   * @param footers
   *   of the files that are planned
   * @param rows
   *   of these files
   */
  def of(
      context: RunContext,
      input: Inspection,
      footers: Seq[FileFooter],
      rows: LogicalPlan): TrackedColumns = {
    import context.{table, user}
    import input.statistics
    val clustering = context.columnsOf(rows)
    val along = statistics.baseNumbers ++ skippedBy(footers, statistics.otherNumbers)
    val stats = along.map(statistics.columns(_))
    val named = stats.map(s => ColumnPath.sql(s.path))
    val columns = ColumnResolver.on(user, table.name, rows, table.constantColumns, named)
    // a file's own type may be another than the table's: its values would not be those of the statistics
    val same = along.indices.filter(i => columns(i).dataType == stats(i).dataType)
    val before = clustering.scanLeft(0)((n, c) => n + c.path.size)
    val stored =
      clustering.zip(before).map { case (c, n) => c.path.map(_ => statistics.columns(n)) }.toIndexedSeq ++
        same.map(i => Some(stats(i)))
    TrackedColumns(
      clustering,
      same.map(columns(_)),
      same.count(i => statistics.baseNumbers.contains(along(i))),
      stored,
      stored.map(_.exists(input.staysInt96)))
  }

  /**
   * Which columns the files skip by today: a new order of the rows may spoil that, as for the time column of
   * a table that arrives in the order of time.
   *
   * @param among
   *   numbers of their statistics in the footers
   * @return
   *   those numbers whose columns would lose most, the least share first; the share is the part of the rows
   *   that look-ups of values inside the files' ranges read
   */
  private[inspect] def skippedBy(footers: Seq[FileFooter], among: Seq[Int]): Seq[Int] =
    among.map(c => c -> shareRead(footers.map(f => (f.rows, f.zone(c)))))
      .collect { case (c, Some(share)) if share < NothingToLose => (c, share) }
      .sortBy(_._2).take(MostSkipped).map(_._1)

  /** None for a column without values. */
  private def shareRead(files: Seq[(Long, Zone)]): Option[Double] = {
    val probes = files.flatMap { case (_, zone) => Probes.of(zone) }
    if (probes.isEmpty) None else Some(ShareRead.of(files, SortedValues.of(probes)))
  }
}

/**
 * The blocks of the files as they are now, from the footers that a run has read and from their page indexes.
 */
final private[clustering] class PresentLevels(
    session: ClassicSession,
    input: Inspection,
    tracked: TrackedColumns) {

  /** Read once for all calls. */
  private lazy val pages = SomePages.of(session, input, tracked, input.footers.map(_.file))

  /**
   * The levels of these files. Scales the rows of sampled pages up, so that they weigh as much as all pages would
   * beside those that a run writes.
   */
  def of(files: Seq[DataFile]): Levels =
    if (files.isEmpty) Levels(Nil, Nil, Nil)
    else {
      val paths = files.map(_.path).toSet
      val sampled = pages.only(paths)
      val found = levels(files, sampled)
      val weight = rows(files).toDouble / math.max(1L, rows(sampled.files.map(_.file)))
      if (sampled.files.length == files.length) found
      else found.copy(pages = found.pages.map(b => b.copy(rows = math.round(b.rows * weight))))
    }

  /** Only the files: no page index is read. */
  def files(files: Seq[DataFile]): Seq[Block] = levels(files).files

  def rows(files: Seq[DataFile]): Long = files.map(f => input.byPath(f.path).rows).sum

  private def levels(files: Seq[DataFile], pages: SomePages = SomePages.NotRead): Levels =
    tracked.levels(files.map(f => input.byPath(f.path)), input.statistics.columns, pages)
}

/**
 * The pages of some files, which represent those of all.
 *
 * @param columns
 *   those that they were read with; of others, nothing is known
 */
final private[clustering] case class SomePages(files: Seq[FilePages], columns: Seq[StatColumn]) {
  def only(paths: String => Boolean): SomePages = copy(files.filter(p => paths(p.file.path)))
}

private[clustering] object SomePages {
  val NotRead: SomePages = SomePages(Nil, Nil)

  /** Those that were read with the footers, if they represent these files; otherwise they are read now. */
  def of(
      session: ClassicSession,
      input: Inspection,
      tracked: TrackedColumns,
      files: Seq[DataFile]): SomePages = {
    val isAll = files.length == input.footers.length
    if (input.pages.nonEmpty && (isAll || input.pages.length == input.footers.length))
      SomePages(input.pages, input.statistics.columns.take(input.statistics.paged))
        .only(files.map(_.path).toSet)
    else SomePages(PageIndex.ofSome(session, files, tracked.statColumns), tracked.statColumns)
  }
}

/** Values to look up in a file of which only the min and max are known: some that lie between them. */
private[zorder] object Probes {

  /** Not the ends: for an unsorted column they are extreme values, which few other files contain. */
  private val Positions = Seq(0.125, 0.375, 0.625, 0.875)

  /** Bytes after the common prefix that are interpolated. */
  private val Head = 7

  /** Values inside a range; none if the range is unknown. */
  def of(zone: Zone): Seq[NormalizedValue] = at(zone, Positions)

  private def at(zone: Zone, positions: Seq[Double]): Seq[NormalizedValue] = zone match {
    case Zone.Between(min, max) => positions.map(between(min, max, _))
    case _ => Nil
  }

  /**
   * Values inside the ranges of some files: as many of each in the mean, in proportion to its rows. What is
   * rounded off one file is added to the next, so that many small ones count together.
   *
   * @param files
   *   rows and range of each
   */
  def byRows(files: Seq[(Long, Zone)]): Seq[NormalizedValue] = {
    val until = files.scanLeft(0L)(_ + _._1).map(_.toDouble)
    val ofRow = Positions.length * files.length / math.max(1.0, until.last)
    val places = until.map(rows => math.round(rows * ofRow))
    files.zip(places.zip(places.tail)).flatMap { case ((_, zone), (first, end)) =>
      val count = (end - first).toInt
      at(zone, (0 until count).map(i => (i + 0.5) / count))
    }
  }

  /** Values of all columns inside the ranges of one file, spread over its box; none if a range is unknown. */
  def points(zones: IndexedSeq[Zone]): Seq[IndexedSeq[NormalizedValue]] = {
    val values = zones.map(of)
    if (values.exists(_.isEmpty)) Nil
    else Positions.indices.map(i => values.indices.map(c => values(c)((i + c) % Positions.length)))
  }

  /** @param position 0 for a value near `min`, 1 for one near `max` */
  private[inspect] def between(
      min: NormalizedValue,
      max: NormalizedValue,
      position: Double): NormalizedValue = (min, max) match {
    case _ if min == max => min
    case (NormalizedLong(a), NormalizedLong(b)) => NormalizedLong(number(a, b, position))
    case (NormalizedBytes(a), NormalizedBytes(b)) =>
      val shared = BytesScale.commonPrefix(a, b)
      val middle =
        ByteBuffer.allocate(8).putLong(number(head(a, shared), head(b, shared), position) << 8).array
      NormalizedBytes(b.take(shared) ++ middle.take(Head))
    case _ => min
  }

  /** The bytes after the common prefix as a number; missing bytes count as 0. */
  private def head(bytes: Array[Byte], from: Int): Long =
    (0 until Head).foldLeft(0L)((n, i) =>
      n << 8 | (if (from + i < bytes.length) bytes(from + i) & 0xffL else 0L))

  private def number(a: Long, b: Long, position: Double): Long = {
    val distance = b - a
    // the distance overflows for ranges over more than half of all longs
    val at =
      if (distance >= 0) a + (distance * position).toLong else (a * (1 - position) + b * position).toLong
    math.max(a, math.min(b, at))
  }
}
