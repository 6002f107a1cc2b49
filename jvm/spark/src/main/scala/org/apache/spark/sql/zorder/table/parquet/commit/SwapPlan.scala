package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.files.{
  DirectoryListing,
  FileMoves,
  FilePermissions,
  ListedFile,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalStore, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.{ObjectStores, TextFiles}

/** Which directories a commit exchanges. */
private[zorder] object SwapPlan {

  /**
   * One unit for a table without partitions, else one for each partition with inputs.
   *
   * @param tree
   *   what lies in the staging directory
   * @param dirByName
   *   partition directories of the table by their spelling in the staging directory
   * @param live
   *   where the data of each partition is
   */
  def forPath(
      store: JournalStore,
      journal: Journal,
      tree: DirectoryListing,
      inputs: Seq[DataFile],
      dirByName: Map[String, String],
      live: Map[String, Path]): Seq[SwapUnit] = {
    val fs = store.fs
    byPartition(fs, journal.staging, tree, inputs, dirByName).map {
      case Staged(partition, dir, rewritten, outputs) =>
        val target = live.getOrElse(partition, throw dropped(partition, journal.home))
        SwapUnit(
          partition,
          target,
          dir,
          below(store.retired(journal.txn), partition),
          relative(fs, target, rewritten),
          Nil,
          outputs)
    }
  }

  def dropped(partition: String, table: Any): ZOrderConflictException =
    new ZOrderConflictException(
      "ZORDER_CONFLICT.PARTITION_DROPPED",
      "partition" -> partition,
      "table" -> table)

  /** A partition, its staged directory, what was rewritten and what was written. */
  final case class Staged(partition: String, dir: Path, inputs: Seq[DataFile], outputs: Seq[ListedFile])

  /** The staged files of each partition, from the listing of the staging directory. */
  def byPartition(
      fs: FileSystem,
      staging: Path,
      tree: DirectoryListing,
      inputs: Seq[DataFile],
      dirByName: Map[String, String]): Seq[Staged] = {
    val spelling = dirByName.map(_.swap)
    val inputsOf = inputs.groupBy(_.partition)
    if (inputs.isEmpty) throw new IllegalArgumentException("A commit without inputs")
    val written = tree.data.groupBy(_.parent)
    val spelledAs = inputsOf.keys.map(p => p -> spelling.getOrElse(p, p)).toMap
    (written.keySet -- spelledAs.values).headOption.foreach { p =>
      throw new IllegalStateException(s"The run wrote to the partition '$p', from which it read nothing")
    }
    inputsOf.toSeq.sortBy(_._1).map { case (partition, files) =>
      val spelled = spelledAs(partition)
      val dir = below(staging, spelled)
      if (!written.contains(spelled)) fs.mkdirs(dir)
      dropScratch(fs, tree, spelled)
      val outputs = written.getOrElse(spelled, Nil).map(f => f.copy(rel = f.name))
      Staged(partition, dir, files, outputs)
    }
  }

  /** The record's paths in the spelling of the table's own directories. */
  def inPlace(record: RunRecord, dirByName: Map[String, String]): RunRecord =
    record.copy(files = record.files.map { f =>
      val cut = f.path.lastIndexOf('/')
      if (cut < 0) f
      else {
        val written = f.path.take(cut)
        f.copy(path = s"${dirByName.getOrElse(written, written)}/${f.path.drop(cut + 1)}")
      }
    })

  def outputs(fs: FileSystem, staged: Path): Seq[ListedFile] = DirectoryListing.walk(fs, staged).data

  def relative(fs: FileSystem, dir: Path, files: Seq[DataFile]): Seq[ListedFile] = {
    val base = s"${fs.makeQualified(dir)}/"
    files.map { f =>
      if (!f.path.startsWith(base)) throw new IllegalArgumentException(s"${f.path} is not below $base")
      ListedFile(f.path.stripPrefix(base), f.length, f.modified)
    }
  }

  def below(root: Path, partition: String): Path = if (partition.isEmpty) root else new Path(root, partition)

  /** A finished job may have left its scratch directory there. */
  private def dropScratch(fs: FileSystem, staging: DirectoryListing, partition: String): Unit =
    staging.scratchDirs.filter(partition.isEmpty || _.startsWith(s"$partition/"))
      .foreach(d => fs.delete(new Path(staging.root, d), true))
}

/** The files of a directory that a rewrite does not touch: they are copied into the new directory. */
private[zorder] object CarriedOverFiles {

  /** Not copied: summaries of files that are gone, and our own scratch files. */
  def stale(file: ListedFile): Boolean =
    file.name == "_metadata" || file.name == "_common_metadata" ||
      (file.name.startsWith(".zorder-") && file.name.endsWith(".tmp"))

  /** @throws ZOrderConflictException if an input was changed or deleted */
  def checkInputs(unit: SwapUnit, now: DirectoryListing): Unit = {
    val present = now.files.map(f => f.rel -> f).toMap
    unit.inputs.foreach { in =>
      present.get(in.rel) match {
        case Some(f) if f == in =>
        case Some(_) => conflict("ZORDER_CONFLICT.FILE_CHANGED", now.root, in.rel)
        case None => conflict("ZORDER_CONFLICT.FILE_DELETED", now.root, in.rel)
      }
    }
  }

  /**
   * Lists the directories that the new files lie in, and not our state below them.
   *
   * @param kept
   *   files that were copied there, and are not copied again
   * @throws ZOrderConflictException
   *   if one of them is gone from its staging directory
   */
  def checkOutputs(fs: FileSystem, unit: SwapUnit, kept: Seq[ListedFile] = Nil): Unit =
    (unit.outputs ++ kept).groupBy(_.parent).foreach { case (below, files) =>
      val there = TextFiles.children(fs, SwapPlan.below(unit.staged, below)).map(_.getPath.getName).toSet
      if (!files.forall(o => there(o.name))) throw outputsGone(unit.staged)
    }

  def outputsGone(staged: Path): ZOrderConflictException =
    new ZOrderConflictException("ZORDER_CONFLICT.NEW_FILES_DELETED", "dir" -> staged)

  private def conflict(condition: String, root: Path, rel: String): Nothing =
    throw new ZOrderConflictException(condition, "file" -> s"$root/$rel")

  /**
   * Makes the staged directory hold exactly the outputs and the files of `now` that are not inputs. Files that are being
   * written stay where they are.
   *
   * @return
   *   the unit with `kept` as it is now
   */
  def sync(fs: FileSystem, unit: SwapUnit, now: DirectoryListing): SwapUnit = {
    val inputs = unit.inputs.map(_.rel).toSet
    val outputs = unit.outputs.map(_.rel).toSet
    val known = unit.kept.toSet
    val wanted = now.files.filterNot(f =>
      inputs(f.rel) || stale(f) || (!known(f) && UnfinishedFiles.is(fs, now.root, f)))
    val names = wanted.map(_.rel).toSet
    unit.kept.filterNot(k => names(k.rel)).foreach(k => fs.delete(new Path(unit.staged, k.rel), false))
    // of a table that moves, the catalog keeps two runs apart
    lazy val staged =
      if (ObjectStores.isOne(fs.getUri.getScheme)) Set.empty[Int]
      else StateDir.recordNumbers(fs, unit.staged) -- unit.kept.flatMap(k => StateDir.recordNumber(k.rel))
    wanted.filterNot(known).foreach { f =>
      if (outputs(f.rel)) conflict("ZORDER_CONFLICT.SAME_FILE_NAME", now.root, f.rel)
      StateDir.recordNumber(f.rel).filter(staged.contains).foreach(giveWay(fs, unit.staged, now, _))
      FileMoves.copy(fs, new Path(now.root, f.rel), new Path(unit.staged, f.rel), f)
    }
    unit.copy(kept = wanted)
  }

  /** Another run over other files of the path has committed since, and its record has the number of the staged one. */
  private def giveWay(fs: FileSystem, staged: Path, now: DirectoryListing, number: Int): Unit = {
    val above = now.files.flatMap(f => StateDir.recordNumber(f.rel)).foldLeft(number)(math.max(_, _)) + 1
    val other = TextFiles.read(fs, new Path(now.root, s"${StateDir.Name}/runs/$number.json"))
    new StateDir(fs, staged).giveWay(number, other, above)
  }

  /**
   * Gives the staged directory and its new files the owner, the mode and the ACL of old ones.
   *
   * @param from
   *   where the old files lie
   */
  def copyPermissions(fs: FileSystem, unit: SwapUnit, from: Path): Unit = {
    FilePermissions.copy(fs, from, unit.staged)
    unit.inputs.headOption.foreach { model =>
      unit.outputs.foreach { o =>
        FilePermissions.copy(fs, new Path(from, model.rel), new Path(unit.staged, o.rel))
      }
    }
  }

  /** Data files in `now` that are neither rewritten nor copied yet, and are finished. */
  def arrived(fs: FileSystem, unit: SwapUnit, now: DirectoryListing): Seq[ListedFile] = {
    val known = unit.oldFiles.map(_.rel).toSet
    now.data.filterNot(f => known(f.rel) || UnfinishedFiles.is(fs, now.root, f))
  }
}
