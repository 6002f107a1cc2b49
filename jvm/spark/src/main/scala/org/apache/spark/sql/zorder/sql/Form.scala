package org.apache.spark.sql.zorder.sql

/**
 * One kind of statement.
 *
 * @param opening
 *   the words it begins with
 * @param grammar
 *   its clauses, in the order in which they must stand
 * @param clauses
 *   how the clauses are shown to people
 */
sealed abstract class Form(val opening: String, val grammar: Seq[Clause], clauses: String) {

  /** The whole statement as it should look. */
  def usage: String = s"$opening table$clauses"

  /** The word behind ZORDER. */
  def second: String = opening.split(' ').last
}

object Form {
  import Clause._

  private val tail = "[USING CURVE name] [WITH (option = value, ...)] [INTO 'path'] [DRY RUN]"

  case object Optimize extends Form(
        "OPTIMIZE",
        Seq(Full, Where, ZOrderBy, UsingCurve, With, Into, DryRun),
        s" [FULL] [WHERE predicate] [ZORDER BY (a, b)] $tail")

  case object ZOrderTable extends Form(
        "ZORDER TABLE",
        Seq(Full, Where, By, UsingCurve, With, Into, DryRun),
        s" [FULL] [WHERE predicate] [BY (a, b)] $tail")

  case object Vacuum extends Form("ZORDER VACUUM", Seq(Retain, DryRun), " [RETAIN n HOURS] [DRY RUN]")

  case object Rollback extends Form("ZORDER ROLLBACK", Nil, "")

  case object Remove extends Form("ZORDER REMOVE", Nil, "")

  case object Log extends Form("ZORDER LOG", Nil, "") {
    override val usage: String =
      "ZORDER LOG START ['path'] [KEEP LITERALS | DROP LITERALS] or ZORDER LOG STOP"
  }

  /** Everything that begins with ZORDER. */
  val zorderForms: Seq[Form] = Seq(ZOrderTable, Vacuum, Rollback, Remove, Log)
}
