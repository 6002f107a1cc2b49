package org.apache.spark.sql.zorder.table

/**
 * The names at which tests let a run die, in the order in which it comes to them (`CrashPoint` in the main sources).
 * Suites go through these lists, so that a new step of a commit is added in one place.
 */
private[zorder] object CrashPoints {

  /** What `PathCommit` does to each directory that it exchanges. */
  val renames: Seq[String] = Seq("moved-old", "checked-old", "moved-new")

  /** `PathCommit`: directories are exchanged in place. */
  val pathCommit: Seq[String] = Seq("synced", "prepared", "swapping") ++ renames ++ Seq("state-moved", "done")

  /** `PathCommit` of a table of the catalog, from the step on that writes the `ExchangeMark`. */
  val markedPathCommit: Seq[String] = "marked" +: pathCommit.dropWhile(_ != "swapping")

  /** `PathCommit` of a rollback, without the check of the old directory, which is the same as in a run. */
  val pathRollback: Seq[String] = pathCommit.filterNot(_ == "checked-old")

  /** The way back, if `PathCommit` finds a job after it has renamed directories. */
  val pathUndo: Seq[String] = Seq("undo-carried", "undo-moved-new", "undo-moved-old", "abandoned")

  /** `CatalogCommit` of a table without partitions: the catalog gets another location. */
  val catalogCommit: Seq[String] = Seq("synced", "prepared", "altered", "state-moved", "done")

  /** `CatalogCommit` of an external table with partitions: the table is altered before its partitions. */
  val partitionedCatalogCommit: Seq[String] =
    Seq("synced", "prepared", "tagged", "altered", "state-moved", "done")

  /** `CatalogCommit` of a managed table with partitions: their old directories are moved aside at the end. */
  val managedCatalogCommit: Seq[String] =
    Seq("synced", "prepared", "tagged", "altered", "retired", "state-moved", "done")

  /** The same where a rename would be a copy: the old files are copied aside and then deleted. */
  val managedCommitByCopies: Seq[String] = managedCatalogCommit :+ "retired-copied"

  /** The way back of a `CatalogCommit`, if it finds a job after the catalog has the new places. */
  val catalogUndo: Seq[String] = Seq("given-back", "left")

  /** `HomeCommit`: the files go back to the directory in which the table began. */
  val homeCommit: Seq[String] = Seq("home-moving", "home-moved", "home-altered")

  /** Between a commit that was refused and the next one. */
  val rebase: Seq[String] = Seq("rebase-found", "rebase-written")

  /** From a refused commit on to the one that is made in its place, which come to the steps of a commit once more. */
  def rebased(commit: Seq[String]): Seq[String] =
    Seq(rebase.head, s"${commit.head}:2", rebase.last, s"${commit(1)}:2", commit.last)

  /** The same where the removed rows are marked in the files of the run, of which none is written again. */
  def marked(commit: Seq[String]): Seq[String] =
    Seq("rebase-marked", rebase.head, s"${commit(1)}:2", commit.last)

  val delta: Seq[String] = Seq("delta-written", "delta-commit", "delta-committed")
  val iceberg: Seq[String] = Seq("iceberg-written", "iceberg-commit", "iceberg-committed")
  val hudi: Seq[String] = Seq("hudi-written", "hudi-commit", "hudi-committed")
}
