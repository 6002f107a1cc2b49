package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException

/**
 * Makes the command of a statement that begins with `OPTIMIZE` or `ZORDER`; its table has not been looked up then.
 * Refuses, with one sentence, everything that is not one of the statements in docs/spec.md.
 *
 * @param delegate
 *   Spark's parser, or another extension's on top of it: it parses names and expressions
 */
final class StatementParser(delegate: ParserInterface) {

  def parse(statement: OwnStatement): ZOrderCommand = {
    val tokens = withoutSemicolons(statement.tokens)
    val found = StatementKind.of(tokens)
    val usage = found.fold(StatementKind.zorderKinds.map(_.opening).mkString(" or "))(_.usage)
    val text = new StatementText(statement.sql, tokens, usage, delegate)
    val kind = found.getOrElse(noKind(text))
    refuseMarkers(text)
    tokens.find(_.isSymbol(";")).foreach(text.found(_, "inside a statement, one statement at a time"))
    kind match {
      case StatementKind.Log => LogStatement.build(text, kind.words.size)
      case StatementKind.Explain => ExplainStatement.build(text, kind.words.size)
      case _ => onTable(kind, text, kind.words.size)
    }
  }

  private def onTable(kind: StatementKind, text: StatementText, from: Int): ZOrderCommand = {
    val ifExists = kind == StatementKind.RefreshIndex &&
      Seq("IF", "EXISTS").zipWithIndex.forall { case (word, i) =>
        text.tokens.lift(from + i).exists(_.is(word))
      }
    val (table, next) = TableRefParser.read(text, if (ifExists) from + 2 else from)
    val clauses = Clause.split(text, next, kind.grammar)
    kind match {
      case StatementKind.Vacuum => VacuumStatement.vacuum(text, table, clauses)
      case StatementKind.Rollback => RollbackCommand(table)
      case StatementKind.Remove => VacuumStatement.remove(text, table, clauses)
      case StatementKind.CreateIndex => IndexStatement.create(text, table, clauses)
      case StatementKind.RefreshIndex => RefreshIndexCommand(table, ifExists)
      case StatementKind.DescribeIndex => DescribeIndexCommand(table)
      case StatementKind.DropIndex => DropIndexCommand(table)
      case _ => ClusterStatement.build(text, table, clauses)
    }
  }

  private def withoutSemicolons(tokens: IndexedSeq[Token]): IndexedSeq[Token] =
    tokens.take(tokens.lastIndexWhere(!_.isSymbol(";")) + 1)

  private def noKind(text: StatementText): Nothing = {
    val second = text.tokens.lift(1).getOrElse(text.ended("it ends after ZORDER"))
    val kinds = StatementKind.zorderKinds
    kinds.find(k => second.is(k.second)).flatMap(_.missing(text.tokens)).foreach { word =>
      text.fail(second.start, s"${second.text} must be followed by $word")
    }
    val hint = NearestName.to(second.text, kinds.map(_.second)).fold("")(w => s" (did you mean $w?)")
    text.found(second, s"behind ZORDER$hint")
  }

  private def refuseMarkers(text: StatementText): Unit = {
    import text.tokens
    tokens.indices.find(i => isMarker(tokens, i)).foreach { i =>
      val marker = if (tokens(i).isSymbol("?")) "?" else ":" + tokens(i + 1).text
      ZOrderException.refuse(
        s"OPTIMIZE and ZORDER take no parameter markers, and this statement has $marker: " +
          "write the value into the text.")
    }
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
