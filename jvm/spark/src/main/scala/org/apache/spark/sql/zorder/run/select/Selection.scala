package org.apache.spark.sql.zorder.run.select

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.{DataFile, PartitionValues}

/**
 * Which files a run takes.
 *
 * @param kept
 *   files to leave alone
 * @param footers
 *   of the taken files, if the choice needed them, so that they are not read again
 * @param where
 *   the folded condition; empty without one
 * @param worst
 *   whether only the worst of its files were taken
 */
final private[zorder] case class Selection(
    files: Seq[DataFile],
    kept: Seq[DataFile],
    footers: Option[Seq[FileFooter]] = None,
    where: String = "",
    worst: Boolean = false) {

  /** All files that the statement looked at. */
  def considered: Int = files.length + kept.length

  /** Leaves these files alone as well. */
  def without(settled: Seq[DataFile]): Selection =
    if (settled.isEmpty) this
    else {
      val paths = settled.map(_.path).toSet
      copy(
        files.filterNot(f => paths(f.path)),
        kept ++ files.filter(f => paths(f.path)),
        footers.map(_.filterNot(f => paths(f.file.path))))
    }

  /** Ends the reason of a result. */
  def summary: String =
    if (where.isEmpty && !worst) ""
    else {
      val by = Seq(if (where.isEmpty) "" else s"WHERE $where", if (worst) "worstFiles" else "")
      s" ${by.filter(_.nonEmpty).mkString(" and ")} took ${files.length} of " +
        s"${HumanReadable.count(considered.toLong, "file")}."
    }
}

/** WHERE picks whole files: those wholly inside it, or with `overlap` all that it does not rule out. */
private[zorder] object Selection {

  /**
   * @param session
   *   the pinned one: footers are read in it
   * @param clusterColumns
   *   the footers also have the statistics of these columns, as the first ones
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      schema: StructType,
      files: Seq[DataFile],
      where: WhereCondition,
      overlap: Boolean,
      clusterColumns: Seq[StatColumn]): Selection = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val rest: Map[String, Expression] = files.map(_.partition).distinct
      .map(p => p -> where.in(PartitionValues.of(p, table.partitionSchema, zone))).toMap
    val mayMatch = rest.map { case (partition, left) => partition -> Ignorant.mayMatch(left) }
    val matchesWholly = rest.map { case (partition, left) => partition -> Ignorant.matchesWholly(left) }
    def inside(f: DataFile): Boolean = mayMatch(f.partition) && matchesWholly(f.partition)
    val candidates = files.filter(f => mayMatch(f.partition))
    if (where.paths.isEmpty || candidates.forall(inside))
      selection(files, candidates.filter(f => overlap || inside(f)), None, where)
    else {
      val columns = where.paths.map(StatColumn.in(schema, _))
      val footers = Footers.read(session, candidates, clusterColumns ++ columns)
      val taken = footers.filter { f =>
        val file = new FileMatch(bounds(f, where.paths, clusterColumns.length, _))
        val condition = rest(f.file.partition)
        if (overlap) file.mayMatch(condition) else file.mayMatch(condition) && file.matchesWholly(condition)
      }
      selection(files, taken.map(_.file), Some(taken), where)
    }
  }

  private val Ignorant = new FileMatch(_ => ColumnBounds.Unknown)

  private def selection(
      all: Seq[DataFile],
      taken: Seq[DataFile],
      footers: Option[Seq[FileFooter]],
      where: WhereCondition): Selection = {
    val paths = taken.map(_.path).toSet
    Selection(taken, all.filterNot(f => paths(f.path)), footers, where.sql)
  }

  private def bounds(
      footer: FileFooter,
      paths: Seq[Seq[String]],
      offset: Int,
      sql: String): ColumnBounds = {
    val column = paths.indexWhere(ColumnPath.sql(_) == sql)
    if (column < 0 || footer.opaque) ColumnBounds.Unknown
    else {
      val number = offset + column
      ColumnBounds(footer.zone(number), mayBeNull = !footer.rowGroups.forall(_.nullFree(number)))
    }
  }
}
