package org.apache.spark.sql.zorder.errors

import org.apache.spark.QueryContext
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.zorder.shims.Shims

/** What a user asked for cannot be done: one sentence that says what is wrong and what to do instead. */
class ZOrderException(sentence: String)
    extends AnalysisException(
      sentence,
      None,
      None,
      None,
      Shims.userError,
      if (Shims.userError.isEmpty) Map.empty[String, String] else Map("errorMessage" -> sentence),
      Array.empty[QueryContext])

/** The table changed under a run in a way that the run must not paper over. Nothing was changed. */
class ZOrderConflictException(sentence: String) extends ZOrderException(sentence)

/** A table to which no writer has committed anything so far: refused by most, and to a run a table without rows. */
final class NoRowsYetException(sentence: String) extends ZOrderException(sentence)

object ZOrderException {
  def refuse(sentence: String): Nothing = throw new ZOrderException(sentence)

  /** The sentence, with an error of others beside it in the stack trace. */
  def over(e: Throwable, sentence: String): ZOrderException = {
    val said = new ZOrderException(sentence)
    said.addSuppressed(e)
    said
  }

  /** What an error of others says, short enough to stand in a sentence. */
  def firstLine(e: Throwable): String =
    Option(e.getMessage).getOrElse(e.getClass.getSimpleName).split('\n').head.trim.stripSuffix(".")
}
