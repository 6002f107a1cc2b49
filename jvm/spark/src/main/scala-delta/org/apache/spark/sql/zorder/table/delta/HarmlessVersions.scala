package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.delta.actions.{Action, CommitInfo, Metadata}
import org.apache.spark.sql.types._

/** Versions of a table that changed neither its rows nor how they are stored. */
private[delta] object HarmlessVersions {

  /** Delta's properties that control when it works and what it keeps, but not what files contain. */
  private val Keys = Set(
    "delta.checkpointInterval",
    "delta.dataSkippingNumIndexedCols",
    "delta.dataSkippingStatsColumns",
    "delta.deletedFileRetentionDuration",
    "delta.enableExpiredLogCleanup",
    "delta.logRetentionDuration",
    "delta.randomizeFilePrefixes",
    "delta.setTransactionRetentionDuration",
    "delta.targetFileSize",
    "delta.tuneFileSizesForRewrites")

  /**
   * The first of these versions that is not harmless. Harmless are a vacuum, a comment, and changes of properties on
   * the list or of the user's own.
   *
   * @param before
   *   the metadata before the first of them
   * @param passed
   *   versions that are only searched for metadata
   */
  def firstOther(
      changes: Seq[(Long, Seq[Action])],
      before: Metadata,
      passed: Set[Long]): Option[Long] = {
    val metadata = changes.scanLeft(before) { case (last, (_, actions)) =>
      actions.collect { case m: Metadata => m }.lastOption.getOrElse(last)
    }
    changes.zip(metadata).collectFirst {
      case ((version, actions), last) if !passed(version) && !actions.forall(harmless(_, last)) => version
    }
  }

  private def harmless(action: Action, last: Metadata): Boolean = action match {
    case _: CommitInfo => true
    case m: Metadata =>
      m.id == last.id && m.format == last.format && m.partitionColumns == last.partitionColumns &&
      uncommented(m.schema) == uncommented(last.schema) &&
      changed(m.configuration, last.configuration).forall(harmlessKey)
    case _ => false
  }

  private def changed(a: Map[String, String], b: Map[String, String]): Set[String] =
    (a.toSet ++ b.toSet).map(_._1).filter(k => a.get(k) != b.get(k))

  private def harmlessKey(key: String): Boolean =
    !key.startsWith("delta.") || Keys(key) || key.startsWith("delta.autoOptimize.")

  private def uncommented(schema: StructType): DataType = StructType(schema.map { f =>
    val metadata = new MetadataBuilder().withMetadata(f.metadata).remove("comment").build()
    f.copy(dataType = inside(f.dataType), metadata = metadata)
  })

  private def inside(t: DataType): DataType = t match {
    case s: StructType => uncommented(s)
    case ArrayType(e, n) => ArrayType(inside(e), n)
    case MapType(k, v, n) => MapType(inside(k), inside(v), n)
    case other => other
  }
}
