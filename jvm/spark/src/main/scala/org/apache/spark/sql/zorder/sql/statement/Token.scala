package org.apache.spark.sql.zorder.sql.statement

/** The kind of a token. Comments and blanks are no tokens. */
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
 *   number of open brackets around it; a bracket itself is outside its pair
 */
final case class Token(kind: TokenKind, text: String, start: Int, depth: Int) {
  def end: Int = start + text.length

  /** Is this the unquoted keyword, in any case? */
  def is(word: String): Boolean = kind == TokenKind.Word && text.equalsIgnoreCase(word)

  def isSymbol(symbol: String): Boolean = kind == TokenKind.Symbol && text == symbol
}
