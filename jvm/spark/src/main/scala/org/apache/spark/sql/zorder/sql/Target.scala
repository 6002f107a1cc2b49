package org.apache.spark.sql.zorder.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef

/** Reads the table of a statement: a name in parts, a path in quotes, or ``format.`path` ``. */
object Target {
  private val formats = Seq("parquet", "delta", "iceberg", "hudi")

  /**
   * @param from
   *   index of the first token of the table
   * @return
   *   the table and the index of the token behind it
   */
  def read(syntax: Syntax, tokens: IndexedSeq[Token], from: Int): (TableRef, Int) = {
    val token = tokens.lift(from).getOrElse(syntax.fail(syntax.sql.length, "it names no table"))
    token.kind match {
      case TokenKind.Text =>
        val path = syntax.string(token, "a path")
        if (path.trim.isEmpty) syntax.found(token, "where a path belongs")
        (TableRef.Location(path), from + 1)
      case TokenKind.Word | TokenKind.Quoted => named(syntax, tokens, from)
      case TokenKind.Symbol => syntax.found(token, "where a table name or a path in quotes belongs")
    }
  }

  /** A table given as a string: with a slash a path, or as in a statement; anything else is a name. */
  def ofText(session: SparkSession, text: String): TableRef =
    if (text.contains("/") && !text.contains("`") && !text.startsWith("'")) TableRef.Location(text)
    else {
      val syntax = new Syntax(text, "a table name or a path", Shims.classic(session).sessionState.sqlParser)
      val tokens = new Lexer(text).tokens()
      val (table, next) = read(syntax, tokens, 0)
      tokens.lift(next).foreach(syntax.found(_, "behind the table name"))
      table
    }

  private def named(syntax: Syntax, tokens: IndexedSeq[Token], from: Int): (TableRef, Int) = {
    var end = from + 1
    while (tokens.lift(end).exists(_.isSymbol(".")) && tokens.lift(end + 1).exists(isPart)) end += 2
    val parts = tokens.slice(from, end)
    val names = syntax.name(parts)
    val isPath = parts.size == 3 && formats.exists(parts.head.is) && parts.last.kind == TokenKind.Quoted
    (if (isPath) TableRef.Location(names.last) else TableRef.Name(names), end)
  }

  private def isPart(token: Token): Boolean =
    token.kind == TokenKind.Word || token.kind == TokenKind.Quoted
}
