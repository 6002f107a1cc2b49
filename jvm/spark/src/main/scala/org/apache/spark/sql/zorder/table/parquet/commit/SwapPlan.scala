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
    byPartition(fs, journal.staging, inputs, actual).map { case Staged(partition, dir, rewritten, outputs) =>
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

  def dropped(partition: String, table: Any): ZOrderConflictException = new ZOrderConflictException(
    s"The partition $partition of $table was dropped during the run; nothing was changed.")

  /** A partition, its staged directory, what was rewritten and what was written. */
  final case class Staged(partition: String, dir: Path, inputs: Seq[DataFile], outputs: Seq[ListedFile])

  /** By partition, from one listing of the staging directory. */
  def byPartition(
      fs: FileSystem,
      staging: Path,
      inputs: Seq[DataFile],
      actual: Map[String, String]): Seq[Staged] = {
    val spelling = actual.map(_.swap)
    val inputsOf = inputs.groupBy(_.partition)
    if (inputs.isEmpty) throw new IllegalArgumentException("A commit without inputs")
    val tree = DirectoryListing.walk(fs, staging)
    val written = tree.data.groupBy(DirectoryListing.partitionOf)
    val staged = written.keySet.map(p => actual.getOrElse(p, p))
    (staged -- inputsOf.keySet).headOption.foreach { p =>
      throw new IllegalStateException(s"The run wrote to the partition '$p', from which it read nothing")
    }
    inputsOf.toSeq.sortBy(_._1).map { case (partition, files) =>
      val spelled = spelling.getOrElse(partition, partition)
      val dir = below(staging, spelled)
      fs.mkdirs(dir)
      dropScratch(fs, tree, spelled)
      val outputs = written.getOrElse(spelled, Nil).map(f => f.copy(rel = f.rel.substring(f.rel.lastIndexOf('/') + 1)))
      Staged(partition, dir, files, outputs)
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
  private def dropScratch(fs: FileSystem, staging: DirectoryListing, partition: String): Unit =
    staging.writers.filter(partition.isEmpty || _.startsWith(s"$partition/"))
      .foreach(d => fs.delete(new Path(staging.root, d), true))
}
