package org.apache.spark.sql.zorder.audit.read

import org.apache.spark.sql.zorder.audit.measure.Spacing
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.run.request.{ClusterColumn, ClusterColumns, ClusteredBy}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.sql.zorder.table.ClusterTable

/**
 * The columns that an audit is about, and how files are asked for them.
 *
 * @param notes
 *   sentences on what was left out
 */
final private[audit] case class AuditedColumns(
    columns: IndexedSeq[ClusterColumn],
    stats: IndexedSeq[StatColumn],
    notes: Seq[String]) {
  def names: Seq[String] = columns.map(_.sql)

  def spacings: IndexedSeq[Spacing] = stats.map(s => Spacing.of(s.dataType))
}

private[audit] object AuditedColumns {
  val none: AuditedColumns = AuditedColumns(IndexedSeq.empty, IndexedSeq.empty, Nil)

  /**
   * @param list
   *   as in `BY (...)`, or None for the columns that the table names itself or was clustered by
   */
  def of(session: ClassicSession, table: ClusterTable, list: Option[String]): AuditedColumns = {
    val named = list.map(ClusteredBy.inList).orElse(ClusteredBy.of(table)).getOrElse(refuse(
      s"${table.name} was never clustered, so the audit does not know which columns to look at: name them, as in " +
        s"clustering_information('${table.name}', 'a, b')."))
    if (named.isEmpty)
      refuse(s"The list of columns to audit is empty: name some, as in '${table.schema.fieldNames.head}'.")
    val all = ClusterColumns.resolve(session, table, table.schema, named)
    val (stored, computed) = all.partition(_.path.isDefined)
    // an expression of the last run has no bounds in files; one that somebody asks for is a mistake
    if (stored.isEmpty || list.isDefined) computed.headOption.foreach(c =>
      refuse(s"Files keep no bounds of the expression ${c.sql}: audit the columns that it is computed from."))
    AuditedColumns(
      stored.toIndexedSeq,
      stored.map(c => StatColumn.in(table.schema, c.path.get).copy(overlookNaN = true)).toIndexedSeq,
      computed.map(c => s"Files keep no bounds of the expression ${c.sql}: it is left out."))
  }
}
