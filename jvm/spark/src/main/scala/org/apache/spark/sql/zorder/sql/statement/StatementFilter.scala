package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.internal.VariableSubstitution

/** The cheap test that every statement of the session goes through. Its first words decide. */
object StatementFilter {
  private val explainModes = Seq("EXTENDED", "CODEGEN", "COST", "FORMATTED")

  /** The outcome of the test. `Explain` has the mode (`""` = simple) and the statement that is explained. */
  sealed trait Verdict
  case object NotOurs extends Verdict
  final case class Ours(statement: String) extends Verdict
  final case class Explain(mode: String, statement: String) extends Verdict

  /** Looks at three words at most. Substitutes variables only if the statement may be ours. */
  def apply(sql: String): Verdict =
    try {
      if (!opensLikeOurs(firstWord(sql))) NotOurs
      else {
        val text = new VariableSubstitution().substitute(sql)
        val lexer = new Lexer(text)
        val first = lexer.next()
        if (first.exists(isOurs)) Ours(text)
        else if (first.exists(_.is("EXPLAIN"))) explained(text, lexer)
        else NotOurs
      }
    } catch {
      // the first words are unreadable: the next parser reports why
      case _: UnreadableStatement => NotOurs
    }

  private def explained(text: String, lexer: Lexer): Verdict = {
    val second = lexer.next()
    val mode = second.flatMap(t => explainModes.find(t.is))
    val head = if (mode.isDefined) lexer.next() else second
    head.filter(isOurs).fold[Verdict](NotOurs)(t => Explain(mode.getOrElse(""), text.substring(t.start)))
  }

  private def firstWord(sql: String): Option[Token] = new Lexer(sql).next()

  private def opensLikeOurs(first: Option[Token]): Boolean =
    first.exists(t => isOurs(t) || t.is("EXPLAIN") || t.isSymbol("$"))

  private def isOurs(token: Token): Boolean = token.is("OPTIMIZE") || token.is("ZORDER")
}
