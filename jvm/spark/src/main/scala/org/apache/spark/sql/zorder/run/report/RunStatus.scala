package org.apache.spark.sql.zorder.run.report

/** How a run ended. Only a conflict and real failures are errors: a no-op is green in a scheduler. */
sealed abstract class RunStatus(val name: String)

object RunStatus {
  case object Done extends RunStatus("DONE")
  case object Partial extends RunStatus("PARTIAL")
  case object DryRun extends RunStatus("DRY_RUN")
  case object NothingToDo extends RunStatus("NOTHING_TO_DO")
  case object NoGain extends RunStatus("NO_GAIN")
  case object TooSmall extends RunStatus("TOO_SMALL")
}
