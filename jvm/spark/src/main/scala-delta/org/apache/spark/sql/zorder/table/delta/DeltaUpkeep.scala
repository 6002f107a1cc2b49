package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.Vacuumed

/** Vacuum, rollback and removal: Delta's own means wherever it has some. */
private[delta] object DeltaUpkeep {
  private val MillisPerHour = 3600000.0

  /** Delta's VACUUM: rewritten files, and those of runs that died before their commit. */
  def vacuum(
      session: ClassicSession,
      table: DeltaClusterTable,
      keepMs: Long,
      dryRun: Boolean): Seq[Vacuumed] = {
    val statement = s"VACUUM ${sql(table)} RETAIN ${keepMs / MillisPerHour} HOURS"
    val named = session.sql(s"$statement DRY RUN").collect().map(_.getString(0))
    if (!dryRun) session.sql(statement).collect()
    val fs = table.root.getFileSystem(session.sessionState.newHadoopConf())
    if (named.isEmpty) Nil
    else {
      val bytes = if (dryRun) named.map(length(fs, _)).sum else 0L
      Seq(Vacuumed(table.root, named.length.toLong, bytes, 0L, "DELETED"))
    }
  }

  /** Delta's RESTORE, as long as the run made the table's last commits: others' would be lost with them. */
  def rollback(session: ClassicSession, table: DeltaClusterTable): String = {
    val commits = table.state.lastRun()
    val versions = commits.flatMap(_.version)
    if (versions.isEmpty) refuse(s"There is no run of ${table.name} to roll back.")
    val (run, before) = (commits.last, versions.head - 1)
    if (restored(session, table, versions.last, before)) () // by a rollback that died before its record
    else if (versions == (before + 1 to table.version))
      session.sql(s"RESTORE TABLE ${sql(table)} TO VERSION AS OF $before").collect()
    else
      refuse(s"${table.name} was written to after the run ${run.runId} began (version " +
        s"${versions.mkString(", ")}, now ${table.version}), and RESTORE would lose that; use Delta's RESTORE " +
        "if you mean it.")
    table.state.writeRollback(run, table.name)
    run.runId
  }

  /** Whether the one commit since version `last` took the table back to version `before`. */
  private def restored(session: ClassicSession, table: DeltaClusterTable, last: Long, before: Long): Boolean =
    table.version == last + 1 && {
      val newest = session.sql(s"DESCRIBE HISTORY ${sql(table)} LIMIT 1").head()
      newest.getAs[String]("operation") == "RESTORE" &&
      newest.getAs[Map[String, String]]("operationParameters").get("version").contains(before.toString)
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

  private def sql(table: DeltaClusterTable): String = s"delta.`${table.root}`"

  private def length(fs: FileSystem, path: String): Long =
    try fs.getFileStatus(new Path(path)).getLen
    catch { case _: java.io.IOException => 0L }
}
