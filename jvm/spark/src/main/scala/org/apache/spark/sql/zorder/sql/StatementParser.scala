package org.apache.spark.sql.zorder.sql

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.zorder.conf.Nearest
import org.apache.spark.sql.zorder.errors.ZOrderException

/**
 * Recognises the statements of SPEC 6 in text that begins with `OPTIMIZE` or `ZORDER`, variables substituted.
 * Everything that is not quite one of them is refused with one sentence.
 *
 * @param delegate
 *   Spark's parser or whatever lies between: reads names and expressions
 */
final class StatementParser(delegate: ParserInterface) {

  def parse(sql: String): Statement = {
    val tokens = withoutSemicolons(lexed(sql))
    val (form, from) = formOf(sql, tokens)
    val syntax = new Syntax(sql, form.usage, delegate)
    refuseMarkers(syntax, tokens)
    tokens.find(_.isSymbol(";")).foreach(syntax.found(_, "inside a statement, one statement at a time"))
    if (form == Form.Log) LogStatement.build(syntax, tokens, from) else onTable(form, syntax, tokens, from)
  }

  private def onTable(form: Form, syntax: Syntax, tokens: IndexedSeq[Token], from: Int): Statement = {
    val (target, next) = Target.read(syntax, tokens, from)
    val clauses = Clause.split(syntax, tokens, next, form.grammar)
    form match {
      case Form.Vacuum => MaintenanceStatement.vacuum(syntax, target, clauses)
      case Form.Rollback => Statement.Rollback(target)
      case Form.Remove => Statement.Remove(target)
      case _ =>
        ClusterStatement.build(
          syntax,
          target,
          clauses,
          syntax.slice(tokens),
          isOptimize = form == Form.Optimize)
    }
  }

  private def lexed(sql: String): IndexedSeq[Token] =
    try new Lexer(sql).tokens()
    catch {
      case e: UnreadableStatement => new Syntax(sql, Form.Optimize.usage, delegate).fail(e.position, e.what)
    }

  private def withoutSemicolons(tokens: IndexedSeq[Token]): IndexedSeq[Token] =
    tokens.take(tokens.lastIndexWhere(!_.isSymbol(";")) + 1)

  private def formOf(sql: String, tokens: IndexedSeq[Token]): (Form, Int) =
    if (tokens.headOption.exists(_.is("OPTIMIZE"))) (Form.Optimize, 1)
    else {
      val syntax = new Syntax(sql, Form.zorderForms.map(_.opening).mkString(" or "), delegate)
      val second = tokens.lift(1).getOrElse(syntax.fail(sql.length, "it ends after ZORDER"))
      val form = Form.zorderForms.find(f => second.is(f.second)).getOrElse {
        val hint =
          Nearest.to(second.text, Form.zorderForms.map(_.second)).fold("")(w => s" (did you mean $w?)")
        syntax.found(second, s"behind ZORDER$hint")
      }
      (form, 2)
    }

  private def refuseMarkers(syntax: Syntax, tokens: IndexedSeq[Token]): Unit =
    tokens.indices.find(i => isMarker(tokens, i)).foreach { i =>
      val marker = if (tokens(i).isSymbol("?")) "?" else ":" + tokens(i + 1).text
      ZOrderException.refuse(
        s"OPTIMIZE and ZORDER take no parameter markers, and this statement has $marker: " +
          "write the value into the text.")
    }

  /** `?` or `:name`, but neither `a::int` nor `a:field`. */
  private def isMarker(tokens: IndexedSeq[Token], i: Int): Boolean = {
    val token = tokens(i)
    def touches(k: Int): Boolean = tokens.isDefinedAt(k) && tokens.isDefinedAt(k + 1) &&
      tokens(k).end == tokens(k + 1).start
    token.isSymbol("?") || token.isSymbol(":") && touches(i) && tokens(i + 1).kind == TokenKind.Word &&
    !(touches(i - 1) && closesAnOperand(tokens(i - 1)))
  }

  private def closesAnOperand(token: Token): Boolean =
    token.kind != TokenKind.Symbol || Seq(":", ")", "]").exists(token.isSymbol)
}
