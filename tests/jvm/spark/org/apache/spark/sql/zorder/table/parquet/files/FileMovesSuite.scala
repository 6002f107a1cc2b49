package org.apache.spark.sql.zorder.table.parquet.files

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.net.URI
import java.nio.file.{Files, Path => JPath, Paths}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  Abortable,
  FSDataInputStream,
  FSDataOutputStream,
  FSInputStream,
  FileStatus,
  Path,
  RawLocalFileSystem,
  StreamCapabilities
}
import org.apache.hadoop.fs.permission.{FsAction, FsPermission}
import org.apache.hadoop.security.AccessControlException
import org.apache.hadoop.util.Progressable
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.LocalStoreFileSystem

/** A copy on a store is there as a whole, or not at all. */
class FileMovesSuite extends AnyFunSuite with ZOrderSession {
  private val whole: Array[Byte] = Array.tabulate(20000)(_.toByte)

  /** A file `from`, and the place `to` of its copy. */
  private def in(body: (JPath, JPath) => Unit): Unit = withTempDir { dir =>
    val from = Files.write(dir.resolve("from"), whole)
    body(from, dir.resolve("to"))
  }

  private val original = ListedFile("from", whole.length.toLong, 0L)

  private def inStore(path: JPath): Path = new Path(s"s3a://bucket$path")

  private def copy(store: TornStore, from: JPath, to: JPath): Unit =
    FileMoves.copy(store, inStore(from), inStore(to), original)

  private def copyUnlessThere(store: TornStore, from: JPath, to: JPath): Unit =
    FileMoves.copyUnlessThere(store, inStore(from), inStore(to), original)

  private def fails(store: TornStore, from: JPath, to: JPath): Unit =
    assert(intercept[IOException](copy(store, from, to)).getMessage.startsWith("Injected"))

  for (aborts <- Seq(true, false))
    test(s"a copy whose original cannot be read to its end leaves no file, aborts = $aborts") {
      in { (from, to) =>
        fails(new TornStore(aborts, readable = 9000), from, to)
        assert(!Files.exists(to))
        copy(new TornStore(aborts, readable = Int.MaxValue), from, to)
        assert(Files.readAllBytes(to).sameElements(whole))
      }
    }

  test("a late attempt that fails leaves the copy that another one has finished") {
    in { (from, to) =>
      val other = new TornStore(aborts = false, readable = Int.MaxValue)
      fails(new TornStore(aborts = false, readable = 9000, meanwhile = () => copy(other, from, to)), from, to)
      assert(Files.readAllBytes(to).sameElements(whole))
    }
  }

  test("an attempt that begins late leaves the copy that another one has finished since it looked") {
    in { (from, to) =>
      val other = new TornStore(aborts = false, readable = Int.MaxValue)
      val late = new TornStore(aborts = false, readable = 9000) {
        override def open(path: Path, bufferSize: Int): FSDataInputStream = {
          copyUnlessThere(other, from, to)
          super.open(path, bufferSize)
        }
      }
      copyUnlessThere(late, from, to)
      assert(Files.readAllBytes(to).sameElements(whole))
      // what an attempt that died has left
      Files.write(to, whole.take(9000))
      copyUnlessThere(other, from, to)
      assert(Files.readAllBytes(to).sameElements(whole))
    }
  }

  test("what was there before stays where a copy that fails has not written over it") {
    in { (from, to) =>
      Files.write(to, Array[Byte](1, 2, 3))
      fails(new TornStore(aborts = true, readable = 9000), from, to)
      fails(new TornStore(aborts = false, readable = 9000, full = true), from, to)
      assert(Files.readAllBytes(to).toSeq == Seq[Byte](1, 2, 3))
    }
  }

  test("an owner whom this user may not give a file is refused, and what it was tried on is gone") {
    withTempDir { dir =>
      val owned = new OwnedFileSystem
      val files = Seq("mine", "theirs").map(name => new Path(Files.write(dir.resolve(name), whole).toString))
      val staging = new Path(Files.createDirectory(dir.resolve("staging")).toString)
      FilePermissions.tryOwners(owned, staging, files.take(1) :+ new Path(s"$dir/gone"))
      val e = intercept[ZOrderException](FilePermissions.tryOwners(owned, staging, files))
      assert(e.condition == "ZORDER_NO_PERMISSION.OWNER" && e.sentence.contains("theirs belongs to other:us"))
      assert(owned.listStatus(staging).isEmpty)
    }
  }

  test("another user's file is copied where owner and group cannot be kept, and closed to another group") {
    withTempDir { dir =>
      Seq("theirs" -> false, "secret" -> true).foreach { case (name, closed) =>
        val owned = new OwnedFileSystem
        val from = Files.write(dir.resolve(name), whole)
        val to = dir.resolve(s"$name-copy")
        val file = ListedFile(name, whole.length.toLong, 1000L)
        FileMoves.copy(owned, new Path(from.toString), new Path(to.toString), file)
        assert(Files.readAllBytes(to).sameElements(whole))
        // Hadoop itself sets a mode when it makes a file
        assert(owned.modes.exists(_.getGroupAction == FsAction.NONE) == closed, name)
      }
    }
  }
}

/** A file system with files of another user's, one of another group, where nobody may give files away. */
private final class OwnedFileSystem extends RawLocalFileSystem {
  initialize(URI.create("file:///"), new Configuration(false))

  /** What temporary files were given. */
  var modes: Seq[FsPermission] = Nil

  override def getFileStatus(path: Path): FileStatus = {
    val s = super.getFileStatus(path)
    val owner = if (Set("theirs", "secret")(path.getName)) "other" else "me"
    val group = if (path.getName == "secret") "them" else "us"
    new FileStatus(s.getLen, s.isDirectory, 1, 1L, 0L, 0L, FsPermission.getDefault, owner, group, s.getPath)
  }

  override def setPermission(path: Path, permission: FsPermission): Unit =
    if (path.getName.endsWith(".tmp")) modes :+= permission

  override def setOwner(path: Path, owner: String, group: String): Unit =
    throw new AccessControlException("Permission denied")
}

/**
 * A store on the local disk.
 *
 * @param aborts
 *   whether a file appears when its stream is closed, and not if that is aborted
 * @param readable
 *   bytes of a file that can be read
 * @param full
 *   whether no file can be made
 * @param meanwhile
 *   what happens before a read fails
 */
private class TornStore(
    aborts: Boolean,
    readable: Int,
    full: Boolean = false,
    meanwhile: () => Unit = () => ())
    extends LocalStoreFileSystem {
  initialize(URI.create("s3a://bucket"), new Configuration(false))

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    new FSDataInputStream(
      new TornInput(Files.readAllBytes(Paths.get(path.toUri.getPath)), readable, meanwhile))

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream =
    if (full) throw new IOException("Injected: no space")
    else if (aborts) new FSDataOutputStream(new Upload(Paths.get(path.toUri.getPath)), null)
    else super.create(path, overwrite, bufferSize, replication, blockSize, progress)
}

private final class TornInput(bytes: Array[Byte], readable: Int, meanwhile: () => Unit)
    extends FSInputStream {
  private var at = 0

  override def read(): Int =
    if (at >= readable) {
      meanwhile()
      throw new IOException("Injected: the connection is reset")
    } else if (at >= bytes.length) -1
    else {
      at += 1
      bytes(at - 1) & 0xff
    }

  override def seek(to: Long): Unit = at = to.toInt
  override def getPos: Long = at.toLong
  override def seekToNewSource(to: Long): Boolean = false
}

/** What is written appears under its name when the stream is closed, as on a store. */
private final class Upload(to: JPath) extends OutputStream with Abortable with StreamCapabilities {
  private val written = new ByteArrayOutputStream
  private var open = true

  override def write(byte: Int): Unit = written.write(byte)

  override def close(): Unit = if (open) {
    open = false
    Files.write(to, written.toByteArray)
    ()
  }

  override def hasCapability(capability: String): Boolean =
    capability == StreamCapabilities.ABORTABLE_STREAM

  override def abort(): Abortable.AbortableResult = {
    val wasOpen = open
    open = false
    new Abortable.AbortableResult {
      override def alreadyClosed: Boolean = !wasOpen
      override def anyCleanupException: IOException = null
    }
  }
}
