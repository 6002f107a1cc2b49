package org.apache.spark.sql.zorder.stats

import java.io.InputStream

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FSDataInputStream, Path}
import org.apache.hadoop.util.functional.FutureIO
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

import org.apache.spark.sql.zorder.table.file.{DataFile, FileBytes}

/**
 * A file whose length a listing, or its table format, has told. An object store is then not asked for it, and
 * is asked once for the end of the file, where the footer and the page indexes before it lie. Parquet's own
 * input asks for the length of the footer, for the footer, and for the index of each column.
 */
final private[stats] class ListedParquetFile(conf: Configuration, file: DataFile) extends InputFile {
  private val path = new Path(file.path)

  override def getLength: Long = file.length

  override def newStream(): SeekableInputStream = {
    val in = file.own.fold[FileBytes](new HadoopBytes(opened()))(_.open(file.path, file.length))
    val bytes = new TailFirst(in, file.length)
    new DelegatingSeekableInputStream(bytes) {
      override def getPos: Long = bytes.position
      override def seek(to: Long): Unit = bytes.position = to
    }
  }

  private def opened(): FSDataInputStream = {
    val fs = path.getFileSystem(conf)
    val status = new FileStatus(file.length, false, 1, 0L, file.modified, path)
    try FutureIO.awaitFuture(fs.openFile(path).withFileStatus(status).build())
    // one that stands for another may hand on a status that is not of the path there
    catch { case _: RuntimeException => fs.open(path) }
  }

  override def toString: String = path.toString
}

final private class HadoopBytes(in: FSDataInputStream) extends FileBytes {
  override def readFully(at: Long, into: Array[Byte]): Unit = in.readFully(at, into)

  override def read(at: Long, into: Array[Byte], offset: Int, most: Int): Int = {
    if (in.getPos != at) in.seek(at)
    in.read(into, offset, most)
  }

  override def close(): Unit = in.close()
}

/** The bytes of a file; the last of them are read at once when the first of these is asked for. */
private class TailFirst(in: FileBytes, length: Long) extends InputStream {
  private val start = math.max(0L, length - TailFirst.Bytes)
  private lazy val tail: Array[Byte] = {
    val bytes = new Array[Byte]((length - start).toInt)
    in.readFully(start, bytes)
    bytes
  }

  /** Where the next byte is read. */
  var position: Long = 0L

  override def read(): Int = {
    val one = new Array[Byte](1)
    if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
  }

  override def read(into: Array[Byte], offset: Int, most: Int): Int = {
    val got =
      if (position >= length) -1
      else if (position >= start) {
        val n = math.min(most.toLong, length - position).toInt
        System.arraycopy(tail, (position - start).toInt, into, offset, n)
        n
      } else in.read(position, into, offset, most)
    position += math.max(0, got)
    got
  }

  override def close(): Unit = in.close()
}

private object TailFirst {

  /** Enough for a footer and the indexes of some columns, and sent as quickly as a tenth of it. */
  private val Bytes = 64L << 10
}
