package org.apache.spark.sql.zorder.table.storage

import java.io.IOException
import java.net.URI

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataOutputStream, Path, RawLocalFileSystem}
import org.apache.hadoop.util.Progressable
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession

class TextFilesSuite extends AnyFunSuite with ZOrderSession {

  for (name <- Seq(".t.json.tmp", "t.json"))
    test(s"where a file is empty until it is closed, one text is whole if the writer of $name dies") {
      withTempDir { dir =>
        val store = new AzureLikeStore
        val path = new Path(s"abfss://data$dir/t.json")
        TextFiles.replace(store, path, "before")
        store.failing = name
        intercept[IOException](TextFiles.replace(store, path, "after"))
        assert(TextFiles.read(store, path).contains(if (name == "t.json") "after" else "before"))
        store.failing = ""
        TextFiles.replace(store, path, "at last")
        assert(TextFiles.read(store, path).contains("at last"))
        assert(TextFiles.children(store, path.getParent).map(_.getPath.getName) == Seq("t.json"))
      }
    }

  test("a text is whole also if the next writer dies where another one has") {
    withTempDir { dir =>
      val store = new AzureLikeStore
      val path = new Path(s"abfss://data$dir/t.json")
      TextFiles.replace(store, path, "before")
      store.failing = "t.json"
      intercept[IOException](TextFiles.replace(store, path, "after"))
      for (name <- Seq("t.json", ".t.json.tmp")) {
        store.failing = name
        Try(TextFiles.replace(store, path, "later"))
        assert(TextFiles.read(store, path).exists(Set("after", "later")))
      }
      store.failing = "t.json"
      intercept[IOException](TextFiles.replace(store, path, "last"))
      TextFiles.delete(store, path)
      assert(TextFiles.children(store, path.getParent).isEmpty)
    }
  }

  test("which stores show a file that is being written") {
    assert(Seq("abfs", "ABFSS", "wasbs", "adl").forall(ObjectStores.showsUnfinished))
    assert(!Seq("s3a", "gs", "hdfs", "file", null).exists(ObjectStores.showsUnfinished))
  }
}

/** A store on the local disk, where a file is there, and empty, as soon as it is made. */
private final class AzureLikeStore extends RawLocalFileSystem {
  initialize(URI.create("abfss://data"), new Configuration(false))

  /** The name of the file whose writer dies before it has written. */
  var failing = ""

  override def getScheme: String = "abfss"
  override def getUri: URI = URI.create("abfss://data")

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream = {
    val out = super.create(path, overwrite, bufferSize, replication, blockSize, progress)
    if (path.getName == failing) {
      out.close()
      throw new IOException("Injected: the connection is reset")
    }
    out
  }
}
