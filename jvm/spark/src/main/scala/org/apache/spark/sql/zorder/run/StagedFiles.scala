package org.apache.spark.sql.zorder.run

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, DataFile}

/** The files that a run wrote into its staging directory. */
private[run] object StagedFiles {
  private val PartFile = "part-(\\d+)-.*".r

  def list(session: ClassicSession, staging: Path): Seq[DataFile] = {
    val fs = staging.getFileSystem(session.sessionState.newHadoopConf())
    val out = ArrayBuffer.empty[DataFile]
    walk(fs, fs.makeQualified(staging), "", out)
    out.sortBy(_.path).toSeq
  }

  private def walk(fs: FileSystem, directory: Path, partition: String, out: ArrayBuffer[DataFile]): Unit =
    fs.listStatus(directory).foreach { status =>
      val name = status.getPath.getName
      if (status.isDirectory && name.contains('='))
        walk(fs, status.getPath, if (partition.isEmpty) name else s"$partition/$name", out)
      else if (status.isFile && !name.startsWith("_") && !name.startsWith("."))
        out += DataFile(status.getPath.toString, status.getLen, status.getModificationTime, partition)
    }

  /** The shuffle partition that wrote the file, which is its number over all layouts of the run. */
  def number(file: DataFile): Int = new Path(file.path).getName match {
    case PartFile(n) => n.toInt
    case other => throw new IllegalStateException(s"$other is not a file that Spark wrote")
  }

  /** The rows of the staged files as the table would read them. */
  def read(
      session: ClassicSession,
      table: ClusterTable,
      dataSchema: StructType,
      files: Seq[DataFile],
      staging: Path): DataFrame = {
    val partitions = files.groupBy(_.partition).toIndexedSeq.map { case (p, fs) => PinnedPartition(p, fs) }
    val pinned = new PinnedFiles(
      staging,
      partitions,
      table.partitionSchema,
      session.sessionState.conf.sessionLocalTimeZone)
    Shims.ofRows(session, InputRelation(session, pinned, dataSchema).plan).drop(PinnedFiles.ownColumns: _*)
  }
}
