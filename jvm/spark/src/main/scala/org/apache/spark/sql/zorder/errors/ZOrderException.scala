package org.apache.spark.sql.zorder.errors

import org.apache.spark.QueryContext
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.zorder.shims.Shims

/** A request that cannot be done. The message is one sentence: what is wrong, and what to do instead. */
class ZOrderException(sentence: String)
    extends AnalysisException(
      sentence,
      None,
      None,
      None,
      Shims.userError,
      if (Shims.userError.isEmpty) Map.empty[String, String] else Map("errorMessage" -> sentence),
      Array.empty[QueryContext])

/** The table changed during a run in a way that the run must not overwrite. The run has changed nothing. */
class ZOrderConflictException(sentence: String) extends ZOrderException(sentence)

/** The user has not agreed yet to what the statement would do to others. It has changed nothing. */
final class ZOrderConsentException(sentence: String) extends ZOrderException(sentence)

/** A table without any commit yet. A run treats it as a table without rows; other operations refuse it. */
final class NoRowsYetException(sentence: String) extends ZOrderException(sentence)

object ZOrderException {
  def refuse(sentence: String): Nothing = throw new ZOrderException(sentence)

  def notAgreed(sentence: String): Nothing = throw new ZOrderConsentException(sentence)

  /** The sentence as an error, with the original error as suppressed. */
  def over(e: Throwable, sentence: String): ZOrderException = {
    val said = new ZOrderException(sentence)
    said.addSuppressed(e)
    said
  }

  /** The first line of another error, short enough to be part of a sentence. */
  def firstLine(e: Throwable): String =
    Option(e.getMessage).getOrElse(e.getClass.getSimpleName).split('\n').head.trim.stripSuffix(".")
}
