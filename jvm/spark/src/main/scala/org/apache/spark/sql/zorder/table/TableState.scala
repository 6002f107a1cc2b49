package org.apache.spark.sql.zorder.table

/**
 * The `_zorder/` directory of a table: layouts and runs. It may disappear at any time; then there is no
 * state.
 */
trait TableState {

  /** The branch of the table that runs change; None for the main branch. */
  def branch: Option[String] = None

  /** All runs of all branches, oldest first. Unreadable files are skipped. */
  def runs(): Seq[RunRecord]

  /** All runs of all branches in outline (`RunRecord.outline`), for which fewer files may have to be read. */
  def outlines(): Seq[RunRecord] = runs().map(_.outline)

  /** The runs on the table's branch. */
  def ownRuns(): Seq[RunRecord] = runs().filter(_.branch == branch)

  /** The runs that no rollback has undone, of all branches, in outline. */
  def standing(): Seq[RunRecord] = TableState.standing(outlines())

  /**
   * The branch's standing runs, oldest first, in outline. A branch without runs of its own began as a copy of the
   * main one.
   */
  def ofBranch(): Seq[RunRecord] = TableState.ofBranch(standing(), branch)

  /** The newest standing run of the branch, in outline. */
  def latest(): Option[RunRecord] = ofBranch().lastOption

  /**
   * The commits of the branch's last run that changed files, oldest first; a run in batches has several.
   * Empty if the version of one of them is unknown, because then it is unknown what the table was before the
   * run.
   */
  def lastRun(): Seq[RunRecord] = {
    val run = lastCommits()
    if (run.forall(_.version.isDefined)) run else Nil
  }

  /** The commits of that run, whether their versions are known or not. */
  private[table] def lastCommits(): Seq[RunRecord] = {
    val commits = TableState.standing(runs())
      .filter(r => r.operation == Operation.Optimize && r.branch == branch)
    commits.lastOption.toSeq.flatMap(last => commits.filter(_.runId == last.runId))
  }

  /** The body of a stored layout. */
  def layout(id: String): Option[String]
}

private[zorder] object TableState {

  /** Those of these runs that no rollback among them has undone. */
  def standing(runs: Seq[RunRecord]): Seq[RunRecord] = {
    def ids(operation: Operation) = runs.filter(_.operation == operation).map(_.runId).toSet
    val undone = ids(Operation.Rollback) & ids(Operation.Optimize)
    runs.filterNot(r => undone(r.runId))
  }

  /** Those of these standing runs that count for a branch. */
  def ofBranch(standing: Seq[RunRecord], branch: Option[String]): Seq[RunRecord] = {
    val all = standing.filter(_.operation == Operation.Optimize)
    val own = all.filter(_.branch == branch)
    if (own.nonEmpty) own else all.filter(_.branch.isEmpty)
  }
}
