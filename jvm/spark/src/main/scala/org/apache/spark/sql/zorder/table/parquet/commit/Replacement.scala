package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.RunRecord
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * What a run wants to put in place.
 *
 * @param inputs
 *   files that were rewritten, as they were listed at the start
 * @param staging
 *   directory with the new files, laid out as the table is (partition directories and part files)
 * @param record
 *   written to `_zorder/runs/<n>.json` with the commit
 * @param layouts
 *   layout bodies by id, written to `_zorder/layouts/<id>.json` with the commit
 */
private[zorder] final case class Replacement(
    runId: String,
    inputs: Seq[DataFile],
    staging: Path,
    record: RunRecord,
    layouts: Map[String, String])
