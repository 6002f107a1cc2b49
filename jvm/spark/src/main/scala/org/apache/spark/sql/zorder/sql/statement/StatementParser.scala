package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException

/**
 * Parses text that begins with `OPTIMIZE` or `ZORDER`, after variable substitution. Refuses, with one sentence,
 * everything that is not one of the statements in docs/spec.md.
 *
 * @param delegate
 *   Spark's parser, or another extension's on top of it: it parses names and expressions
 */
final class StatementParser(delegate: ParserInterface) {

  def parse(sql: String): Statement = {
    val tokens = withoutSemicolons(new StatementText(sql, StatementKind.Optimize.usage, delegate).tokens())
    val (kind, from) = kindOf(sql, tokens)
    val text = new StatementText(sql, kind.usage, delegate)
    refuseMarkers(text, tokens)
    tokens.find(_.isSymbol(";")).foreach(text.found(_, "inside a statement, one statement at a time"))
    kind match {
      case StatementKind.Log => LogStatement.build(text, tokens, from)
      case StatementKind.Explain => ExplainStatement.build(text, tokens, from)
      case _ => onTable(kind, text, tokens, from)
    }
  }

  private def onTable(
      kind: StatementKind,
      text: StatementText,
      tokens: IndexedSeq[Token],
      from: Int): Statement = {
    val ifExists =
      kind == StatementKind.RefreshIndex && Seq("IF", "EXISTS").zipWithIndex.forall { case (word, i) =>
        tokens.lift(from + i).exists(_.is(word))
      }
    val (target, next) = TableRefParser.read(text, tokens, if (ifExists) from + 2 else from)
    val clauses = Clause.split(text, tokens, next, kind.grammar)
    kind match {
      case StatementKind.Vacuum => VacuumStatement.vacuum(text, target, clauses)
      case StatementKind.Rollback => Statement.Rollback(target)
      case StatementKind.Remove => VacuumStatement.remove(text, target, clauses)
      case StatementKind.CreateIndex => IndexStatement.create(text, target, clauses)
      case StatementKind.RefreshIndex => Statement.RefreshIndex(target, ifExists)
      case StatementKind.DescribeIndex => Statement.DescribeIndex(target)
      case StatementKind.DropIndex => Statement.DropIndex(target)
      case _ =>
        ClusterStatement.build(
          text,
          target,
          clauses,
          text.slice(tokens),
          isOptimize = kind == StatementKind.Optimize)
    }
  }

  private def withoutSemicolons(tokens: IndexedSeq[Token]): IndexedSeq[Token] =
    tokens.take(tokens.lastIndexWhere(!_.isSymbol(";")) + 1)

  private def kindOf(sql: String, tokens: IndexedSeq[Token]): (StatementKind, Int) =
    if (tokens.headOption.exists(_.is("OPTIMIZE"))) (StatementKind.Optimize, 1)
    else {
      val text = new StatementText(sql, StatementKind.zorderKinds.map(_.opening).mkString(" or "), delegate)
      val second = tokens.lift(1).getOrElse(text.fail(sql.length, "it ends after ZORDER"))
      val kind = StatementKind.zorderKinds.find(k => second.is(k.second)).getOrElse {
        val hint =
          NearestName.to(second.text, StatementKind.zorderKinds.map(_.second)).fold("")(w =>
            s" (did you mean $w?)")
        text.found(second, s"behind ZORDER$hint")
      }
      kind.words.drop(2).zipWithIndex.foreach { case (word, i) =>
        if (!tokens.lift(2 + i).exists(_.is(word)))
          text.fail(second.start, s"${second.text} must be followed by $word")
      }
      (kind, kind.words.size)
    }

  private def refuseMarkers(text: StatementText, tokens: IndexedSeq[Token]): Unit =
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
