package org.apache.spark.sql.zorder.clustering.plan

import scala.collection.mutable

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.fit.LayoutLookUp
import org.apache.spark.sql.zorder.clustering.request.ClusterColumn
import org.apache.spark.sql.zorder.clustering.select.Selection
import org.apache.spark.sql.zorder.table.{ClusterTable, ClusteredBy, ColumnIds, RecordedFile, RunRecord}
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * The files of one partition by the level that the record of earlier runs gives them, as in an LSM tree.
 * Files come as `newFiles`, which no run has sorted. A run merges their rows into the files of the layout
 * (`inLayout`, level 0), or writes them, sorted, as a run of their own (`sortedRuns`, level 1),
 * which later runs merge. A partition that is too large for one commit passes through files of one region
 * each (`byRegion`, level 2). Files `withDeletes` are files of level 0 or 1 that have to be written again.
 *
 * @param layoutId
 *   of the layout that it is in, or else was clustered by last; None if it never was
 * @param inLayout
 *   files that hold the rows of one file number of that layout, by that number
 * @param sortedRuns
 *   files that runs wrote across file numbers, by run, the oldest first
 * @param newFiles
 *   files that no run has recorded: appended since, or rewritten by others
 * @param withDeletes
 *   files of earlier runs that have lost so many rows that they have to be written again
 * @param newFilesAfter
 *   while those are written again, the new files, whose turn comes next
 * @param byRegion
 *   files of a partition whose steps have not come to their end, by the span of file numbers that they hold
 * @param leavesSteps
 *   whether it has such files, and the statement leaves it to others to go on with them
 */
final private[clustering] case class PlacedPartition(
    directory: String,
    layoutId: Option[String],
    inLayout: Map[Int, Seq[DataFile]] = Map.empty,
    sortedRuns: Seq[SortedRun] = Nil,
    newFiles: Seq[DataFile] = Nil,
    byRegion: Map[(Int, Int), Seq[DataFile]] = Map.empty,
    withDeletes: Seq[DataFile] = Nil,
    newFilesAfter: Option[Seq[DataFile]] = None,
    leavesSteps: Boolean = false) {

  def all: Seq[DataFile] =
    inLayout.values.flatten.toSeq ++ sortedRunFiles ++ newFiles ++ byRegion.values.flatten ++ withDeletes ++
      newFilesAfter.toSeq.flatten

  /** Nothing to do: all rows are in their files of the layout, or were appended in its order. */
  def nothingToDo: Boolean = layoutId.isDefined && newFiles.isEmpty && byRegion.isEmpty && withDeletes.isEmpty

  def sortedRunFiles: Seq[DataFile] = sortedRuns.flatMap(_.files)

  def newBytes: Long = newFiles.map(_.length).sum

  /** The bytes of files whose rows are not in their places. */
  def bytesToMove: Long = (newFiles ++ withDeletes ++ byRegion.values.flatten).map(_.length).sum

  /** Plans only the files that have lost many rows: the rest is in its place. New files follow later. */
  def withDeletesFirst: PlacedPartition =
    copy(newFiles = withDeletes, withDeletes = Nil, newFilesAfter = Some(newFiles))
}

/**
 * Compares a table's files with the records of its runs: a file is recognized by its path and its length.
 * Runs by other columns or by another curve do not count, nor do layouts of another number of files than
 * asked for.
 *
 * @param waiting
 *   paths of files whose rows are still to be moved by steps that this statement has begun
 * @param deletesRewritten
 *   partitions in which it has written files again that had lost many rows
 * @param underway
 *   the partition whose steps it has begun
 */
final private[clustering] class Placement(
    table: ClusterTable,
    by: Seq[ClusterColumn],
    curve: String,
    options: RunOptions,
    waiting: Set[String],
    deletesRewritten: Set[String],
    underway: Option[String]) {
  private val ids = ClusterColumn.ids(table, by)
  private lazy val runs: IndexedSeq[RunRecord] =
    table.state.standing().filter(r => sameColumns(r) && r.curve == curve).toIndexedSeq

  private def sameColumns(r: RunRecord): Boolean = ColumnIds.areSame(r.columnIds, ids) {
    r.columns.length == by.length && r.columns.zip(by).forall { case (name, c) =>
      ClusteredBy.names(table, name, c.sql, c.path.isEmpty)
    }
  }

  /** Partitions that hold selected files; new files that are not selected count as not there. */
  def of(selected: Selection): Seq[PlacedPartition] = {
    val taken = selected.files.map(_.path).toSet
    val partitions = selected.files.map(_.partition).toSet
    val files = (selected.files ++ selected.kept).filter(f => partitions(f.partition))
    val recorded = entries(files)
    files.groupBy(_.partition).toSeq.sortBy(_._1).map { case (directory, here) =>
      placed(directory, here.map(f => f -> recorded.getOrElse(key(f), Nil)), taken)
    }
  }

  /** What a run has recorded of a file, by the places of the run among all and of the file in its record. */
  private case class Entry(run: Int, at: Int, file: RecordedFile)

  private def key(file: DataFile): (String, Long) = (table.recorded(file), file.length)

  /**
   * The entries of these files, the newest first. A record is gone through once, however many partitions
   * there are.
   */
  private def entries(files: Seq[DataFile]): collection.Map[(String, Long), List[Entry]] = {
    val present = files.map(key).toSet
    val found = mutable.HashMap.empty[(String, Long), List[Entry]]
    for {
      run <- runs.indices
      (file, at) <- runs(run).files.zipWithIndex
      name = (file.path, file.length)
      if present(name)
    } found(name) = Entry(run, at, file) :: found.getOrElse(name, Nil)
    found
  }

  /**
   * The files of a partition by the level that their entries give them.
   *
   * @param all
   *   with the newest entry by the partition's layout; without one a file is new
   */
  private class FilesByLevel(val all: Seq[(DataFile, Option[Entry])]) {
    val inLayout: Map[Int, Seq[DataFile]] = by(OutputPlan.InLayout)(_.fileNumber)

    val byRegion: Map[(Int, Int), Seq[DataFile]] = by(OutputPlan.InRegion)(r => (r.fileNumber, r.until))

    val inSortedRuns: Seq[(DataFile, Entry)] =
      all.collect { case (f, Some(e)) if e.file.level == OutputPlan.InSortedRun => f -> e }

    val newFiles: Seq[DataFile] = all.collect { case (f, None) => f }

    private def by[K](level: Int)(key: RecordedFile => K): Map[K, Seq[DataFile]] =
      all.collect { case (f, Some(e)) if e.file.level == level => key(e.file) -> f }
        .groupBy(_._1).map { case (k, files) => k -> files.map(_._2) }
  }

  /** @param here the files of the partition with their entries */
  private def placed(
      directory: String,
      here: Seq[(DataFile, List[Entry])],
      taken: Set[String]): PlacedPartition = {
    val withFilesHere = here.flatMap(_._2).map(_.run).toSet
    // a run on another branch counts if some of its files are also on this one
    val known = runs.indices.filter(n =>
      runs(n).layoutIds.contains(directory) && (runs(n).branch == table.state.branch || withFilesHere(n)))
    val isUnderway = underway.contains(directory)
    def newest(among: IndexedSeq[Int]) = among.lastOption.map(runs(_).layoutIds(directory))
    val takesAll = here.forall { case (f, _) => taken(f.path) }
    // steps go on in their own, which is the newest
    val ofFiles =
      if (isUnderway && waiting.nonEmpty) None
      else if (takesAll && !isUnderway) ofMostBytes(directory, here, known.toSet)
      else newest(known.filter(withFilesHere))
    val layout = ofFiles.orElse(newest(known))
    val same = known.filter(n => layout == runs(n).layoutIds.get(directory)).toSet
    val files = new FilesByLevel(here.map { case (f, found) => f -> found.find(e => same(e.run)) })
    val all = here.map(_._1)
    if (files.byRegion.nonEmpty && !takesAll)
      // the steps of a partition are for statements that take it whole
      PlacedPartition(directory, layout, leavesSteps = true)
    else if (!hasFilesAsked(layout, same, files, isUnderway))
      PlacedPartition(directory, None, newFiles = all.filter(f => taken(f.path)))
    else inPlace(directory, layout, files, taken)
  }

  /**
   * The layout that most bytes of a partition are in, if any: a statement that took some files alone has made a
   * layout for these, and a table that went back to an earlier version has no file of later ones. Steps that are
   * left go on in theirs, the newest.
   *
   * @param known
   *   the runs that count
   */
  private def ofMostBytes(
      directory: String,
      here: Seq[(DataFile, List[Entry])],
      known: Set[Int]): Option[String] = {
    val files = here.flatMap { case (f, found) => found.find(e => known(e.run)).map(e => (f, e)) }
    val byLayout = files.groupBy { case (_, e) => runs(e.run).layoutIds(directory) }
    if (byLayout.isEmpty) None
    else {
      val (newest, inNewest) = byLayout.maxBy(_._2.map(_._2.run).max)
      val hasSteps = inNewest.exists(_._2.file.level == OutputPlan.InRegion)
      if (hasSteps) Some(newest)
      else Some(byLayout.maxBy { case (_, some) => (some.map(_._1.length).sum, some.map(_._2.run).max) }._1)
    }
  }

  /**
   * Whether a layout has the number of files that is asked for, if one is.
   *
   * @param same
   *   the runs by this layout
   * @param isUnderway
   *   whether this statement has begun the steps of the partition
   */
  private def hasFilesAsked(
      layout: Option[String],
      same: Set[Int],
      files: FilesByLevel,
      isUnderway: Boolean): Boolean = {
    // of the layout: some of its files may have lost all rows since, or never had any
    def filesOfLayout =
      layout.flatMap(id => table.state.layout(id).map(LayoutLookUp.stored(id, _).layout.files))
    // the layout that was asked for may have more files or fewer, as the rows allow
    def isAsked(n: Int) = same.exists(runs(_).fileCount.contains(n)) || filesOfLayout.contains(n)
    // the records of earlier versions have no number, and their steps go on
    def isFree =
      if (files.byRegion.isEmpty) files.inLayout.isEmpty
      else isUnderway || same.forall(runs(_).fileCount.isEmpty)
    options.fileCount.forall(n => isFree || isAsked(n))
  }

  /** The partition with its files in their places, but for those that leave them to be written again. */
  private def inPlace(
      directory: String,
      layout: Option[String],
      files: FilesByLevel,
      taken: Set[String]): PlacedPartition = {
    import files.{byRegion, inLayout, inSortedRuns, newFiles}
    val inCells = inLayout.values.flatten.toSeq
    val begun = inCells.filter(f => waiting(f.path))
    // while steps are underway, what waits for them is taken to its place before anything else
    val isUnderway = byRegion.nonEmpty || files.all.exists { case (f, _) => waiting(f.path) }
    val withDeletes =
      if (isUnderway || deletesRewritten(directory)) Nil
      else
        (inCells ++ inSortedRuns.map(_._1))
          .filter(f => taken(f.path) && f.deletedShare > options.deletedShare)
    val moving = (begun ++ withDeletes).map(_.path).toSet
    PlacedPartition(
      directory,
      layout,
      inLayout.map { case (n, some) => n -> some.filterNot(f => moving(f.path)) }.filter(_._2.nonEmpty),
      inSortedRuns.filterNot { case (f, _) => moving(f.path) }.groupBy(_._2.run).toSeq.sortBy(_._1)
        .map { case (_, run) =>
          SortedRun(run.sortBy(_._2.at).map { case (f, e) => (f, e.file.fileNumber, e.file.until) })
        },
      newFiles.filter(f => taken(f.path)) ++ begun,
      byRegion,
      withDeletes)
  }
}

/**
 * A sorted run, as of an LSM tree: files that one clustering run wrote across file numbers, in layout order
 * or cut by a layout of their own, with rows of one or several appends.
 *
 * @param spans
 *   each with its first file number and one past its last
 */
final private[clustering] case class SortedRun(spans: Seq[(DataFile, Int, Int)]) {
  def files: Seq[DataFile] = spans.map(_._1)

  def bytes: Long = files.map(_.length).sum
}
