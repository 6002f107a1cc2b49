package org.apache.spark.sql.zorder.sql.statement

import scala.collection.mutable

import org.apache.spark.sql.execution.{
  CodegenMode,
  CostMode,
  ExplainMode,
  ExtendedMode,
  FormattedMode,
  SimpleMode
}
import org.apache.spark.sql.internal.VariableSubstitution

/**
 * Splits a statement into tokens by the rules of Spark's own lexer, as far as finding clauses needs them:
 * comments (`--` to the end of the line, nested `/* */`), strings with either quote, `r'raw'` strings,
 * backquoted names and brackets. It reads no further than the tokens asked for.
 */
final private[statement] class Lexer(val sql: String) {
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

  /** Those before the place that cannot be read. */
  def tokensRead: IndexedSeq[Token] = read.toIndexedSeq

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
final private[statement] class UnreadableStatement(val what: String, val position: Int)
    extends RuntimeException(what)

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

/**
 * A statement that begins like one of ours.
 *
 * @param sql
 *   its text, variables substituted, without the EXPLAIN before it
 * @param explain
 *   the mode of that EXPLAIN
 */
final case class OwnStatement(sql: String, tokens: IndexedSeq[Token], explain: Option[ExplainMode])

/** The cheap test that every statement of the session goes through. Its first words decide. */
object StatementFilter {
  private val explainModes: Seq[ExplainMode] = Seq(ExtendedMode, CodegenMode, CostMode, FormattedMode)

  /** None for the statements of others. Refuses one of ours that cannot be split into tokens. */
  def apply(sql: String): Option[OwnStatement] = opening(sql).map { case (text, first, explain) =>
    val start = if (explain.isDefined) text.token(first).get.start else 0
    val statement = text.sql.substring(start)
    val tokens =
      try text.tokens().drop(first).map(t => t.copy(start = t.start - start))
      catch {
        case e: UnreadableStatement =>
          val usage = StatementKind.usage(text.tokensRead.drop(first))
          StatementText.refuse(statement, e.position - start, e.what, usage)
      }
    OwnStatement(statement, tokens, explain)
  }

  /**
   * The text with the number of its first token that is ours, and the mode of EXPLAIN. Reads three words at
   * most, and substitutes variables only if the statement may be ours.
   */
  private def opening(sql: String): Option[(Lexer, Int, Option[ExplainMode])] =
    try {
      if (!new Lexer(sql).token(0).exists(opensLikeOurs)) None
      else {
        val text = new Lexer(new VariableSubstitution().substitute(sql))
        val explained = text.token(0).exists(_.is("EXPLAIN"))
        val mode = if (explained) text.token(1).flatMap(t => explainModes.find(m => t.is(m.name))) else None
        val first = if (!explained) 0 else if (mode.isEmpty) 1 else 2
        if (!text.token(first).exists(isOurs)) None
        else Some((text, first, if (explained) mode.orElse(Some(SimpleMode)) else None))
      }
    } catch {
      // the first words are unreadable: the next parser reports why
      case _: UnreadableStatement => None
    }

  private def opensLikeOurs(first: Token): Boolean =
    isOurs(first) || first.is("EXPLAIN") || first.isSymbol("$")

  private def isOurs(token: Token): Boolean = token.is("OPTIMIZE") || token.is("ZORDER")
}
