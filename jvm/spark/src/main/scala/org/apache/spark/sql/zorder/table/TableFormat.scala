package org.apache.spark.sql.zorder.table

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * Opens the tables of a format that keeps its own list of files. The adapter is in this jar, compiled against one
 * version of the format. The format's own classes are the user's: they may be of another version, or missing.
 */
trait TableFormat {

  /**
   * Finds the table for a statement that reads, if it is one of this format. This needs no right to write and
   * changes nothing, not even what a dead run has left.
   *
   * @return
   *   None for a table of any other format
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: why it cannot be rewritten, and what to do
   */
  def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable]

  /** Finds the table for a statement that changes it, after it has undone what dead runs have left. */
  def open(session: ClassicSession, ref: TableRef): Option[ClusterTable] = locate(session, ref)
}

/** The adapters that this session can use: those whose format's classes are present. */
private[table] object TableFormats extends Logging {

  /** The table, from the adapter of its format; None if it is plain Parquet or of no known format. */
  def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable] = first(_.locate(session, ref))

  /** The same for a statement that changes the table. */
  def open(session: ClassicSession, ref: TableRef): Option[ClusterTable] = first(_.open(session, ref))

  private def first(find: TableFormat => Option[ClusterTable]): Option[ClusterTable] =
    FormatDescriptor.all.iterator.flatMap { descriptor =>
      load(descriptor).flatMap { format =>
        try find(format)
        catch {
          case e: LinkageError =>
            logWarning(s"The ${descriptor.name} adapter failed", e)
            refuse(
              s"The version of ${descriptor.name} on the class path is not one that this jar works with " +
                s"($e); docs/guide/formats.md lists those that do.")
        }
      }
    }.take(1).toList.headOption

  /** Whether the classes of a format are there. */
  def isPresent(descriptor: FormatDescriptor): Boolean = find(descriptor.formatClass).isDefined

  private def load(descriptor: FormatDescriptor): Option[TableFormat] =
    for {
      _ <- find(descriptor.formatClass)
      adapter <- find(s"${getClass.getPackage.getName}.${descriptor.adapter}")
      format <-
        try Some(adapter.getDeclaredConstructor().newInstance().asInstanceOf[TableFormat])
        catch { case NonFatal(_) | _: LinkageError => None }
    } yield format

  /** In the loader of our own classes, or in that of the session's added jars. */
  private def find(name: String): Option[Class[_]] =
    in(getClass.getClassLoader, name)
      .orElse(Option(Thread.currentThread.getContextClassLoader).flatMap(in(_, name)))

  private def in(loader: ClassLoader, name: String): Option[Class[_]] =
    try Some(Class.forName(name, false, loader))
    catch { case _: ClassNotFoundException | _: LinkageError => None }
}
