package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableRef}

/** Parses the table of a statement: a name in parts, a path in quotes, or ``format.`path` ``. */
object TableRefParser {
  private val formats = "parquet" +: FormatDescriptor.all.map(_.id)

  /**
   * @param from
   *   index of the first token of the table
   * @return
   *   the table and the index of the token behind it
   */
  def read(text: StatementText, from: Int): (TableRef, Int) = {
    val token = text.tokens.lift(from).getOrElse(text.ended("it names no table"))
    token.kind match {
      case TokenKind.Text =>
        val path = text.string(token, "a path")
        if (path.trim.isEmpty) text.found(token, "where a path belongs")
        (TableRef.Location(path), from + 1)
      case TokenKind.Word | TokenKind.Quoted => named(text, from)
      case TokenKind.Symbol => text.found(token, "where a table name or a path in quotes belongs")
    }
  }

  /** A table given as a string: a path, or else a table as a statement has it. */
  def ofText(session: SparkSession, text: String): TableRef =
    if (TableRef.isPath(text) && !text.startsWith("'")) TableRef.Location(text)
    else {
      val whole =
        StatementText.of(text, "a table name or a path", Shims.classic(session).sessionState.sqlParser)
      val (table, next) = read(whole, 0)
      whole.tokens.lift(next).foreach(whole.found(_, "behind the table name"))
      table
    }

  private def named(text: StatementText, from: Int): (TableRef, Int) = {
    import text.tokens
    var end = from + 1
    while (tokens.lift(end).exists(_.isSymbol(".")) && tokens.lift(end + 1).exists(isPart)) end += 2
    val parts = tokens.slice(from, end)
    val names = text.name(parts)
    val isPath = parts.size == 3 && formats.exists(parts.head.is) && parts.last.kind == TokenKind.Quoted
    (if (isPath) TableRef.Location(names.last) else TableRef.Name(names), end)
  }

  private def isPart(token: Token): Boolean =
    token.kind == TokenKind.Word || token.kind == TokenKind.Quoted
}
