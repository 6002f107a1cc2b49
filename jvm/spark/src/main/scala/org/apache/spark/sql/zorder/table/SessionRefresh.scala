package org.apache.spark.sql.zorder.table

import scala.collection.JavaConverters._
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.PathText

/**
 * Makes a session forget which files a table has, once after each statement that changed them, for every format.
 * Spark keeps lists of files by name, by path and in cached DataFrames, and would read or update files that are gone.
 */
private[zorder] object SessionRefresh extends Logging {

  /**
   * @param roots
   *   where the table was, and where it is
   */
  def apply(session: ClassicSession, ref: TableRef, roots: Seq[Path]): Unit = {
    tried(ref match {
      case TableRef.Name(parts) => named(session, QuotingUtils.quoteNameParts(parts))
      // the session may have read the table by any name that the catalog has for it
      case _: TableRef.Location => session.sessionState.catalog.invalidateAllCachedTables()
    })
    roots.distinct.filter(isReachable(session, _))
      .foreach(root => tried(session.catalog.refreshByPath(root.toString)))
  }

  /** Nothing that Spark reads by a path lies where Hadoop has no file system, whatever it says why. */
  private def isReachable(session: ClassicSession, root: Path): Boolean =
    try {
      root.getFileSystem(session.sessionState.newHadoopConf())
      true
    } catch { case NonFatal(_) | _: LinkageError => false }

  /**
   * A DataSource V2 table (Iceberg's) knows its snapshot itself, and DataFrames share the table with its catalog. If
   * the catalog forgot the table, they would keep the old snapshot.
   */
  private def named(session: ClassicSession, name: String): Unit = {
    val plan = session.table(name).queryExecution.analyzed
    if (plan.exists(_.isInstanceOf[DataSourceV2Relation]))
      session.sharedState.cacheManager.recacheByPlan(session, plan)
    else session.catalog.refreshTable(name)
  }

  /** What was committed stays committed. */
  private def tried(refresh: => Unit): Unit =
    try refresh
    catch {
      case NonFatal(e) =>
        logWarning(
          "The session may still read old files: run REFRESH TABLE, or spark.catalog.refreshByPath",
          e)
    }
}

/** Streaming queries of this application that read a directory, in any session. Those of others cannot be seen. */
private[table] object ActiveStreams {

  /** As Spark calls the source in the plan of a query, which is there before the first batch. */
  private val FileSource = "FileSource\\[(.*)\\]".r

  /** A stream knows files by their paths: it takes the rows of new files for new rows, and never sees moved files. */
  def refuseReaders(session: ClassicSession, root: Path): Unit =
    for {
      query <- session.sharedState.activeStreamingQueries.values.asScala
      leaf <- query.analyzedPlan.collectLeaves() if leaf.isStreaming
      path <- reads(session, leaf.toString) if touches(path, root)
    } refuse(
      "ZORDER_SESSION_REFUSED.STREAMING_READER",
      "query" -> Option(query.name).getOrElse(query.id.toString),
      "path" -> path)

  private def reads(session: ClassicSession, source: String): Option[Path] = source match {
    case FileSource(text) => Try(new Path(text)).toOption.map { path =>
        Try(path.getFileSystem(session.sessionState.newHadoopConf()).makeQualified(path)).getOrElse(path)
      }
    case _ => None
  }

  private def touches(source: Path, root: Path): Boolean = {
    val (a, b) = (PathText.of(source), PathText.of(root))
    PathText.isWithin(a, b) || PathText.isWithin(b, a)
  }
}
