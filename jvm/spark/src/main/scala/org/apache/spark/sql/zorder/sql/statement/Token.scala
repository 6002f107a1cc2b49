package org.apache.spark.sql.zorder.sql.statement

/** What a token is; comments and blanks are none. */
sealed trait TokenKind

object TokenKind {

  /** Letters, digits and underscores: keywords, names, numbers and sizes such as `256m`. */
  case object Word extends TokenKind

  /** A string in single or double quotes, prefix such as `r` included. */
  case object Text extends TokenKind

  /** A name in backquotes. */
  case object Quoted extends TokenKind

  /** One character of anything else. */
  case object Symbol extends TokenKind
}

/**
 * One token of a statement.
 *
 * @param start
 *   index of its first character in the statement
 * @param depth
 *   number of brackets open around it; a bracket itself counts as outside
 */
final case class Token(kind: TokenKind, text: String, start: Int, depth: Int) {
  def end: Int = start + text.length

  /** Is this the unquoted keyword, in any case? */
  def is(word: String): Boolean = kind == TokenKind.Word && text.equalsIgnoreCase(word)

  def isSymbol(symbol: String): Boolean = kind == TokenKind.Symbol && text == symbol
}
