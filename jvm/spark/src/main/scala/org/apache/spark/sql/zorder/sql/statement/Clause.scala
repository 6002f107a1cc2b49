package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.conf.NearestName

/** A clause by the words that open it. */
final case class Clause(words: String*) {
  def name: String = words.mkString(" ")
}

/** One clause of a statement: its opening words and the tokens up to the next clause. */
final case class ClauseBody(clause: Clause, head: Token, body: IndexedSeq[Token])

/** Splits the part of a statement after the table into clauses, outside of brackets only. */
object Clause {
  val Full: Clause = Clause("FULL")
  val Where: Clause = Clause("WHERE")
  val ZOrderBy: Clause = Clause("ZORDER", "BY")
  val By: Clause = Clause("BY")
  val UsingCurve: Clause = Clause("USING", "CURVE")
  val With: Clause = Clause("WITH")
  val Into: Clause = Clause("INTO")
  val DryRun: Clause = Clause("DRY", "RUN")
  val Retain: Clause = Clause("RETAIN")
  val MoveHome: Clause = Clause("MOVE", "HOME")
  val Stay: Clause = Clause("STAY")
  val LateFiles: Clause = Clause("LATE", "FILES")
  val Columns: Clause = Clause("COLUMNS")

  /** The first word is enough to recognise these: no expression has it unquoted. */
  private val knownByFirstWord = Set(UsingCurve)

  /**
   * @param grammar
   *   the clauses that the statement may have, in the order in which they must stand
   * @return
   *   the clauses found, each at most once
   */
  def split(
      text: StatementText,
      from: Int,
      grammar: Seq[Clause]): Seq[ClauseBody] = {
    import text.tokens
    val heads = (from until tokens.size).flatMap { i =>
      grammar.find(c => opens(c, tokens, i) && (c != Full || i == from)).map(c => (i, c))
    }
    heads.foreach { case (i, clause) => checkWords(text, i, clause) }
    if (heads.headOption.map(_._1) != tokens.indices.lift(from)) notAClause(text, tokens(from), grammar)
    checkOrder(text, heads, grammar)
    val ends = heads.drop(1).map(_._1) :+ tokens.size
    heads.zip(ends).map { case ((i, clause), end) =>
      ClauseBody(clause, tokens(i), tokens.slice(i + clause.words.size, end))
    }
  }

  private def opens(clause: Clause, tokens: IndexedSeq[Token], i: Int): Boolean = {
    val words = if (knownByFirstWord(clause)) clause.words.take(1) else clause.words
    val dotted = i > 0 && tokens(i - 1).isSymbol(".") || tokens.lift(i + 1).exists(_.isSymbol("."))
    tokens(i).depth == 0 && !dotted &&
    words.zipWithIndex.forall { case (word, k) => tokens.lift(i + k).exists(_.is(word)) }
  }

  private def checkWords(text: StatementText, i: Int, clause: Clause): Unit =
    clause.words.zipWithIndex.drop(1).foreach { case (word, k) =>
      if (!text.tokens.lift(i + k).exists(_.is(word)))
        text.fail(
          text.tokens(i).start,
          s"${clause.words.head} must be followed by $word, as in ${clause.name} hilbert")
    }

  private def notAClause(text: StatementText, token: Token, grammar: Seq[Clause]): Nothing = {
    val spellings = grammar.flatMap(c => Seq(c.words.mkString, c.words.head).map(_ -> c)).toMap
    val meant = if (token.text.length < 3) None else NearestName.to(token.text, spellings.keys).map(spellings)
    text.found(token, "behind the table" + meant.fold("")(c => s" (did you mean ${c.name}?)"))
  }

  private def checkOrder(
      text: StatementText,
      heads: Seq[(Int, Clause)],
      grammar: Seq[Clause]): Unit =
    heads.zip(heads.drop(1)).foreach { case ((_, earlier), (i, later)) =>
      val position = text.tokens(i).start
      if (heads.exists { case (j, clause) => j < i && clause == later })
        text.fail(position, s"${later.name} stands there a second time")
      if (grammar.indexOf(later) < grammar.indexOf(earlier))
        text.fail(position, s"${later.name} must stand before ${earlier.name}")
    }
}
