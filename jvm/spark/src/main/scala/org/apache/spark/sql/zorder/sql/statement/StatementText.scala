package org.apache.spark.sql.zorder.sql.statement

import org.apache.commons.lang3.StringUtils
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{MultiAlias, Star}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal}
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableRef}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The text of one statement: slices and expressions of it, and errors that point into it.
 *
 * @param usage
 *   what the statement should look like, for the end of an error
 * @param delegate
 *   parses names, literals and expressions
 */
final private[statement] class StatementText(
    sql: String,
    val tokens: IndexedSeq[Token],
    usage: String,
    delegate: ParserInterface) {
  import StatementText.shorten

  /** The text from the first of these tokens to the last, comments between them included. */
  def slice(tokens: Seq[Token]): String = sql.substring(tokens.head.start, tokens.last.end)

  /** Refuses the statement: the error says where it failed, what was there, and what would parse. */
  def fail(position: Int, what: String): Nothing = StatementText.refuse(sql, position, what, usage)

  /** Refuses a statement that ends too early. */
  def ended(what: String): Nothing = fail(sql.length, what)

  def found(token: Token, where: String): Nothing = {
    refuseOptions(tokens.dropWhile(_ ne token))
    fail(token.start, s"found '${shorten(token.text)}' $where")
  }

  /** The options of a table in Spark are called OPTIONS. Refuses them where these tokens begin. */
  private def refuseOptions(from: Seq[Token]): Unit =
    if (from.headOption.exists(_.is("OPTIONS")) && from.lift(1).exists(_.isSymbol("(")) && usage.contains(
        "WITH ("))
      fail(from.head.start, s"options stand after WITH: write WITH ${shorten(slice(bracketed(from.tail)))}")

  /** The tokens of the bracket that opens here. */
  def bracketed(from: Seq[Token]): Seq[Token] =
    from.take(from.indexWhere(t => t.isSymbol(")") && t.depth == from.head.depth) + 1)

  /** The value of a string in quotes. */
  def string(token: Token, what: String): String = parsed(token.text) match {
    case Right(Literal(value: UTF8String, _: StringType)) => value.toString
    case _ => found(token, s"where $what belongs, a string in single quotes")
  }

  /** The path that a string in quotes is. */
  def path(token: Token): String = {
    val text = string(token, "a path")
    if (text.trim.isEmpty) found(token, "where a path belongs")
    text
  }

  /** Checks that the tokens are one expression, without alias, direction or star, and gives its text. */
  def expression(tokens: Seq[Token], what: String): String = {
    val text = slice(tokens)
    parsed(text) match {
      case Right(_: Alias | _: MultiAlias) =>
        fail(tokens.head.start, s"$what '${shorten(text)}' is more than one plain expression")
      case Right(_: Star) => fail(tokens.head.start, s"$what names columns one by one, not '$text'")
      case Right(_) => text
      case Left(reason) =>
        tokens.indices.foreach(i => refuseOptions(tokens.drop(i)))
        fail(tokens.head.start, s"$what '${shorten(text)}' is no SQL expression ($reason)")
    }
  }

  /** Checks that the tokens are the expression of a column, and gives its text. */
  def column(tokens: Seq[Token], list: String): String = {
    val text = expression(tokens, "the column")
    parsed(text) match {
      case Right(Literal(value: UTF8String, _: StringType)) if tokens.length == 1 =>
        val name = value.toString
        val plain = if (name.matches("""[A-Za-z_]\w*(\.[A-Za-z_]\w*)*""")) name else ColumnPath.sql(Seq(name))
        fail(tokens.head.start, s"${shorten(text)} is a text, and $list takes columns: write $plain")
      case _ => text
    }
  }

  /** The parts of a table name. */
  def name(tokens: Seq[Token]): Seq[String] =
    try delegate.parseMultipartIdentifier(slice(tokens))
    catch {
      case e: ParseException =>
        fail(tokens.head.start, s"'${shorten(slice(tokens))}' is no table name (${reason(e)})")
    }

  private def parsed(text: String): Either[String, Expression] =
    try Right(delegate.parseExpression(text))
    catch { case e: ParseException => Left(reason(e)) }

  private def reason(e: ParseException): String =
    e.getMessage.split('\n').map(_.trim).find(_.nonEmpty).getOrElse("it does not parse")
      .replaceAll("""\s*\(line \d+, pos \d+\)""", "").replaceAll("""^\[[A-Z_.]+\]\s*""", "")
      .replaceAll("""\s*SQLSTATE: \w+""", "").stripSuffix(".")
}

private[statement] object StatementText {

  /** A text that is only a part of a statement. */
  def of(text: String, usage: String, delegate: ParserInterface): StatementText = {
    val tokens =
      try new Lexer(text).tokens()
      catch { case e: UnreadableStatement => refuse(text, e.position, e.what, usage) }
    new StatementText(text, tokens, usage, delegate)
  }

  def refuse(sql: String, position: Int, what: String, usage: String): Nothing = {
    val before = sql.substring(0, math.min(position, sql.length))
    val place = s"line ${before.count(_ == '\n') + 1}, column ${position - before.lastIndexOf('\n')}"
    ZOrderException.refuse(
      "ZORDER_SYNTAX.NOT_UNDERSTOOD",
      "place" -> place,
      "problem" -> what,
      "usage" -> usage)
  }

  private def shorten(text: String): String = StringUtils.abbreviate(text, 60)
}

/** Parses the table of a statement: a name in parts, a path in quotes, or ``format.`path` ``. */
object TableRefParser {
  private val formats = "parquet" +: FormatDescriptor.all.map(_.id)

  /**
   * @param from
   *   index of the first token of the table
   * @return
   *   the table and the index of the token behind it
   */
  private[statement] def read(text: StatementText, from: Int): (TableRef, Int) = {
    val token = text.tokens.lift(from).getOrElse(text.ended("it names no table"))
    token.kind match {
      case TokenKind.Text => (TableRef.Location(text.path(token)), from + 1)
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
      whole.tokens.lift(next).foreach(whole.found(_, "after the table name"))
      table
    }

  private def named(text: StatementText, from: Int): (TableRef, Int) = {
    import text.tokens
    refuseIdentifier(text, from)
    var end = from + 1
    while (tokens.lift(end).exists(_.isSymbol(".")) && tokens.lift(end + 1).exists(isPart)) end += 2
    val parts = tokens.slice(from, end)
    val names = text.name(parts)
    // a database may be called as a format is
    val isPath = parts.size == 3 && parts.last.kind == TokenKind.Quoted &&
      names.last.exists(c => c == '/' || c == '\\')
    val format = formats.find(_.equalsIgnoreCase(names.head)).filter(_ => isPath)
    (if (format.isDefined) TableRef.Location(names.last, format) else TableRef.Name(names), end)
  }

  /** Spark's own statements take IDENTIFIER('t') for a name; here, 't' would be taken for a list of columns. */
  private def refuseIdentifier(text: StatementText, from: Int): Unit = {
    val token = text.tokens(from)
    val bracket = text.bracketed(text.tokens.drop(from + 1))
    val inner = bracket.drop(1).dropRight(1)
    if (token.is("IDENTIFIER") && bracket.headOption.exists(_.isSymbol("(")) &&
      inner.headOption.exists(_.kind == TokenKind.Text)) {
      val name = if (inner.size == 1) text.string(inner.head, "a name") else "the name"
      text.fail(token.start, s"a table is named by the name itself, not by IDENTIFIER(...): write $name")
    }
  }

  private def isPart(token: Token): Boolean =
    token.kind == TokenKind.Word || token.kind == TokenKind.Quoted
}
