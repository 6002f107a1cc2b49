package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.run.request.{ClusterColumn, ClusterColumns}
import org.apache.spark.sql.zorder.stats.StatColumn

/**
 * The columns whose statistics a run reads from footers: first the clustering columns, then the columns that
 * clustering expressions are computed from, then others.
 *
 * @param clustering
 *   how many are of the first kind
 * @param bases
 *   how many are of the second kind
 */
final private[zorder] case class RunStatistics(columns: Seq[StatColumn], clustering: Int, bases: Int) {
  def baseNumbers: Range = clustering until clustering + bases
  def otherNumbers: Range = baseNumbers.end until columns.length
}

private[zorder] object RunStatistics {

  /** The most other columns that are read. */
  private val MostColumns = 64

  /** The most statistics of other columns that the driver holds. */
  private val MostZones = 1000000

  /**
   * @param asked
   *   columns of the query log, as SQL text: they come first among the others
   * @param files
   *   number of files whose footers are read
   */
  def of(
      schema: StructType,
      partitionColumns: Seq[String],
      columns: Seq[ClusterColumn],
      asked: Set[String],
      files: Int): RunStatistics = {
    val clustering = columns.flatMap(_.path)
    val leaves = ClusterColumns.orderedPaths(schema.filterNot(f => partitionColumns.contains(f.name)))
    // a column without an order, such as an array, has no statistics
    val bases = columns.flatMap(c => ColumnPath.within(c.expression)).distinct.diff(clustering)
      .filter(leaves.contains)
    val (first, last) = leaves.partition(p => asked(ColumnPath.sql(p)))
    val room = math.min(MostColumns, MostZones / math.max(1, files))
    val others = (first ++ last).filterNot((clustering ++ bases).contains).take(room)
    val all = (clustering ++ bases ++ others).map(StatColumn.in(schema, _).copy(overlookNaN = true))
    RunStatistics(all, clustering.length, bases.length)
  }

  /** The statistics of the clustering columns alone. */
  def ofClustering(schema: StructType, columns: Seq[ClusterColumn]): RunStatistics = {
    val stats = columns.flatMap(_.path).map(StatColumn.in(schema, _).copy(overlookNaN = true))
    RunStatistics(stats, stats.length, 0)
  }
}
