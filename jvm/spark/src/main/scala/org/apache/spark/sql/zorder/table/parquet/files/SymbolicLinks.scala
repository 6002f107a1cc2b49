package org.apache.spark.sql.zorder.table.parquet.files

import java.nio.file.{Files, Path => JPath, Paths}

import scala.util.Try

import org.apache.hadoop.fs.Path

/** Symbolic links on the local disk, which Hadoop follows silently. */
private[zorder] object SymbolicLinks {

  /** The target of a directory that is itself a link. */
  def target(dir: Path): Option[JPath] =
    if (!MountPoints.isLocal(dir)) None
    else {
      val at = Paths.get(dir.toUri.getPath)
      if (!Files.isSymbolicLink(at)) None
      else Some(Try(at.toRealPath()).getOrElse(Files.readSymbolicLink(at)))
    }

  /** Whether `root`, or a directory between it and the file, is a link. */
  def onTheWay(root: Path, rel: String): Boolean =
    MountPoints.isLocal(root) && {
      val parents = Iterator.iterate(new Path(root, rel).getParent)(_.getParent).takeWhile(_ != null)
      val depth = rel.count(_ == '/') + 1
      parents.take(depth).exists(target(_).isDefined)
    }
}
