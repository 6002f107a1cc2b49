package org.apache.spark.sql.zorder.run

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, IntoTarget, Replacement}

/** Where a run puts its files: the table itself, or a copy beside it (`INTO`). */
private[run] trait Destination {
  def root: Path
  def newStaging(runId: String): Path
  def discard(staging: Path): Unit
  def commit(replacement: Replacement): Unit
}

private[run] object Destination {
  def apply(session: ClassicSession, table: ClusterTable, into: Option[String]): Destination =
    into match {
      case None => new InPlaceDestination(table)
      case Some(path) => new CopyDestination(session, IntoTarget.open(session, path, table))
    }

  final private class InPlaceDestination(table: ClusterTable) extends Destination {
    override def root: Path = table.root
    override def newStaging(runId: String): Path = table.newStaging(runId)
    override def discard(staging: Path): Unit = table.discard(staging)
    override def commit(replacement: Replacement): Unit = table.commit(replacement)
  }

  final private class CopyDestination(session: ClassicSession, path: Path) extends Destination {
    override def root: Path = path
    override def newStaging(runId: String): Path = IntoTarget.newStaging(session, path, runId)
    override def discard(staging: Path): Unit = IntoTarget.discard(session, staging)
    override def commit(replacement: Replacement): Unit =
      IntoTarget.commit(session, replacement.staging, path, replacement.record, replacement.layouts)
  }
}
