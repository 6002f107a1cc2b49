package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.table.TableRef

/** Parses `ZORDER EXPLAIN query` and `ZORDER EXPLAIN LOG table`. No query begins with LOG. */
object ExplainStatement {

  def build(text: StatementText, from: Int): ZOrderCommand = {
    val word = text.tokens.lift(from).getOrElse(text.ended("it ends after ZORDER EXPLAIN"))
    if (word.is("LOG")) {
      val (log, next) = TableRefParser.read(text, from + 1)
      text.tokens.lift(next).foreach(text.found(_, "behind the query log"))
      ExplainLogCommand(log match {
        case TableRef.Location(path) => path
        case name: TableRef.Name => name.sql
      })
    } else ExplainQueryCommand(text.slice(text.tokens.drop(from)))
  }
}
