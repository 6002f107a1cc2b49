package org.apache.spark.sql.zorder.sql

/** Reads what follows `ZORDER LOG`. */
object LogStatement {

  def build(syntax: Syntax, tokens: IndexedSeq[Token], from: Int): Statement = {
    val word = tokens.lift(from).getOrElse(syntax.fail(syntax.sql.length, "it ends after ZORDER LOG"))
    if (word.is("START")) start(syntax, tokens.drop(from + 1))
    else if (word.is("STOP")) {
      tokens.lift(from + 1).foreach(syntax.found(_, "behind STOP"))
      Statement.LogStop
    } else syntax.found(word, "behind ZORDER LOG")
  }

  private def start(syntax: Syntax, tokens: IndexedSeq[Token]): Statement = {
    val path = tokens.headOption.filter(_.kind == TokenKind.Text)
    val rest = tokens.drop(path.size)
    val verb = rest.headOption.filter(t => t.is("KEEP") || t.is("DROP"))
      .filter(_ => rest.lift(1).exists(_.is("LITERALS")))
    rest.drop(if (verb.isDefined) 2 else 0).headOption.foreach(syntax.found(_, "behind START"))
    Statement.LogStart(path.map(syntax.string(_, "a path")), verb.map(_.is("KEEP")))
  }
}
