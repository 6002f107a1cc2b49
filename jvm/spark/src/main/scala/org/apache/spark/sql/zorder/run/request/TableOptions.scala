package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.zorder.conf.{RunOptions, ZOrderOption}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable

/** The options of a run on a table. Advice uses the same ones, since it is about such a run. */
private[zorder] object TableOptions {

  /** Statement over table property over session over the format's own property over default. */
  def of(table: ClusterTable, statement: Map[String, String], session: ClassicSession): RunOptions = {
    // a property of the format is set for its own writers: too small a size is no reason to refuse a run
    val formats = table.formatOptions.map { case (name, value) => (name, ZOrderOption.atLeast(name, value)) }
    RunOptions.merge(statement, table.properties, RunOptions.inSession(formats) ++ session.conf.getAll)
  }
}
