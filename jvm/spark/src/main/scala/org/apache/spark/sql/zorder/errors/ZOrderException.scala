package org.apache.spark.sql.zorder.errors

import org.apache.spark.{ErrorClassesJsonReader, QueryContext}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A request that cannot be done. The message is one sentence: what is wrong, and what to do instead.
 *
 * As with Spark's own errors, [[getErrorClass]] (`getCondition` since Spark 4) names the condition,
 * `getSqlState` its SQLSTATE and `getMessageParameters` what the sentence names: a table, a column, a file. The
 * conditions and their sentences are in the resource `error/zorder-error-conditions.json`, in the format of
 * Spark's `error-conditions.json`; `docs/guide/errors.md` is made from it.
 *
 * @param condition
 *   a name of that file, such as `ZORDER_TABLE_REFUSED.BUCKETED`
 * @param parameters
 *   a value for each `<name>` of its sentence
 */
class ZOrderException(val condition: String, parameters: (String, Any)*)
    extends AnalysisException(
      s"[$condition] ${ZOrderException.sentence(condition, parameters)}",
      None,
      None,
      None,
      Some(condition),
      ZOrderException.texts(parameters),
      Array.empty[QueryContext]) {

  /** The message without the name of the condition. */
  val sentence: String = message.stripPrefix(s"[$condition] ")

  override def getSqlState: String = ZOrderException.conditions.getSqlState(condition)

  /** Returns this error: the analyzer would make a copy with a position, and a copy has no SQLSTATE of ours. */
  override def withPosition(origin: Origin): AnalysisException = this
}

/** The table changed during a run in a way that the run must not overwrite. This commit has changed nothing. */
class ZOrderConflictException(condition: String, parameters: (String, Any)*)
    extends ZOrderException(condition, parameters: _*)

/** The user has not agreed yet to what the statement would do to others. It has changed nothing. */
final class ZOrderConsentException(condition: String, parameters: (String, Any)*)
    extends ZOrderException(condition, parameters: _*)

/** A table without any commit yet. A run treats it as a table without rows; other operations refuse it. */
final class NoRowsYetException(condition: String, parameters: (String, Any)*)
    extends ZOrderException(condition, parameters: _*)

object ZOrderException {
  private lazy val conditions =
    new ErrorClassesJsonReader(Seq(getClass.getResource("/error/zorder-error-conditions.json")))

  /** Fails with a condition and a value for each `<name>` of its sentence. */
  def refuse(condition: String, parameters: (String, Any)*): Nothing =
    throw new ZOrderException(condition, parameters: _*)

  /** A condition with the error behind it: as suppressed, since the constructor of AnalysisException has set the cause. */
  def over(e: Throwable, condition: String, parameters: (String, Any)*): ZOrderException = {
    val said = new ZOrderException(condition, parameters: _*)
    said.addSuppressed(e)
    said
  }

  /** The first line of another error, short enough to be part of a sentence. */
  def firstLine(e: Throwable): String = {
    val text = e match {
      case ours: ZOrderException => ours.sentence
      case other => Option(other.getMessage).getOrElse(other.getClass.getSimpleName)
    }
    // Spark's parser begins with an empty line
    text.trim.split('\n').head.trim.stripSuffix(".")
  }

  // a condition without a sentence of its own before those of its subclasses has an empty one
  private def sentence(condition: String, parameters: Seq[(String, Any)]): String =
    conditions.getErrorMessage(condition, texts(parameters)).trim

  private def texts(parameters: Seq[(String, Any)]): Map[String, String] =
    parameters.map { case (name, value) => name -> String.valueOf(value) }.toMap
}
