package org.apache.spark.sql.zorder.sql.statement

/** Parses `ZORDER LOG START` and `ZORDER LOG STOP`. */
object LogStatement {

  def build(text: StatementText, from: Int): ZOrderCommand = {
    val word = text.tokens.lift(from).getOrElse(text.ended("it ends after ZORDER LOG"))
    if (word.is("START")) start(text, text.tokens.drop(from + 1))
    else if (word.is("STOP")) {
      text.tokens.lift(from + 1).foreach(text.found(_, "behind STOP"))
      LogStopCommand()
    } else text.found(word, "behind ZORDER LOG")
  }

  private def start(text: StatementText, tokens: IndexedSeq[Token]): LogStartCommand = {
    val path = tokens.headOption.filter(_.kind == TokenKind.Text)
    val rest = tokens.drop(path.size)
    val verb = rest.headOption.filter(t => t.is("KEEP") || t.is("DROP"))
      .filter(_ => rest.lift(1).exists(_.is("LITERALS")))
    rest.drop(if (verb.isDefined) 2 else 0).headOption.foreach(text.found(_, "behind START"))
    LogStartCommand(path.map(text.string(_, "a path")), verb.map(_.is("KEEP")))
  }
}
