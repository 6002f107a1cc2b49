package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.execution.{
  CodegenMode, CostMode, ExplainMode, ExtendedMode, FormattedMode, SimpleMode
}
import org.apache.spark.sql.internal.VariableSubstitution

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
          StatementText.refuse(statement, e.position - start, e.what, StatementKind.Optimize.usage)
      }
    OwnStatement(statement, tokens, explain)
  }

  /**
   * The text with the number of its first token that is ours, and the mode of EXPLAIN. Reads three words at most, and
   * substitutes variables only if the statement may be ours.
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
