package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.conf.{NearestName, ZOrderOption}
import org.apache.spark.sql.zorder.run.request.ClusterRequest
import org.apache.spark.sql.zorder.table.TableRef
import sparkzorder.curve.build.Curves

/** Parses the clauses of `OPTIMIZE` and `ZORDER TABLE`. */
object ClusterStatement {

  def build(
      text: StatementText,
      target: TableRef,
      clauses: Seq[ClauseBody]): OptimizeCommand = {
    def clause(wanted: Clause*): Option[ClauseBody] = clauses.find(c => wanted.contains(c.clause))
    clause(Clause.Full).foreach(isEmpty(text, _))
    clause(Clause.DryRun).foreach(isEmpty(text, _))
    OptimizeCommand(ClusterRequest(
      target = target,
      by = clause(Clause.ZOrderBy, Clause.By).fold(Seq.empty[String])(list(text, _)),
      full = clause(Clause.Full).isDefined,
      where = clause(Clause.Where).map(c => text.expression(notEmpty(text, c), "the predicate")),
      curve = clause(Clause.UsingCurve).map(curve(text, _)),
      options = clause(Clause.With).fold(Map.empty[String, String])(options(text, _)(known)),
      into = clause(Clause.Into).map(into(text, _)),
      dryRun = clause(Clause.DryRun).isDefined,
      statement = text.slice(text.tokens)
    ))
  }

  private def isEmpty(text: StatementText, clause: ClauseBody): Unit =
    clause.body.headOption.foreach(text.found(_, s"behind ${clause.clause.name}"))

  private def notEmpty(text: StatementText, clause: ClauseBody): IndexedSeq[Token] =
    if (clause.body.nonEmpty) clause.body
    else text.fail(clause.head.start, s"nothing follows ${clause.clause.name}")

  private def single(text: StatementText, clause: ClauseBody): Token = {
    notEmpty(text, clause).lift(1).foreach(text.found(_, s"behind ${clause.clause.name} and its value"))
    clause.body.head
  }

  private[statement] def list(text: StatementText, clause: ClauseBody): Seq[String] = {
    val body = notEmpty(text, clause)
    val inner = unbracketed(body)
    if (inner.isEmpty) text.fail(clause.head.start, s"the list of ${clause.clause.name} is empty")
    commaSeparated(inner).map { item =>
      if (item.isEmpty)
        text.fail(clause.head.start, s"the list of ${clause.clause.name} has an empty place")
      text.expression(item, "the column")
    }
  }

  private def curve(text: StatementText, clause: ClauseBody): String = {
    val token = single(text, clause)
    Curves.names.find(token.is).getOrElse {
      val hint = NearestName.to(token.text, Curves.names).fold("")(c => s" (did you mean $c?)")
      text.found(token, s"where a curve belongs$hint, one of ${Curves.names.mkString(", ")}")
    }
  }

  private def into(text: StatementText, clause: ClauseBody): String = {
    val token = single(text, clause)
    val path = text.string(token, "a path")
    if (path.trim.isEmpty) text.found(token, "where a path belongs")
    path
  }

  /** @param known the name as the option is declared, and the value; refuses what is no option */
  private[statement] def options(text: StatementText, clause: ClauseBody)(
      known: (String, String) => (String, String)): Map[String, String] = {
    val body = notEmpty(text, clause)
    val inner = unbracketed(body)
    if (inner eq body) {
      if (!body.head.isSymbol("("))
        text.found(body.head, "where WITH needs a list in brackets: (fileCount = 64)")
      text.found(body(closing(body) + 1), "behind WITH and its list")
    }
    val pairs = (if (inner.isEmpty) Nil else commaSeparated(inner)).map(option(text, clause, _)(known))
    pairs.groupBy(_._1).find(_._2.size > 1).foreach { case (name, _) =>
      text.fail(clause.head.start, s"the option $name stands there a second time")
    }
    pairs.toMap
  }

  private def known(name: String, value: String): (String, String) = {
    val option = ZOrderOption.named(name)
    option.check(value)
    (option.name, value)
  }

  private def option(text: StatementText, clause: ClauseBody, tokens: IndexedSeq[Token])(
      known: (String, String) => (String, String)): (String, String) = {
    val equals = tokens.indexWhere(_.isSymbol("="))
    if (equals < 1 || equals == tokens.size - 1) {
      val start = tokens.headOption.getOrElse(clause.head).start
      text.fail(start, "an option is written name = value")
    }
    known(plain(text, tokens.take(equals), "a name"), plain(text, tokens.drop(equals + 1), "a value"))
  }

  /** One string in quotes, or words and signs without a gap such as `256m`, `0.1` and `zstd`. */
  private def plain(text: StatementText, tokens: IndexedSeq[Token], what: String): String = {
    val gap = tokens.zip(tokens.drop(1)).find { case (a, b) => a.end != b.start }
    gap.foreach { case (_, b) => text.found(b, s"behind $what '${text.slice(tokens.take(1))}'") }
    tokens.head.kind match {
      case TokenKind.Text if tokens.size == 1 => text.string(tokens.head, what)
      case TokenKind.Quoted if tokens.size == 1 => tokens.head.text.drop(1).dropRight(1)
      case _ => text.slice(tokens)
    }
  }

  /** The tokens inside the brackets if one pair encloses everything; else the tokens themselves. */
  private def unbracketed(tokens: IndexedSeq[Token]): IndexedSeq[Token] = {
    val all = tokens.head.isSymbol("(") && closing(tokens) == tokens.size - 1
    if (all) tokens.slice(1, tokens.size - 1) else tokens
  }

  /** The index of the bracket that closes the one which opens these tokens. */
  private def closing(tokens: IndexedSeq[Token]): Int =
    tokens.indexWhere(t => t.isSymbol(")") && t.depth == tokens.head.depth)

  private def commaSeparated(tokens: IndexedSeq[Token]): Seq[IndexedSeq[Token]] = {
    val depth = tokens.map(_.depth).min
    val commas = tokens.indices.filter(i => tokens(i).isSymbol(",") && tokens(i).depth == depth)
    (-1 +: commas).zip(commas :+ tokens.size).map { case (from, to) => tokens.slice(from + 1, to) }
  }
}
