package org.apache.spark.sql.zorder.table

import java.io.{InterruptedIOException, OutputStream}
import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsPermission
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import sparkzorder.mark.SameOnAllLines

/** Records of runs that a table format commits. */
@SameOnAllLines
class PendingRunsSuite extends AnyFunSuite with ZOrderSession {

  /** A store that does not write for a thread that is interrupted, as clients of HDFS and S3 do not. */
  private class InterruptibleStore extends LocalStoreFileSystem {
    initialize(URI.create("s3a://bucket"), new Configuration(false))
    var failures = 0

    private def check(): Unit = if (Thread.currentThread.isInterrupted) {
      failures += 1
      throw new InterruptedIOException("Injected: interrupted")
    }

    override def delete(path: Path, recursive: Boolean): Boolean = {
      check()
      super.delete(path, recursive)
    }

    override protected def createOutputStream(path: Path, append: Boolean): OutputStream = {
      check()
      super.createOutputStream(path, append)
    }

    override protected def createOutputStreamWithMode(
        path: Path,
        append: Boolean,
        permission: FsPermission): OutputStream = {
      check()
      super.createOutputStreamWithMode(path, append, permission)
    }
  }

  /** The thread stays interrupted, for whoever looks next. */
  private def interrupted(body: => Unit): Unit = {
    Thread.currentThread.interrupt()
    body
    assert(Thread.interrupted())
    ()
  }

  test("a run whose thread is interrupted is recorded, where such a thread writes nothing") {
    withTempDir { dir =>
      val fs = new InterruptibleStore
      val state = new StateDir(fs, new Path(s"s3a://bucket$dir"))
      val record = RunRecord.of(Operation.Optimize, "r1", "ZORDER TABLE t BY (a)")
      val request = CommitRequest(record, Map("abcd1234" -> "{}"))
      interrupted(state.pending.begin(request))
      assert(fs.failures === 1 && state.pending.notice("t").exists(_.contains("The run r1 is at work")))
      interrupted(state.pending.committed(request, Some(7L)))
      assert(fs.failures === 3 && state.runs().map(r => r.runId -> r.version) === Seq("r1" -> Some(7L)))
      assert(state.layout("abcd1234").contains("{}") && state.pending.notice("t").isEmpty)
    }
  }
}
