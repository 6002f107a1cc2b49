package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.DataFile

/** The footers of a table's files. */
object Footers {

  /**
   * Reads every footer once, in one Spark job (none for a handful of files).
   *
   * @param columns
   *   to get the zones of, for each row group; names are compared as the session compares names
   * @return
   *   in the order of `files`. A file that cannot be read fails the call; an encrypted file is marked.
   */
  def read(session: ClassicSession, files: Seq[DataFile], columns: Seq[StatColumn] = Nil): Seq[FileFooter] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    FooterJob.run(session, files, "footers") { (conf, slice) =>
      val reader = new FooterReader(conf, columns, caseSensitive)
      slice.map(reader.read)
    }
  }

  /**
   * The same, but reads only files whose footers are not known yet.
   *
   * @param known
   *   footers read before, with the same columns; a file that has changed since is read again
   */
  def readOthers(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      known: Seq[FileFooter]): Seq[FileFooter] = {
    val byFile = known.map(f => f.file -> f).toMap
    val others = read(session, files.filterNot(byFile.contains), columns)
    val all = byFile ++ others.map(f => f.file -> f)
    files.map(all)
  }

  /**
   * The statistics of files that anybody may have written, as far as they can be read, in one job.
   *
   * @param listed
   *   the columns, by number, whose dictionaries are read for the values that they have
   */
  def readIfPossible(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      listed: Set[Int]): Seq[Option[FileStatistics]] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    FooterJob.run(session, files, "statistics for the index") { (conf, slice) =>
      val reader = new FooterReader(conf, columns, caseSensitive)
      slice.map(reader.readIfPossible(_, listed))
    }
  }

  /** Footers and page indexes of files that a run has just written, read in one job. */
  def readWithPages(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn]): (Seq[FileFooter], Seq[FilePages]) = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    FooterJob.run(session, files, "footers and page indexes") { (conf, slice) =>
      val reader = new FooterReader(conf, columns, caseSensitive)
      slice.map(reader.readWithPages)
    }.unzip
  }
}
