package org.apache.spark.sql.zorder.table.parquet

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.zorder.table.parquet.files.ListedFile
import org.apache.spark.util.Utils

/** Why `ZORDER VACUUM` leaves files where they are, and what to do about it: one sentence for each status. */
private[parquet] object StayReason {

  /**
   * Files that are younger than the retention.
   *
   * @param changedMs
   *   when the run replaced them, in milliseconds since the epoch
   */
  def kept(files: Seq[ListedFile], changedMs: Long, retentionMs: Long): String = {
    val until = changedMs + math.min(retentionMs, Long.MaxValue - changedMs)
    s"${count(files.size, "file")}, ${Utils.bytesToString(files.map(_.length).sum)}, from before a run: " +
      s"kept until ${Instant.ofEpochMilli(until).truncatedTo(ChronoUnit.SECONDS)}, so that ZORDER ROLLBACK " +
      "can restore them; with RETAIN 0 HOURS the vacuum deletes them now."
  }

  def notOurs(files: Int): String =
    s"${count(files, "file")} that no run has replaced: not ours to delete; look at what is there."

  def writer(directory: String): String =
    s"A job may still be writing here ($directory): run the vacuum again when it has ended."

  val overwritten: String =
    "A job has written here after the old files were gone: say what its files are, by LATE FILES APPEND, " +
      "REPLACE or IGNORE."

  val link: String = "A symbolic link leads here: what it points to is not deleted."

  val watched: String =
    "Empty, and stays: it is where the table was first, and a job may still write here by path."

  val carriedOver: String = "A job has written here after the files had moved: its files join the table."

  val abandoned: String = "A run has died here: a vacuum finishes its commit or takes it back."

  val noJournal: String =
    "It has a name of ours, but nothing says what it is, so it stays; look at what is there."

  private def count(n: Int, noun: String): String = s"$n $noun${if (n == 1) "" else "s"}"
}
