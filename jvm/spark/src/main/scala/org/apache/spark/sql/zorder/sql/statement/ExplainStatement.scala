package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.table.TableRef

/** Parses `ZORDER EXPLAIN query` and `ZORDER EXPLAIN LOG table`. No query begins with LOG. */
object ExplainStatement {

  def build(text: StatementText, tokens: IndexedSeq[Token], from: Int): Statement = {
    val word = tokens.lift(from).getOrElse(text.fail(text.sql.length, "it ends after ZORDER EXPLAIN"))
    if (word.is("LOG")) {
      val (log, next) = TableRefParser.read(text, tokens, from + 1)
      tokens.lift(next).foreach(text.found(_, "behind the query log"))
      Statement.ExplainLog(log match {
        case TableRef.Location(path) => path
        case name: TableRef.Name => name.sql
      })
    } else Statement.ExplainQuery(text.slice(tokens.drop(from)))
  }
}
