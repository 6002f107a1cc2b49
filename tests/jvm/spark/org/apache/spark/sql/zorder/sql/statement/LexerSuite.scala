package org.apache.spark.sql.zorder.sql.statement

import org.scalatest.funsuite.AnyFunSuite

class LexerSuite extends AnyFunSuite {
  private def words(sql: String): Seq[String] = new Lexer(sql).tokens().map(_.text)

  private def refused(sql: String): String = intercept[UnreadableStatement](new Lexer(sql).tokens()).what

  test("words, numbers, signs and blanks of every kind") {
    assert(words("OPTIMIZE\tdb.t\n WHERE a>=1.5\u00a0") ==
      Seq("OPTIMIZE", "db", ".", "t", "WHERE", "a", ">", "=", "1", ".", "5"))
    assert(words("größe_1 256m") == Seq("größe_1", "256m"))
    assert(words("\ufeffOPTIMIZE") == Seq("OPTIMIZE"))
    assert(words("  ").isEmpty && words("").isEmpty)
  }

  test("comments are no tokens; bracketed ones nest; a line comment may be continued") {
    assert(words("a -- b\nc") == Seq("a", "c"))
    assert(words("a -- b\\\n still\nc") == Seq("a", "c"))
    assert(words("a /* b /* c */ d */ e") == Seq("a", "e"))
    assert(words("a--b") == Seq("a"))
    assert(words("a /**/ b /***/ c") == Seq("a", "b", "c"))
  }

  test("quotes keep what looks like comments, brackets and keywords") {
    assert(words("'-- /* ( ' x") == Seq("'-- /* ( '", "x"))
    assert(words("`a``b (` x") == Seq("`a``b (`", "x"))
    assert(words("\"it's\" x") == Seq("\"it's\"", "x"))
    assert(words("'it''s' x") == Seq("'it''s'", "x"))
    assert(words("""'it\'s' x""") == Seq("""'it\'s'""", "x"))
    assert(words("""r'C:\' x""") == Seq("""r'C:\'""", "x"))
    assert(words("""`a\` x""") == Seq("""`a\`""", "x"))
  }

  test("depth counts round and square brackets") {
    val tokens = new Lexer("a (b [c] (d)) e").tokens()
    assert(tokens.filter(_.kind == TokenKind.Word).map(t => t.text -> t.depth) ==
      Seq("a" -> 0, "b" -> 1, "c" -> 2, "d" -> 2, "e" -> 0))
    assert(tokens.filter(t => t.isSymbol("(") || t.isSymbol(")")).map(_.depth) == Seq(0, 1, 1, 0))
  }

  test("what does not match is named") {
    assert(refused("a 'b") == "the quote ' is never closed")
    assert(refused("a 'b\\") == "the quote ' is never closed")
    assert(refused("a `b") == "the quote ` is never closed")
    assert(refused("a /* b") == "the comment /* is never closed")
    assert(refused("a /* b /* c */") == "the comment /* is never closed")
    assert(refused("a (b") == "the bracket '(' is never closed")
    assert(refused("a )") == "the bracket ')' closes nothing")
    assert(refused("a (b]") == "the bracket ']' closes nothing")
  }
}
