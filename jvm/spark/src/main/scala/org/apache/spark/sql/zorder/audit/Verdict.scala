package org.apache.spark.sql.zorder.audit

/** What an audit says of a table or of a partition of it. */
sealed abstract private[audit] class Verdict(val text: String) {

  /** Where several partitions differ, the first of these is the table's. */
  def severity: Int = Verdict.bySeverity.indexOf(this)
}

private[audit] object Verdict {
  case object WrongColumns extends Verdict("WRONG COLUMNS")
  case object NoStatistics extends Verdict("NO STATISTICS")
  case object UseSort extends Verdict("USE SORT")
  case object Recluster extends Verdict("RECLUSTER")
  case object Ok extends Verdict("OK")

  private val bySeverity = IndexedSeq(WrongColumns, NoStatistics, UseSort, Recluster, Ok)
}

/** @param cure what to run, if anything helps */
final private[audit] case class Judgement(verdict: Verdict, reason: String, cure: Option[Cure])

/** A statement without its condition. */
sealed private[audit] trait Cure

private[audit] object Cure {

  /**
   * @param curve
   *   to name in it
   * @param options
   *   names and values as SQL
   * @param full
   *   whether files are in their places already, and are taken all the same
   * @param worst
   *   whether an option takes the avoidable files alone
   */
  final case class Cluster(
      columns: Seq[String],
      curve: Option[String] = None,
      options: Seq[(String, String)] = Nil,
      full: Boolean = false,
      worst: Boolean = false) extends Cure
  case object Index extends Cure
}
