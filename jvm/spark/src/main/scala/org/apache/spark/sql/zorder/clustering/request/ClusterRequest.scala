package org.apache.spark.sql.zorder.clustering.request

import org.apache.spark.sql.zorder.conf.OptionSetting
import org.apache.spark.sql.zorder.table.TableRef

/**
 * One `OPTIMIZE` or `ZORDER TABLE` statement, parsed but not yet looked up.
 *
 * @param by
 *   clustering columns as SQL expressions; empty = take them from the table
 * @param curve
 *   one of `CurveRegistry.names`, if the statement names one
 * @param options
 *   the statement's own `WITH (...)`, not yet merged with those of the table and the session
 * @param into
 *   write a clustered copy there and leave the table alone
 */
final case class ClusterRequest(
    target: TableRef,
    by: Seq[String],
    full: Boolean,
    where: Option[String],
    curve: Option[String],
    options: Seq[OptionSetting],
    into: Option[String],
    dryRun: Boolean,
    statement: String) {

  /** Whether it is an `OPTIMIZE` with only clauses that Delta's own statement has, too. */
  def deltaSyntax: Boolean = isOptimize && curve.isEmpty && options.isEmpty && into.isEmpty && !dryRun

  /** What stands before the list of columns. */
  def columnsClause: String = if (isOptimize) "ZORDER BY" else "BY"

  private def isOptimize: Boolean = statement.regionMatches(true, 0, "OPTIMIZE", 0, "OPTIMIZE".length)

  /** Whether it changes the table: a dry run and a copy only read it. */
  def changes: Boolean = !dryRun && into.isEmpty
}

private[zorder] object ClusterRequest {

  /**
   * The text of a `ZORDER TABLE`.
   *
   * @param where
   *   the condition; empty for none
   * @param by
   *   clustering columns as SQL expressions
   * @param options
   *   names and values as SQL writes them
   */
  def sql(
      target: TableRef,
      full: Boolean,
      where: String,
      by: Seq[String],
      curve: Option[String],
      options: Seq[(String, String)]): String = {
    def list(items: Seq[String]) = items.mkString("(", ", ", ")")
    val clauses = Seq(
      if (full) Some("FULL") else None,
      Some(where).filter(_.nonEmpty).map(w => s"WHERE $w"),
      Some(s"BY ${list(by)}"),
      curve.map(c => s"USING CURVE $c"),
      if (options.isEmpty) None else Some(s"WITH ${list(options.map { case (k, v) => s"$k = $v" })}"))
    s"ZORDER TABLE ${target.sql} ${clauses.flatten.mkString(" ")}"
  }
}
