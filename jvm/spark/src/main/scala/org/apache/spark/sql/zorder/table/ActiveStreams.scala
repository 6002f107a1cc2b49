package org.apache.spark.sql.zorder.table

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.PathText

/** Streaming queries of this session that read a directory. Those of other sessions cannot be seen. */
private[table] object ActiveStreams {
  private val FileSource = "FileStreamSource\\[(.*)\\]".r

  /** A stream knows files by their paths: it takes the rows of new files for new rows, and never sees moved files. */
  def refuseReaders(session: ClassicSession, root: Path): Unit =
    for {
      query <- session.streams.active
      progress <- Option(query.lastProgress).toSeq
      source <- progress.sources.toSeq
      path <- reads(source.description) if touches(path, root)
    } refuse(
      s"The streaming query ${Option(query.name).getOrElse(query.id.toString)} reads $path and would " +
        "deliver all rows again after a run, or miss later ones; stop it first, and start it with a new checkpoint, " +
        "or write a copy with INTO 'path'.")

  private[table] def reads(description: String): Option[Path] = description match {
    case FileSource(path) => Try(new Path(path)).toOption
    case _ => None
  }

  private def touches(source: Path, root: Path): Boolean = {
    val (a, b) = (PathText.of(source), PathText.of(root))
    a == b || a.startsWith(s"$b/") || b.startsWith(s"$a/")
  }
}
