package org.apache.spark.sql.zorder.table.iceberg

import java.io.{EOFException, FileNotFoundException, IOException}
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.iceberg.{HasTableOperations, SerializableTable, Table}
import org.apache.iceberg.exceptions.NotFoundException
import org.apache.iceberg.hadoop.HadoopFileIO
import org.apache.iceberg.io.{FileIO, RangeReadable, SeekableInputStream}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{FileBytes, FormatFiles}

/**
 * By what footers and `_zorder/` are reached: by Hadoop's file systems where they know the table's place, otherwise by
 * the `FileIO` with which Iceberg itself reads and writes the table. Tasks open file systems by the settings of the
 * session, so that footers are read by the `FileIO`, too, where the catalog has others.
 */
private[iceberg] object IcebergReach {

  /**
   * None if only the table's own `FileIO` reaches it. A file system that is there may still have no credentials, if
   * those of the table come from its catalog: then it does not see the table's metadata.
   */
  def hadoop(session: ClassicSession, table: Table): Option[FileSystem] = {
    def system(conf: Configuration) =
      try Some(new Path(table.location).getFileSystem(conf))
      catch { case NonFatal(_) | _: LinkageError => None }
    def sees(fs: FileSystem, file: String) =
      try fs.exists(new Path(file))
      catch { case NonFatal(_) | _: LinkageError => false }
    table.io match {
      case own: HadoopFileIO => system(own.getConf)
      case _ => system(session.sessionState.newHadoopConf()).filter(fs => metadata(table).exists(sees(fs, _)))
    }
  }

  /** Settings by which Hadoop finds and opens file systems. */
  private val Settings = Seq("fs.", "dfs.", "hadoop.security.", "google.cloud.")

  /**
   * Whether the table's catalog has settings of its own for Hadoop (`spark.sql.catalog.<name>.hadoop.*`): what opens
   * files by those of the session may have other keys, or none. A setting that the session has got since the catalog was
   * loaded does not count. One that was changed since does, as the `FileIO` still has what it was.
   */
  def hasOwnSettings(session: ClassicSession, table: Table): Boolean = table.io match {
    case own: HadoopFileIO =>
      val known = Seq(session.sessionState.newHadoopConf(), session.sparkContext.hadoopConfiguration)
      own.getConf.iterator.asScala.exists { e =>
        // an old name may keep another text than the new one, which is what counts
        Settings.exists(e.getKey.startsWith(_)) && !Configuration.isDeprecated(e.getKey) &&
        known.forall(_.getRaw(e.getKey) != e.getValue)
      }
    case _ => false
  }

  private def metadata(table: Table): Option[String] = table match {
    case known: HasTableOperations =>
      Option(known.operations.current).flatMap(m => Option(m.metadataFileLocation))
    case _ => None
  }
}

/**
 * Files by a table's own `FileIO`.
 *
 * @param id
 *   of the table
 * @param table
 *   held, where it is open: a REST catalog closes the `FileIO` of a table that nobody holds
 */
final private[iceberg] class IcebergFiles private (
    private val id: String,
    private val io: FileIO,
    @transient private[iceberg] val table: Table)
    extends FormatFiles {

  @transient private var isCopy = false

  override def open(path: String, length: Long): FileBytes =
    IcebergFiles.asIOException(path)(new IcebergBytes(path, io.newInputFile(path, length).newStream()))

  override def release(): Unit = if (isCopy) io.close()

  /** Where the table is open, which is on the driver, a copy that comes back is the original. */
  private def readResolve(): AnyRef = IcebergFiles.opened(id).getOrElse {
    isCopy = true
    this
  }

  override def equals(other: Any): Boolean = other match {
    case files: IcebergFiles => files.id == id
    case _ => false
  }

  override def hashCode: Int = id.hashCode
}

private[iceberg] object IcebergFiles {

  /** Those of tables that are open in this JVM, by their ids. */
  private[iceberg] val original = new ConcurrentHashMap[String, WeakReference[IcebergFiles]]()

  def of(table: Table): IcebergFiles = {
    // the copy of a table that Iceberg sends to tasks, with what a FileIO needs to be sent
    val files = new IcebergFiles(s"${table.name} ${table.uuid}", SerializableTable.copyOf(table).io, table)
    original.values.removeIf(_.get == null)
    original.put(files.id, new WeakReference(files))
    files
  }

  private def opened(id: String): Option[IcebergFiles] =
    Option(original.get(id)).flatMap(found => Option(found.get))

  /** The errors of `FileIO`s are none of Java's: our readers take these for damaged bytes. */
  def asIOException[A](path: String)(read: => A): A =
    try read
    catch {
      case e: IOException => throw e
      case e: NotFoundException =>
        val gone = new FileNotFoundException(s"$path: ${ZOrderException.firstLine(e)}")
        gone.initCause(e)
        throw gone
      case NonFatal(e) => throw new IOException(s"$path: ${ZOrderException.firstLine(e)}", e)
    }
}

final private class IcebergBytes(path: String, in: SeekableInputStream) extends FileBytes {

  override def readFully(at: Long, into: Array[Byte]): Unit = IcebergFiles.asIOException(path)(in match {
    case ranges: RangeReadable => ranges.readFully(at, into)
    case _ =>
      if (in.getPos != at) in.seek(at)
      var filled = 0
      while (filled < into.length) {
        val got = in.read(into, filled, into.length - filled)
        if (got < 0) throw new EOFException(s"$path ends after ${at + filled} bytes")
        filled += got
      }
  })

  override def read(at: Long, into: Array[Byte], offset: Int, most: Int): Int =
    IcebergFiles.asIOException(path) {
      if (in.getPos != at) in.seek(at)
      in.read(into, offset, most)
    }

  override def close(): Unit = IcebergFiles.asIOException(path)(in.close())
}
