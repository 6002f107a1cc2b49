package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.table.{ClusterTable, DataFile, RunRecord}

/**
 * The files of one partition, by the record of earlier runs.
 *
 * @param layoutId
 *   of the newest layout that the partition was clustered by; None if it never was
 * @param settled
 *   files that hold the rows of one file number of that layout, by that number
 * @param spanning
 *   files that a run wrote in layout order across file numbers (level 1)
 * @param fresh
 *   files that no run has recorded: appended since, or rewritten by others
 */
final private[run] case class PlacedPartition(
    directory: String,
    layoutId: Option[String],
    settled: Map[Int, Seq[DataFile]],
    spanning: Seq[DataFile],
    fresh: Seq[DataFile]) {

  def all: Seq[DataFile] = settled.values.flatten.toSeq ++ spanning ++ fresh

  /** Nothing to do: all rows are where the layout wants them, or were appended in its order. */
  def inPlace: Boolean = layoutId.isDefined && fresh.isEmpty

  def settledBytes: Long = settled.values.flatten.map(_.length).sum

  def spanningBytes: Long = spanning.map(_.length).sum

  def freshBytes: Long = fresh.map(_.length).sum
}

/**
 * Compares a table's files with the records of its runs: a file is known by its path and its length. Runs by
 * other columns or by another curve say nothing, nor do layouts of another number of files than asked for.
 */
final private[run] class Placement(table: ClusterTable, by: Seq[String], curve: String, options: RunOptions) {
  private lazy val runs: Seq[RunRecord] = table.state.runs().filter(r => r.columns == by && r.curve == curve)

  /** Partitions that hold selected files; new files that are not selected count as not there. */
  def of(selected: Selection): Seq[PlacedPartition] = {
    val taken = selected.files.map(_.path).toSet
    val partitions = selected.files.map(_.partition).toSet
    val files = (selected.files ++ selected.kept).filter(f => partitions(f.partition))
    files.groupBy(_.partition).toSeq.sortBy(_._1).map { case (directory, here) =>
      val layout = runs.flatMap(_.layoutIds.get(directory)).lastOption
      val recorded = runs.filter(r => layout.isDefined && r.layoutIds.get(directory) == layout)
        .flatMap(_.files).map(f => (f.path, f.length) -> f).toMap
      val found = here.map(f => f -> recorded.get((DataFile.below(table.root, f), f.length)))
      val settled = found.collect { case (f, Some(r)) if r.level == 0 => r.fileNumber -> f }
        .groupBy(_._1).map { case (number, all) => number -> all.map(_._2) }
      val asked = options.fileCount.forall(n => settled.isEmpty || settled.size == n)
      PlacedPartition(
        directory,
        layout.filter(_ => asked),
        if (asked) settled else Map.empty,
        spanning = found.collect { case (f, Some(r)) if asked && r.level > 0 => f },
        fresh = found.collect { case (f, r) if (!asked || r.isEmpty) && taken(f.path) => f })
    }
  }
}
