package org.apache.spark.sql.zorder.sql.statement

import scala.collection.mutable

/**
 * Splits a statement into tokens by the rules of Spark's own lexer, as far as finding clauses needs them:
 * comments (`--` to the end of the line, nested `/* */`), strings with either quote, `r'raw'` strings,
 * backquoted names and brackets. It reads no further than the tokens asked for.
 */
final class Lexer(val sql: String) {
  private val read = mutable.ArrayBuffer.empty[Token]
  private var at = 0
  private var open: List[Char] = Nil
  private var openAt: List[Int] = Nil

  /** All tokens, or an [[UnreadableStatement]] where a quote, comment or bracket does not match. */
  def tokens(): IndexedSeq[Token] = {
    while (readOne()) {}
    openAt.headOption.foreach(i => fail(s"the bracket '${sql(i)}' is never closed", i))
    read.toIndexedSeq
  }

  /** The token of this number, from 0; None behind the last one. */
  def token(number: Int): Option[Token] = {
    while (read.size <= number && readOne()) {}
    read.lift(number)
  }

  /** False at the end. */
  private def readOne(): Boolean = {
    skipBlanksAndComments()
    val more = at < sql.length
    if (more) {
      val start = at
      val kind = sql(start) match {
        case '`' => quoted('`', backslash = false); TokenKind.Quoted
        case quote @ ('\'' | '"') => quoted(quote, backslash = true); TokenKind.Text
        case c if isWordPart(c) => wordOrRawString()
        case _ => at += 1; TokenKind.Symbol
      }
      val text = sql.substring(start, at)
      val symbol = if (kind == TokenKind.Symbol) text.head else ' '
      if (isClosing(symbol)) close(symbol, start)
      read += Token(kind, text, start, open.size)
      if (isOpening(symbol)) { open = symbol :: open; openAt = start :: openAt }
    }
    more
  }

  private def isWordPart(c: Char): Boolean = Character.isLetterOrDigit(c) || c == '_'

  private def isOpening(c: Char): Boolean = c == '(' || c == '['

  private def isClosing(c: Char): Boolean = c == ')' || c == ']'

  private def close(bracket: Char, start: Int): Unit = {
    if (open.headOption != Some(if (bracket == ')') '(' else '['))
      fail(s"the bracket '$bracket' closes nothing", start)
    open = open.tail
    openAt = openAt.tail
  }

  private def wordOrRawString(): TokenKind = {
    val start = at
    while (at < sql.length && isWordPart(sql(at))) at += 1
    val raw = at - start == 1 && (sql(start) == 'r' || sql(start) == 'R') && at < sql.length
    if (raw && (sql(at) == '\'' || sql(at) == '"')) {
      quoted(sql(at), backslash = false)
      TokenKind.Text
    } else TokenKind.Word
  }

  /** Moves behind the closing quote. A doubled quote stands for itself. */
  private def quoted(quote: Char, backslash: Boolean): Unit = {
    val start = at
    at += 1
    var closed = false
    while (!closed) {
      if (at >= sql.length) fail(s"the quote $quote is never closed", start)
      else if (backslash && sql(at) == '\\') at = math.min(at + 2, sql.length)
      else if (sql(at) != quote) at += 1
      else if (at + 1 < sql.length && sql(at + 1) == quote) at += 2
      else { at += 1; closed = true }
    }
  }

  private def skipBlanksAndComments(): Unit = {
    var more = true
    while (more) {
      val start = at
      while (at < sql.length && isBlank(sql(at))) at += 1
      if (sql.startsWith("--", at)) skipLine()
      else if (sql.startsWith("/*", at)) skipBracketed()
      more = at > start
    }
  }

  private def isBlank(c: Char): Boolean =
    Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\ufeff'

  private def skipLine(): Unit = {
    while (at < sql.length && sql(at) != '\n' && sql(at) != '\r') {
      // Spark continues a comment whose line ends in a backslash
      at += (if (sql.startsWith("\\\n", at)) 2 else 1)
    }
  }

  private def skipBracketed(): Unit = {
    val start = at
    var depth = 0
    do {
      if (at >= sql.length) fail("the comment /* is never closed", start)
      else if (sql.startsWith("/*", at)) { depth += 1; at += 2 }
      else if (sql.startsWith("*/", at)) { depth -= 1; at += 2 }
      else at += 1
    } while (depth > 0)
  }

  private def fail(what: String, position: Int): Nothing = throw new UnreadableStatement(what, position)
}

/** The text cannot be split into tokens. */
final class UnreadableStatement(val what: String, val position: Int) extends RuntimeException(what)
