package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FileMoves, ListedFile}
import org.apache.spark.sql.zorder.table.parquet.journal.SwapUnit

/** The files of a directory that a rewrite does not touch: they are copied into the new directory. */
private[zorder] object UntouchedFiles {

  /** Not copied: summaries of files that are gone, and our own scratch files. */
  def stale(rel: String): Boolean = {
    val name = rel.substring(rel.lastIndexOf('/') + 1)
    name == "_metadata" || name == "_common_metadata" ||
    (name.startsWith(".zorder-") && name.endsWith(".tmp"))
  }

  /** @throws ZOrderConflictException if an input was changed or deleted */
  def checkInputs(unit: SwapUnit, now: DirectoryListing): Unit = {
    val present = now.files.map(f => f.rel -> f).toMap
    unit.inputs.foreach { in =>
      present.get(in.rel) match {
        case Some(f) if f == in =>
        case Some(_) => conflict(now.root, in.rel, "was changed")
        case None => conflict(now.root, in.rel, "was deleted")
      }
    }
  }

  /** @throws ZOrderConflictException if a new file is gone from its staging directory */
  def checkOutputs(unit: SwapUnit, staged: DirectoryListing): Unit = {
    val there = staged.files.map(_.rel).toSet
    if (!unit.outputs.forall(o => there(o.rel))) throw outputsGone(unit.staged)
  }

  def outputsGone(staged: Path): ZOrderConflictException = new ZOrderConflictException(
    s"The new files in $staged were deleted by somebody else; nothing was changed, run it again.")

  private def conflict(root: Path, rel: String, what: String): Nothing =
    throw new ZOrderConflictException(
      s"The file $root/$rel $what by somebody else during the run; nothing was changed, run it again.")

  /**
   * Makes the staged directory hold exactly the outputs and the files of `now` that are not inputs.
   *
   * @return
   *   the unit with `kept` as it is now
   */
  def sync(fs: FileSystem, unit: SwapUnit, now: DirectoryListing): SwapUnit = {
    val inputs = unit.inputs.map(_.rel).toSet
    val outputs = unit.outputs.map(_.rel).toSet
    val wanted = now.files.filterNot(f => inputs(f.rel) || stale(f.rel))
    val known = unit.kept.toSet
    val names = wanted.map(_.rel).toSet
    unit.kept.filterNot(k => names(k.rel)).foreach(k => fs.delete(new Path(unit.staged, k.rel), false))
    wanted.filterNot(known).foreach { f =>
      if (outputs(f.rel))
        throw new ZOrderConflictException(
          s"A new file has the name of one that is there already, ${now.root}/${f.rel}; nothing was changed.")
      FileMoves.copy(fs, new Path(now.root, f.rel), new Path(unit.staged, f.rel), f.modified)
    }
    unit.copy(kept = wanted)
  }

  /** Data files in `now` that are neither rewritten nor copied yet. */
  def arrived(unit: SwapUnit, now: DirectoryListing): Seq[ListedFile] = {
    val known = unit.named.map(_.rel).toSet
    now.data.filterNot(f => known(f.rel))
  }
}
