package org.apache.spark.sql.zorder.table.parquet.journal

/**
 * How a commit puts new data in place.
 *
 * @param text
 *   as the journal on disk spells it
 */
sealed abstract private[zorder] class JournalKind(val text: String)

private[zorder] object JournalKind {

  /** The table's path stays, and directories are renamed. */
  case object Path extends JournalKind("path")

  /** The new directories stay where they are, and the catalog gets their locations. */
  case object Catalog extends JournalKind("catalog")

  def of(text: String): Option[JournalKind] = Seq(Path, Catalog).find(_.text == text)
}
