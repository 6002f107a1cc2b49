package org.apache.spark.sql.zorder.table.parquet.write

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{DataFile, PartNumber}
import org.apache.spark.sql.zorder.table.storage.TextFiles

/** The files that a run wrote into its staging directory. */
private[zorder] object StagedFiles {
  private val partNumber = new PartNumber("Spark", "part-(\\d+)-.*".r)

  def list(session: ClassicSession, staging: Path): Seq[DataFile] = {
    val fs = staging.getFileSystem(session.sessionState.newHadoopConf())
    val out = ArrayBuffer.empty[DataFile]
    walk(fs, fs.makeQualified(staging), "", out)
    out.sortBy(_.path).toSeq
  }

  private def walk(fs: FileSystem, directory: Path, partition: String, out: ArrayBuffer[DataFile]): Unit =
    // a copy on an object store is written to its final place, where nothing exists yet
    TextFiles.children(fs, directory).foreach { status =>
      val name = status.getPath.getName
      if (status.isDirectory && name.contains('='))
        walk(fs, status.getPath, if (partition.isEmpty) name else s"$partition/$name", out)
      else if (status.isFile && !name.startsWith("_") && !name.startsWith("."))
        out += DataFile(status.getPath.toString, status.getLen, status.getModificationTime, partition)
    }

  /** The shuffle partition that wrote the file. */
  def number(file: DataFile): Int = partNumber.of(file.path)
}
