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
  def deltaSyntax: Boolean = statement.regionMatches(true, 0, "OPTIMIZE", 0, "OPTIMIZE".length) &&
    curve.isEmpty && options.isEmpty && into.isEmpty && !dryRun

  /** Whether it changes the table: a dry run and a copy only read it. */
  def changes: Boolean = !dryRun && into.isEmpty
}
