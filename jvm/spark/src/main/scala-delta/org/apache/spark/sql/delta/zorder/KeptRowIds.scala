package org.apache.spark.sql.delta.zorder

import org.apache.spark.sql.delta.{RowTracking, Snapshot}

/** Delta shows this to its own packages only. */
object KeptRowIds {

  /** Tags of a commit that keeps the ids of the rows it moves. */
  def tags(snapshot: Snapshot): Map[String, String] = RowTracking.addPreservedRowTrackingTagIfNotSet(snapshot)
}
