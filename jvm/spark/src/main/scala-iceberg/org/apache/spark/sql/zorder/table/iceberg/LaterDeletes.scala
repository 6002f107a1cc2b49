package org.apache.spark.sql.zorder.table.iceberg

import java.util.{Map => JMap}

import scala.annotation.nowarn
import scala.collection.JavaConverters._
import scala.collection.mutable

import org.apache.iceberg.{
  BaseTable,
  DataOperations,
  DeleteFile,
  ManifestFile,
  ManifestFiles,
  PartitionSpec,
  Snapshot,
  SnapshotRef,
  SnapshotSummary,
  Table,
  TableMetadata,
  TableOperations
}
import org.apache.iceberg.exceptions.ValidationException
import org.apache.iceberg.io.FileIO
import org.apache.iceberg.util.SnapshotUtil

/**
 * The equality deletes that others committed after the snapshot `start`, from which a run read its rows.
 *
 * Rewritten files keep the sequence number of `start`, so that such deletes apply to them, too. But a commit of Iceberg
 * drops each delete file that is older than all data files of the snapshot before it, and does not look at the files
 * that it adds itself (apache/iceberg#10312): the deleted rows would be there again. Iceberg may also read the table
 * again within a commit. So the check is where the metadata is replaced.
 */
private[iceberg] object LaterDeletes {

  /** A commit would have dropped these. */
  final class Dropped(val files: Seq[DeleteFile])
      extends ValidationException("The commit drops later deletes: %s", files.map(_.location).mkString(", "))

  /**
   * What the commit of a run is checked for. It fails with [[Dropped]] instead of dropping a later delete, and as a
   * conflict in four cases that Iceberg does not validate: if deletes were turned into others since the snapshot
   * `validated`, if a file came to the table again that the commit takes away, if rows that had no ids when they were read
   * have some now, or if names of columns in files without ids stand for other columns now.
   *
   * @param inputs
   *   the paths of the files that the commit takes away, each with all of its entries
   * @param copies
   *   of deletes that it adds under other paths, by the paths that they had
   * @param nameMapping
   *   the table's when the rows were read
   * @param seen
   *   snapshots that bring none of the inputs back: each attempt of a commit reads those alone that are new to it.
   *   Snapshots never change, and inputs may become fewer from one attempt to the next
   */
  final case class Guard(
      start: Snapshot,
      validated: Snapshot,
      branch: Option[String],
      inputs: Set[String],
      copies: Map[String, String],
      nameMapping: Option[String],
      seen: mutable.Set[Long]) {

    /** The table, whose commits are checked. */
    def of(table: Table): Table =
      new BaseTable(new Guarded(IcebergRefusals.operations(table), this), table.name)
  }

  /** All deletes that a snapshot has. */
  def of(table: Table, snapshot: Snapshot): Seq[DeleteFile] =
    live(table.io, table.specs, snapshot.deleteManifests(table.io).asScala.toSeq)

  private def live(
      io: FileIO,
      specs: JMap[Integer, PartitionSpec],
      manifests: Seq[ManifestFile]): Seq[DeleteFile] = manifests.flatMap { manifest =>
    val reader = ManifestFiles.readDeleteManifest(manifest, io, specs)
    try reader.asScala.map(_.copy()).toList
    finally reader.close()
  }

  final private class Guarded(own: TableOperations, guard: Guard) extends CheckedOperations(own) {
    import guard.{copies, inputs, seen, start, validated}

    private val branch = guard.branch.getOrElse(SnapshotRef.MAIN_BRANCH)

    override protected def check(base: TableMetadata, next: TableMetadata): Unit = {
      // Iceberg would make it anew, from the main branch
      if (base.ref(branch) == null) throw new ValidationException("The branch %s is gone", branch)
      val since = later(base)
      since.find(turned).foreach { s =>
        throw new ValidationException("The snapshot %s turned deletes into others", Long.box(s.snapshotId))
      }
      since.filterNot(s => seen(s.snapshotId)).foreach { s =>
        again(base, s).foreach { file =>
          throw new ValidationException("The file %s came to the table again", file)
        }
        seen += s.snapshotId
      }
      if (numbered(base)) throw new ValidationException("Rows of %s were given ids", own.current.location)
      if (IcebergColumns.mappingText(base.properties) != guard.nameMapping)
        throw new ValidationException("The name mapping of %s was changed", own.current.location)
      val dropped = lost(base, manifests(base), manifests(next))
      if (dropped.nonEmpty) throw new Dropped(dropped)
    }

    /** What others have committed since the snapshot from which Iceberg validates. */
    private def later(base: TableMetadata): Seq[Snapshot] = Option(base.ref(branch)).toSeq.flatMap(ref =>
      SnapshotUtil.ancestorsBetween(ref.snapshotId, validated.snapshotId, base.snapshot(_)).asScala)

    /** A commit that is said to change no row, and has new deletes: they may stand for those that our files wait for. */
    private def turned(snapshot: Snapshot): Boolean = snapshot.operation == DataOperations.REPLACE &&
      snapshot.summary.containsKey(SnapshotSummary.ADDED_DELETE_FILES_PROP)

    /** An input that the snapshot added once more: those rows are in no file of ours. */
    // what stands for the deprecated method is new in Iceberg 1.11
    @nowarn("cat=deprecation")
    private def again(base: TableMetadata, snapshot: Snapshot): Option[String] = {
      // a manifest has what earlier commits added, too; its paths are soon read, and mostly name no input
      val brought = snapshot.dataManifests(own.io()).asScala.filter { m =>
        m.hasAddedFiles && Option(m.snapshotId).exists(_.longValue == snapshot.snapshotId)
      }
      if (brought.exists(namesInput(base, _)))
        snapshot.addedDataFiles(own.io()).asScala.map(_.location).find(inputs)
      else None
    }

    private def namesInput(base: TableMetadata, manifest: ManifestFile): Boolean = {
      val paths = ManifestFiles.readPaths(manifest, own.io(), base.specsById)
      try paths.asScala.exists(inputs)
      finally paths.close()
    }

    /** The first commit of a table of version 3 gives all rows ids, which ours do not have. */
    private def numbered(base: TableMetadata): Boolean = start.firstRowId == null &&
      Option(base.ref(branch)).exists(ref => base.snapshot(ref.snapshotId).firstRowId != null)

    private def manifests(metadata: TableMetadata): Seq[ManifestFile] =
      Option(metadata.ref(branch)).toSeq
        .flatMap(ref => metadata.snapshot(ref.snapshotId).deleteManifests(own.io()).asScala)

    private def lost(
        base: TableMetadata,
        before: Seq[ManifestFile],
        after: Seq[ManifestFile]): Seq[DeleteFile] = {
      val same = before.map(_.path).toSet.intersect(after.map(_.path).toSet)
      def changed(manifests: Seq[ManifestFile]): Seq[DeleteFile] =
        live(own.io(), base.specsById, manifests.filterNot(m => same(m.path)))
      // a manifest is never older than its files
      val later = changed(before.filter(_.sequenceNumber > start.sequenceNumber))
        // deletes of positions name their data files, and so none that this commit adds
        .filter(d => d.dataSequenceNumber > start.sequenceNumber && !IcebergChanges.isPositional(d))
      if (later.isEmpty) later
      else {
        val kept = changed(after).map(IcebergChanges.place).toSet
        later.filterNot(d =>
          kept(IcebergChanges.place(d)) || copies.get(d.location).exists(copy => kept((copy, None))))
      }
    }
  }
}
