package org.apache.spark.sql.zorder.sql.statement

/**
 * One kind of statement.
 *
 * @param opening
 *   the words it begins with
 * @param grammar
 *   its clauses, in the order in which they must stand
 * @param clauses
 *   how an error shows the clauses
 */
sealed abstract class StatementKind(val opening: String, val grammar: Seq[Clause], clauses: String) {

  /** The whole statement as an error shows it. */
  def usage: String = s"$opening table$clauses"

  /** The words that it begins with. */
  val words: Seq[String] = opening.split(' ').toSeq

  /** The word after ZORDER. */
  def second: String = words(1)

  /** The first of its words that does not stand where it belongs. */
  def missing(tokens: IndexedSeq[Token]): Option[String] =
    words.indices.find(i => !tokens.lift(i).exists(_.is(words(i)))).map(words)
}

object StatementKind {
  import Clause._

  private val tail = "[USING CURVE name] [WITH (option = value, ...)] [INTO 'path'] [DRY RUN]"

  case object Optimize extends StatementKind(
        "OPTIMIZE",
        Seq(Full, Where, ZOrderBy, UsingCurve, With, Into, DryRun),
        s" [FULL] [WHERE predicate] [ZORDER BY (a, b)] $tail")

  case object ZOrderTable extends StatementKind(
        "ZORDER TABLE",
        Seq(Full, Where, By, UsingCurve, With, Into, DryRun),
        s" [FULL] [WHERE predicate] [BY (a, b)] $tail")

  case object Vacuum extends StatementKind(
        "ZORDER VACUUM",
        Seq(Retain, LateFiles, DryRun),
        " [RETAIN n HOURS] [LATE FILES APPEND | REPLACE | IGNORE] [DRY RUN]")

  case object Rollback extends StatementKind("ZORDER ROLLBACK", Nil, "")

  case object Remove
      extends StatementKind("ZORDER REMOVE", Seq(MoveHome, Stay), " [MOVE HOME | STAY]")

  case object CreateIndex extends StatementKind(
        "ZORDER INDEX",
        Seq(Columns, With),
        " [COLUMNS (a, b)] [WITH (bloom = 'a, b', bloomBudget = '10%', values = 'c')]")

  case object RefreshIndex extends StatementKind("ZORDER REFRESH INDEX", Nil, "") {
    override val usage: String = "ZORDER REFRESH INDEX [IF EXISTS] table"
  }

  case object DescribeIndex extends StatementKind("ZORDER DESCRIBE INDEX", Nil, "")

  case object DropIndex extends StatementKind("ZORDER DROP INDEX", Nil, "")

  case object Log extends StatementKind("ZORDER LOG", Nil, "") {
    override val usage: String =
      "ZORDER LOG START ['path'] [KEEP LITERALS | DROP LITERALS] or ZORDER LOG STOP"
  }

  case object Explain extends StatementKind("ZORDER EXPLAIN", Nil, "") {
    override val usage: String = "ZORDER EXPLAIN query or ZORDER EXPLAIN LOG table"
  }

  /** The statements that begin with ZORDER. */
  val zorderKinds: Seq[StatementKind] = Seq(
    ZOrderTable,
    Vacuum,
    Rollback,
    Remove,
    CreateIndex,
    RefreshIndex,
    DescribeIndex,
    DropIndex,
    Log,
    Explain)

  /** The kind of a statement; None if its first words are not all there. */
  def of(tokens: IndexedSeq[Token]): Option[StatementKind] =
    (Optimize +: zorderKinds).find(_.missing(tokens).isEmpty)
}
