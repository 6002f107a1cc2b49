package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.RunRecord
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, ListedFile}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalStore, SwapUnit}

/** Which directories a commit exchanges. */
private[zorder] object SwapPlan {

  /**
   * One unit for an unpartitioned path table, else one for each partition with inputs.
   *
   * @param actual
   *   partition directories of the table by their spelling in the staging directory
   * @param live
   *   where the data of each partition is
   */
  def forPath(
      store: JournalStore,
      journal: Journal,
      inputs: Seq[DataFile],
      actual: Map[String, String],
      live: Map[String, Path]): Seq[SwapUnit] = {
    val fs = store.fs
    byPartition(fs, journal.staging, inputs, actual).map { case (partition, staged, rewritten) =>
      val target = live.getOrElse(partition, throw dropped(partition, journal.home))
      SwapUnit(
        partition,
        target,
        staged,
        below(store.retired(journal.txn), partition),
        relative(fs, target, rewritten),
        Nil,
        outputs(fs, staged))
    }
  }

  def dropped(partition: String, table: Any): ZOrderConflictException = new ZOrderConflictException(
    s"The partition $partition of $table was dropped during the run; nothing was changed.")

  /** (partition, its staged directory, its inputs), by partition. */
  def byPartition(
      fs: FileSystem,
      staging: Path,
      inputs: Seq[DataFile],
      actual: Map[String, String]): Seq[(String, Path, Seq[DataFile])] = {
    val spelling = actual.map(_.swap)
    val inputsOf = inputs.groupBy(_.partition)
    if (inputs.isEmpty) throw new IllegalArgumentException("A commit without inputs")
    val staged = DirectoryListing.walk(fs, staging).data.map(DirectoryListing.partitionOf)
      .map(p => actual.getOrElse(p, p)).toSet
    (staged -- inputsOf.keySet).headOption.foreach { p =>
      throw new IllegalStateException(s"The run wrote to the partition '$p', from which it read nothing")
    }
    inputsOf.toSeq.sortBy(_._1).map { case (partition, files) =>
      val dir = below(staging, spelling.getOrElse(partition, partition))
      fs.mkdirs(dir)
      dropScratch(fs, dir)
      (partition, dir, files)
    }
  }

  /** The record's paths in the spelling of the table's own directories. */
  def inPlace(record: RunRecord, actual: Map[String, String]): RunRecord =
    record.copy(files = record.files.map { f =>
      val cut = f.path.lastIndexOf('/')
      if (cut < 0) f
      else f.copy(path = s"${actual.getOrElse(f.path.take(cut), f.path.take(cut))}/${f.path.drop(cut + 1)}")
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
  private def dropScratch(fs: FileSystem, dir: Path): Unit =
    DirectoryListing.walk(fs, dir).dirs.filter(d =>
      DirectoryListing.isWriter(d.substring(d.lastIndexOf('/') + 1)))
      .foreach(d => fs.delete(new Path(dir, d), true))
}
