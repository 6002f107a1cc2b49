package org.apache.spark.sql.zorder.table

import java.io.OutputStream

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission

import org.apache.spark.sql.zorder.QuickRawFileSystem

/** The local file system, but for what [[Faults]] lets fail. */
class FaultyFileSystem extends LocalFileSystem(new FaultyRawFileSystem)

class FaultyRawFileSystem extends QuickRawFileSystem {

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    Faults.reads(path)
    super.open(path, bufferSize)
  }

  override def getFileStatus(path: Path): FileStatus = {
    Faults.reads(path)
    super.getFileStatus(path)
  }

  override def rename(from: Path, to: Path): Boolean = Faults.renames(from, to) && super.rename(from, to)

  override def delete(path: Path, recursive: Boolean): Boolean = {
    Faults.deletes(path)
    super.delete(path, recursive)
  }

  override protected def createOutputStream(path: Path, append: Boolean): OutputStream =
    new LimitedStream(path, super.createOutputStream(path, append))

  override protected def createOutputStreamWithMode(
      path: Path,
      append: Boolean,
      permission: FsPermission): OutputStream =
    new LimitedStream(path, super.createOutputStreamWithMode(path, append, permission))
}

private final class LimitedStream(path: Path, to: OutputStream) extends OutputStream {

  override def write(byte: Int): Unit = {
    Faults.writes(path, 1)
    to.write(byte)
  }

  override def write(bytes: Array[Byte], from: Int, length: Int): Unit = {
    Faults.writes(path, length)
    to.write(bytes, from, length)
  }

  override def flush(): Unit = to.flush()
  override def close(): Unit = to.close()
}
