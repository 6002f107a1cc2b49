package org.apache.spark.sql.zorder.skip.aggregate

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/**
 * The files of one listing whose rows an index does not count. The listing is the one by which the others were counted,
 * so that no file is counted twice or never; the partition filters were applied when it was made.
 */
final private[aggregate] class RemainingFiles(of: FileIndex, listed: Seq[PartitionDirectory])
    extends FileIndex {
  private val paths = listed.flatMap(_.files.map(_.getPath))

  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] = listed

  override def rootPaths: Seq[Path] = of.rootPaths
  override def inputFiles: Array[String] = paths.map(_.toString).toArray
  override def refresh(): Unit = of.refresh()
  override def sizeInBytes: Long = listed.flatMap(_.files.map(_.getLen)).sum
  override def partitionSchema: StructType = of.partitionSchema

  private def identity: (FileIndex, Seq[Path]) = (of, paths)
  override def equals(that: Any): Boolean = that match {
    case r: RemainingFiles => identity == r.identity
    case _ => false
  }
  override def hashCode(): Int = identity.hashCode()
  override def toString: String = s"files of $of that its statistics index does not answer for"
}
