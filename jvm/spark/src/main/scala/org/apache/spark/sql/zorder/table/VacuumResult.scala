package org.apache.spark.sql.zorder.table

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.hadoop.fs.Path
import org.apache.spark.util.Utils

/** What a vacuum did in one directory. */
final case class VacuumResult(path: Path, files: Long, bytes: Long, carried: Long, status: VacuumStatus)

/**
 * What has become of the files of a directory.
 *
 * @param reason
 *   why files stay, and what to do about it, as one sentence; None if there is nothing to say
 */
sealed abstract class VacuumStatus(val name: String, val reason: Option[String] = None)

object VacuumStatus {

  /** Files were deleted, or would be without a dry run. */
  case object Deleted extends VacuumStatus("DELETED")

  /** The first place of an external table is empty. */
  case object Watched
      extends VacuumStatus(
        "WATCHED",
        Some("Empty, and stays: it is where the table was first, and a job may still write here by path."))

  /**
   * Files are younger than the retention.
   *
   * @param changedMs
   *   when the run replaced them, in milliseconds since the epoch
   */
  final case class Kept(files: Int, bytes: Long, changedMs: Long, retentionMs: Long)
      extends VacuumStatus("KEPT", Some(kept(files, bytes, changedMs, retentionMs)))

  /** The directory leads to one that is not ours. */
  case object Link
      extends VacuumStatus(
        "LINK",
        Some("A symbolic link leads here: what it points to is not deleted."))

  /** A job has its scratch directory there. */
  final case class WriterInFlight(scratch: String)
      extends VacuumStatus(
        "WRITER_IN_FLIGHT",
        Some(s"A job may still be writing here ($scratch): run the vacuum again when it has ended."))

  /** No journal names these files. */
  final case class FilesLeft(files: Int)
      extends VacuumStatus(
        "FILES_LEFT",
        Some(s"${count(files)} that no run has replaced: not ours to delete; look at what is there."))

  /** The staging directory of a dead run. */
  case object Abandoned
      extends VacuumStatus(
        "ABANDONED",
        Some("A run has died here: a vacuum finishes its commit or takes it back."))

  /** The directory is ours by name, but no journal explains it. */
  case object NoJournal
      extends VacuumStatus(
        "NO_JOURNAL",
        Some("It has a name of ours, but nothing says what it is, so it stays; look at what is there."))

  /** Only late files were there. */
  case object CarriedOver
      extends VacuumStatus(
        "CARRIED_OVER",
        Some("A job has written here after the files had moved: its files join the table."))

  /** In a dry run: late files that would stop the vacuum. */
  case object Overwritten
      extends VacuumStatus(
        "OVERWRITTEN",
        Some("A job has written here after the old files were gone: say what its files are, by LATE FILES " +
          "APPEND, REPLACE or IGNORE."))

  /** What the user has said of late files was done. */
  case object Appended extends VacuumStatus("APPENDED")
  case object Replaced extends VacuumStatus("REPLACED")
  case object Ignored extends VacuumStatus("IGNORED")

  /** Iceberg: another table, or what another catalog has made of this one, lies in the same location. */
  final case class SharedLocation(why: String) extends VacuumStatus("SHARED_LOCATION", Some(why))

  private def kept(files: Int, bytes: Long, changedMs: Long, retentionMs: Long): String = {
    val until = changedMs + math.min(retentionMs, Long.MaxValue - changedMs)
    s"${count(files)}, ${Utils.bytesToString(bytes)}, from before a run: " +
      s"kept until ${Instant.ofEpochMilli(until).truncatedTo(ChronoUnit.SECONDS)}, so that ZORDER ROLLBACK " +
      "can restore them; with RETAIN 0 HOURS the vacuum deletes them now."
  }

  private def count(files: Int): String = s"$files file${if (files == 1) "" else "s"}"
}
