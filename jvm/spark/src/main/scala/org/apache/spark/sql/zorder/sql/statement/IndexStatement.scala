package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.conf.IndexOptions
import org.apache.spark.sql.zorder.table.TableRef

/** Reads the clauses of `ZORDER INDEX`. */
object IndexStatement {

  def create(text: StatementText, target: TableRef, clauses: Seq[ClauseBody]): CreateIndexCommand = {
    def clause(wanted: Clause): Option[ClauseBody] = clauses.find(_.clause == wanted)
    val options = clause(Clause.With).fold(Map.empty[String, String]) {
      ClusterStatement.options(text, _)((name, value) => (IndexOptions.named(name), value))
    }
    CreateIndexCommand(
      target,
      clause(Clause.Columns).toSeq.flatMap(ClusterStatement.list(text, _)),
      IndexOptions.of(options))
  }
}
