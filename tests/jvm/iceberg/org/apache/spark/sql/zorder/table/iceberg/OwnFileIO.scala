package org.apache.spark.sql.zorder.table.iceberg

import java.io.{File, IOException}
import java.lang.{Iterable => JIterable}
import java.util.{Collections, Map => JMap}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import org.apache.iceberg.Files
import org.apache.iceberg.io.{
  FileInfo,
  FileIO,
  InputFile,
  OutputFile,
  PositionOutputStream,
  SeekableInputStream,
  SupportsPrefixOperations
}

/**
 * A storage that only Iceberg knows: `own://` is a folder on the disk, its property `own.root`. As the interface allows,
 * it neither lists nor renames.
 */
class OwnFileIO extends FileIO {
  protected var root: String = _

  override def initialize(properties: JMap[String, String]): Unit = root = properties.get("own.root")
  override def properties: JMap[String, String] = Collections.singletonMap("own.root", root)
  override def newInputFile(path: String): InputFile = new OwnInput(path, at(path))
  override def newOutputFile(path: String): OutputFile = new OwnOutput(path, at(path))

  override def deleteFile(path: String): Unit = {
    val _ = at(path).delete()
  }

  override def close(): Unit = {
    val _ = OwnFileIO.closed.incrementAndGet()
  }

  protected def at(path: String): File = {
    OwnFileIO.asked(path)
    new File(root, path.stripPrefix(OwnFileIO.Scheme))
  }
}

/** The same, with lists. */
class ListingFileIO extends OwnFileIO with SupportsPrefixOperations {
  override def listPrefix(prefix: String): JIterable[FileInfo] = {
    def below(file: File): Seq[File] =
      if (file.isDirectory) file.listFiles.toSeq.flatMap(below) else Seq(file)
    below(at(prefix)).filter(_.exists).map { f =>
      val path = OwnFileIO.Scheme + f.getPath.stripPrefix(root).stripPrefix("/")
      new FileInfo(path, f.length, f.lastModified)
    }.asJava
  }

  override def deletePrefix(prefix: String): Unit =
    listPrefix(prefix).asScala.foreach(f => deleteFile(f.location))
}

private object OwnFileIO {
  val Scheme = "own://"

  /** What a test lets happen when somebody asks for a path. */
  @volatile var asked: String => Unit = (_: String) => ()

  /** Streams that are open; tasks run in this JVM. */
  val open = new AtomicInteger()

  /** How often a `FileIO` was closed. */
  val closed = new AtomicInteger()
}

final private class OwnInput(path: String, file: File) extends InputFile {
  override def location: String = path
  override def exists: Boolean = file.exists
  override def getLength: Long = file.length

  /** Errors of such storages are their own, and none of Java's. */
  override def newStream(): SeekableInputStream = {
    val in = Files.localInput(file).newStream()
    OwnFileIO.open.incrementAndGet()
    new SeekableInputStream {
      override def getPos: Long = in.getPos
      override def seek(to: Long): Unit = in.seek(to)
      override def read(): Int = in.read()
      override def read(into: Array[Byte], offset: Int, most: Int): Int = in.read(into, offset, most)
      private var isOpen = true
      override def close(): Unit = {
        if (isOpen) OwnFileIO.open.decrementAndGet()
        isOpen = false
        in.close()
      }
    }
  }
}

final private class OwnOutput(path: String, file: File) extends OutputFile {
  override def location: String = path
  override def toInputFile: InputFile = new OwnInput(path, file)

  override def create(): PositionOutputStream = {
    // Iceberg's local files fail where two tasks make a directory at once
    java.nio.file.Files.createDirectories(file.getParentFile.toPath)
    Files.localOutput(file).create()
  }

  override def createOrOverwrite(): PositionOutputStream = {
    if (file.exists && !file.delete()) throw new IOException(s"$file stays")
    create()
  }
}
