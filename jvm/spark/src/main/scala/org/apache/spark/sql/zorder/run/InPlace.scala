package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.table.{ClusterTable, DataFile}

/** Whether files are where the asked layout wants them, by the record of earlier runs. */
private[run] object InPlace {
  def apply(
      table: ClusterTable,
      by: Seq[String],
      curve: String,
      options: RunOptions,
      files: Seq[DataFile]): Boolean = {
    val runs = table.state.runs().filter(r => r.columns == by && r.curve == curve)
    val recorded = runs.flatMap(_.files).map(f => (f.path, f.length)).toSet
    val sameCount = options.fileCount.forall { n =>
      files.groupBy(_.partition).values.forall(_.length == n)
    }
    recorded.nonEmpty && sameCount && files.forall(f => recorded((DataFile.below(table.root, f), f.length)))
  }
}
