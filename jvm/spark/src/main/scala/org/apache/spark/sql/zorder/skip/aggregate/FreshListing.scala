package org.apache.spark.sql.zorder.skip.aggregate

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{And, BindReferences, Expression, Literal, Predicate}
import org.apache.spark.sql.execution.datasources.PartitionDirectory
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.scan.IndexedScan
import org.apache.spark.sql.zorder.skip.scan.PlanParts.settled
import org.apache.spark.util.ThreadUtils

/**
 * Filters that take or leave whole partitions, in the names of the scan.
 *
 * @param holds
 *   whether all of them are true for the values of a directory. A listing only promises to leave out no more than
 *   they do: it passes over a filter that it does not know.
 */
final private[aggregate] class WholePartitions private (
    val filters: Seq[Expression],
    val holds: InternalRow => Boolean)

private[aggregate] object WholePartitions {

  /** None where one of the filters is not on the values of directories alone. */
  def of(scan: IndexedScan, filters: Seq[Expression]): Option[WholePartitions] = {
    val same = scan.relation.conf.resolver
    val columns =
      scan.files.partitionSchema.fieldNames.toSeq.flatMap(n =>
        scan.relation.output.find(a => same(a.name, n)))
    val named = filters.map(scan.named)
    val all = named.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
    val applied =
      named.forall(f => settled(f) && f.references.nonEmpty && f.references.subsetOf(scan.partitionColumns))
    if (!applied || columns.length != scan.files.partitionSchema.length) None
    else {
      val test = Predicate.createInterpreted(BindReferences.bindReference(all, columns))
      Some(new WholePartitions(named, test.eval))
    }
  }
}

/**
 * The files of a scan as they are now. A session may hold a listing that is older than the last write to a file, and an
 * answer from the index opens no file that would show it: so the directories are listed once more. Which files a query
 * is about stays what the session's listing says.
 */
private[aggregate] object FreshListing {

  /** More requests at a time would crowd out others. */
  private val MostThreads = 16

  /** None if a file is gone, or a directory cannot be listed: Spark will say so, or not mind. */
  def of(scan: IndexedScan, whole: WholePartitions): Option[Seq[PartitionDirectory]] =
    try {
      val held = scan.index.wrapped.listFiles(whole.filters, Nil).filter(d => whole.holds(d.values))
      val directories = held.flatMap(_.files.map(_.getPath.getParent)).distinct
      val conf =
        Shims.classic(scan.files.sparkSession).sessionState.newHadoopConfWithOptions(scan.files.options)
      val now = inParallel(directories)(listed(conf, _)).flatten.toMap
      val there = held.forall(_.files.forall(f => now.contains(f.getPath)))
      if (!there) None
      else Some(held.map(d =>
        d.copy(files = d.files.map { f =>
          val status = now(f.getPath)
          val same = status.getLen == f.getLen && status.getModificationTime == f.getModificationTime
          // the status that is held may know where the blocks of the file lie
          if (same) f else f.copy(fileStatus = status)
        })))
    } catch { case NonFatal(_) => None }

  private def listed(conf: Configuration, directory: Path): Seq[(Path, FileStatus)] =
    directory.getFileSystem(conf).listStatus(directory).toSeq.map(s => s.getPath -> s)

  private def inParallel[A](directories: Seq[Path])(list: Path => A): Seq[A] =
    if (directories.length < 2) directories.map(list)
    else ThreadUtils.parmap(directories, "zorder-listing", math.min(MostThreads, directories.length))(list)
}
