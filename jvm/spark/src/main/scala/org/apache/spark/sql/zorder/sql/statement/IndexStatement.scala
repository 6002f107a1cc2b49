package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.table.TableRef

/** Reads the clauses of `ZORDER INDEX`. */
object IndexStatement {

  def create(text: StatementText, target: TableRef, clauses: Seq[ClauseBody]): Statement.CreateIndex =
    Statement.CreateIndex(
      target,
      clauses.find(_.clause == Clause.Columns).toSeq.flatMap(ClusterStatement.list(text, _)))
}
