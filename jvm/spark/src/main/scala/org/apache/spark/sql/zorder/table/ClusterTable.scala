package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.types.StructType

/** How a statement names its table. */
sealed trait TableRef

object TableRef {

  /** `db.t`, in parts. */
  final case class Name(parts: Seq[String]) extends TableRef

  /** `'/data/t'` or ``parquet.`/data/t` ``. */
  final case class Location(path: String) extends TableRef
}

/**
 * One data file of a table's snapshot.
 *
 * @param path
 *   full path, scheme included
 * @param partition
 *   partition directories as they stand in the path, e.g. `day=2026-01-01/h=3`; empty when unpartitioned
 */
final case class DataFile(path: String, length: Long, modified: Long, partition: String)

/** A table as a clustering run sees it. Opening one checks everything that forbids a rewrite. */
trait ClusterTable {

  /** The name or path as the user gave it. */
  def name: String

  /** Where the files are now. */
  def root: Path

  /** Data columns, then partition columns, as the catalog has them or as Spark infers them. */
  def schema: StructType

  def partitionSchema: StructType

  /** The data columns that a catalog declares; None where only the files know. */
  def declared: Option[StructType] = None

  /** Table properties; empty for a path. */
  def properties: Map[String, String]

  /** The files of the present snapshot, sorted by path. */
  def files(): Seq[DataFile]

  /** The table's own state under `_zorder/`. */
  def state: TableState

  /** A fresh, empty directory beside the root that a run writes to (mode append); nobody lists it. */
  def newStaging(runId: String): Path

  /** Takes a staging directory away whose run failed before its commit; harmless after one. */
  def discard(staging: Path): Unit

  /** How many files `newStaging` found in an old directory of the table and copied into it. */
  def carriedOver: Int

  /**
   * Makes the staged files the table's files in place of `inputs`, or throws and changes nothing; the staging
   * directory is gone then. Files of the snapshot that are not inputs stay part of the table. In the staging
   * directory, partitions are spelt as Spark writes them.
   */
  def commit(replacement: Replacement): Unit
}

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
final case class Replacement(
    runId: String,
    inputs: Seq[DataFile],
    staging: Path,
    record: RunRecord,
    layouts: Map[String, String])
