package org.apache.spark.sql.zorder.sql.statement

import scala.util.Try

import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice}

/** Parses the clauses of `ZORDER VACUUM` and `ZORDER REMOVE`. */
object VacuumStatement {

  def vacuum(text: StatementText, target: TableRef, clauses: Seq[ClauseBody]): VacuumCommand = {
    val dryRun = clauses.find(_.clause == Clause.DryRun)
    dryRun.flatMap(_.body.headOption).foreach(text.found(_, "behind DRY RUN"))
    val retain = clauses.find(_.clause == Clause.Retain).map(hours(text, _))
    val late = clauses.find(_.clause == Clause.LateFiles).map(choice(text, _))
    VacuumCommand(target, retain, late, dryRun.isDefined)
  }

  def remove(text: StatementText, target: TableRef, clauses: Seq[ClauseBody]): RemoveCommand = {
    clauses.foreach(c => c.body.headOption.foreach(text.found(_, s"behind ${c.clause.name}")))
    clauses.drop(1).foreach(c => text.fail(c.head.start, "MOVE HOME and STAY exclude each other"))
    RemoveCommand(
      target,
      clauses.headOption.map(c => if (c.clause == Clause.Stay) HomeChoice.Stay else HomeChoice.MoveHome))
  }

  private def choice(text: StatementText, clause: ClauseBody): LateChoice =
    LateChoice.all.find(c => clause.body.size == 1 && clause.body.head.is(c.word)).getOrElse(
      text.fail(
        clause.head.start,
        s"LATE FILES takes one of the words ${LateChoice.all.map(_.word).mkString(", ")}"))

  private def hours(text: StatementText, clause: ClauseBody): Double = {
    val unit = clause.body.lastOption.filter(t => t.is("HOURS") || t.is("HOUR"))
    val number = unit.filter(_ => clause.body.size > 1).map(_ => text.slice(clause.body.init))
    number.filter(_.matches("""\d+(\.\d+)?""")).flatMap(n => Try(n.toDouble).toOption).getOrElse(
      text.fail(clause.head.start, "RETAIN takes a number of hours, as in RETAIN 168 HOURS"))
  }
}
