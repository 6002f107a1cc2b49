package org.apache.spark.sql.zorder.table.parquet.journal

/**
 * How far a commit has come.
 *
 * @param text
 *   as the journal on disk spells it
 */
sealed abstract private[zorder] class JournalState(val text: String)

private[zorder] object JournalState {

  /** A run is writing its staging directory. */
  case object Staging extends JournalState("STAGING")

  /** The staged data is complete; the table is untouched. */
  case object Prepared extends JournalState("PREPARED")

  /** Directories are being renamed. Whoever finds this state finishes the renames. */
  case object Swapping extends JournalState("SWAPPING")

  /** Directories are being renamed back. */
  case object Undoing extends JournalState("UNDOING")

  /** The new data is the table's; `old` directories wait for the vacuum. */
  case object Done extends JournalState("DONE")

  private val all = Seq(Staging, Prepared, Swapping, Undoing, Done)

  def of(text: String): Option[JournalState] = all.find(_.text == text)
}
