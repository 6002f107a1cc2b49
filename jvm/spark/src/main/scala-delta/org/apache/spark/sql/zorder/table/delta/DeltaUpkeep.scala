package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.Vacuumed
import org.apache.spark.sql.zorder.table.storage.TextFiles

/** Vacuum and removal, with Delta's own commands where it has them. */
private[delta] object DeltaUpkeep {
  private val MillisPerHour = 3600000.0

  /** Delta's VACUUM. It deletes rewritten files, and those of runs that died before their commit. */
  def vacuum(
      session: ClassicSession,
      table: DeltaClusterTable,
      keepMs: Long,
      dryRun: Boolean): Seq[Vacuumed] = {
    val statement = s"VACUUM ${sql(table)} RETAIN ${keepMs / MillisPerHour} HOURS"
    val named = session.sql(s"$statement DRY RUN").collect().map(_.getString(0))
    val fs = table.root.getFileSystem(session.sessionState.newHadoopConf())
    // Delta also names directories without files
    val bytes = lengths(fs, named.toSeq.map(new Path(_))).values.sum
    if (!dryRun) session.sql(statement).collect()
    if (named.isEmpty) Nil else Seq(Vacuumed(table.root, named.length.toLong, bytes, 0L, "DELETED"))
  }

  /** The lengths of those files that exist, with one listing for each directory. */
  def lengths(fs: FileSystem, files: Seq[Path]): Map[Path, Long] = {
    val wanted = files.map(fs.makeQualified).toSet
    wanted.map(_.getParent).toSeq.flatMap(TextFiles.children(fs, _))
      .filter(s => s.isFile && wanted(fs.makeQualified(s.getPath)))
      .map(s => fs.makeQualified(s.getPath) -> s.getLen).toMap
  }

  def remove(session: ClassicSession, table: DeltaClusterTable, fs: FileSystem): Unit = {
    fs.delete(table.state.dir, true)
    val ours = table.properties.keys.filter(_.toLowerCase(java.util.Locale.ROOT).startsWith("zorder.")).toSeq
    if (ours.nonEmpty) {
      val keys = ours.map(k => s"'$k'").mkString(", ")
      session.sql(s"ALTER TABLE ${sql(table)} UNSET TBLPROPERTIES ($keys)").collect()
    }
    ()
  }

  def sql(table: DeltaClusterTable): String = s"delta.`${table.root}`"
}
