package org.apache.spark.sql.zorder.skip.index

import java.io.IOException
import java.util.concurrent.ExecutionException

import org.apache.hadoop.fs.{FileStatus, FileSystem, FSDataInputStream, Path}

/**
 * The bytes of an index file in few requests: its end is read at once, which is all of a small one. Of a large one
 * further pieces are read when they are asked for.
 */
final private[index] class IndexBytes(fs: FileSystem, status: FileStatus) {
  private val tailAt = math.max(0L, status.getLen - IndexBytes.Tail)
  private val tail = read(tailAt, (status.getLen - tailAt).toInt)

  def path: Path = status.getPath

  /** @throws java.io.IOException the file cannot be read, or has no such bytes any more */
  def range(from: Long, count: Int): Array[Byte] =
    if (from < tailAt) read(from, count)
    else {
      val at = (from - tailAt).toInt
      if (count < 0 || at + count.toLong > tail.length) throw new IOException(s"$path ends too early.")
      java.util.Arrays.copyOfRange(tail, at, at + count)
    }

  private def read(from: Long, count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    val in = open()
    try in.readFully(from, bytes)
    finally in.close()
    bytes
  }

  /** With the status, an object store is not asked for it again. */
  private def open(): FSDataInputStream =
    try fs.openFile(path).withFileStatus(status).build().get()
    catch { case e: ExecutionException => throw new IOException(e.getCause) }
}

private[index] object IndexBytes {

  /** As much as an object store sends in the time of a request or two. */
  val Tail: Int = 1 << 20
}
