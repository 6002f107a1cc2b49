package org.apache.spark.sql.zorder.hdfs

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.hadoop.fs.permission.{AclEntry, FsPermission}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.CrashPoints
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.mark.LongTest

/** docs/spec.md, section 5, on HDFS: directories are exchanged in place, and none ends up in another one. */
@LongTest
class ExchangeOnHdfsSuite extends AnyFunSuite with HdfsFixture {

  private val all = 0L until 400L
  private val kinds = Seq("external", "external partitioned", "managed", "managed partitioned")

  /** No directory has its own name inside. */
  private def nested(path: String): Seq[Path] = {
    val files = hdfs.listFiles(new Path(path), true)
    Iterator.continually(files).takeWhile(_.hasNext).map(_.next().getPath.getParent)
      .filter(d => d.getName == d.getParent.getName).toList
  }

  kinds.foreach { kind =>
    test(s"$kind: runs keep the place, and name and path have the same rows") {
      withTable(kind) { path =>
        run("t")
        assert(location == path && named() == all && lying(path) == all)
        numbers(400, 420).write.insertInto("t")
        run("t")
        assert(location == path && named() == (0L until 420L) && lying(path) == (0L until 420L))
        sql("ZORDER VACUUM t RETAIN 0 HOURS").collect()
        sql("ZORDER REMOVE t").collect()
        assert(named() == (0L until 420L) && lying(path) == (0L until 420L))
        assert(beside(path) == Seq("t"))
      }
    }

    CrashPoints.renames.foreach { point =>
      test(s"$kind: the first query after a crash at $point has every row") {
        withTable(kind) { path =>
          System.setProperty(CrashPoint.Property, point)
          try intercept[CrashPoint.Crash](run("t"))
          finally System.clearProperty(CrashPoint.Property)
          assert(named() == all && lying(path) == all)
          run("t")
          assert(named() == all && nested(path).isEmpty)
        }
      }
    }
  }

  test("a rename never goes into a directory that somebody creates in between") {
    val dir = place("r")
    val (from, to) = (new Path(dir, "a/mon=1"), new Path(dir, "b/mon=1"))
    hdfs.mkdirs(from)
    HookedFileSystem.beforeMkdirs = made => if (made == to.getParent) { hdfs.mkdirs(to); () }
    try intercept[FileAlreadyExistsException](FileMoves.rename(fs, from, to))
    finally HookedFileSystem.beforeMkdirs = (_: Path) => ()
    assert(hdfs.exists(from) && hdfs.listStatus(to).isEmpty)
    hdfs.delete(to, true)
    FileMoves.rename(fs, from, to)
    assert(!hdfs.exists(from) && hdfs.exists(to))
  }

  /** A file of ten new rows, as a job's committer would bring it into a partition or a table without them. */
  private def more(partitioned: Boolean): Path = {
    val at = place("more")
    val rows = numbers(400, 420).where("p = 1").coalesce(1)
    (if (partitioned) rows.drop("p") else rows).write.parquet(at.toString)
    hdfs.listStatus(at).map(_.getPath).find(_.getName.endsWith(".parquet")).get
  }

  private val came = (all ++ (401L until 420L by 2L)).sorted

  Seq("external", "external partitioned").foreach { kind =>
    val partitioned = kind.endsWith("partitioned")

    test(s"$kind: who creates the directory while it is away keeps their rows, also between the look and the rename") {
      Seq("moved-old", "checked-old", "rename").foreach { moment =>
        withTable(kind) { path =>
          val file = more(partitioned)
          val target = if (partitioned) new Path(path, "p=1") else new Path(path)
          var done = false
          def bring(): Unit = if (!done && !hdfs.exists(target)) {
            done = true
            hdfs.mkdirs(target)
            assert(hdfs.rename(file, new Path(target, file.getName)))
          }
          var checked = false
          CrashPoint.meanwhile = at => {
            if (at == moment) bring()
            checked = at == "checked-old"
          }
          HookedFileSystem.beforeMkdirs =
            dir => if (moment == "rename" && checked && dir == target.getParent) bring()
          try {
            val status =
              sql("ZORDER TABLE t FULL BY (a, b) WITH (fileCount = 3, force = true)").collect().head
            assert(done, s"$moment $status")
          } finally {
            CrashPoint.meanwhile = (_: String) => ()
            HookedFileSystem.beforeMkdirs = (_: Path) => ()
          }
          assert(named() == came && lying(path) == came && nested(path).isEmpty, moment)
          run("t")
          assert(named() == came)
          sql("ZORDER VACUUM t RETAIN 0 HOURS").collect()
          sql("ZORDER REMOVE t").collect()
          assert(named() == came && beside(path) == Seq("t"))
        }
      }
    }
  }

  test("a committer's directory that HDFS has moved into the new one is lifted out of it") {
    withTable("external partitioned") { path =>
      val file = more(partitioned = true)
      val job = new Path(file.getParent.getParent, "job/p=1")
      hdfs.mkdirs(job)
      hdfs.rename(file, job)
      var done = false
      CrashPoint.meanwhile = at =>
        if (at == "moved-new" && !done && hdfs.exists(new Path(path, "p=1"))) {
          done = hdfs.rename(job, new Path(path, "p=1"))
          assert(nested(path).nonEmpty || !done)
        }
      run("t")
      assert(done && named() == came && nested(path).isEmpty)
    }
  }

  kinds.foreach { kind =>
    test(s"$kind: owner, group, mode and ACL of directories and files are kept") {
      withTable(kind) { path =>
        val dirs = new Path(path) +: hdfs.listStatus(new Path(path)).filter(_.isDirectory).map(_.getPath)
          .filterNot(_.getName.startsWith("_"))
        val acl = AclEntry.parseAclSpec("user::rwx,user:carol:r-x,group::r-x,mask::r-x,other::---", true)
        val files = hdfs.listFiles(new Path(path), true)
        val paths = Iterator.continually(files).takeWhile(_.hasNext).map(_.next().getPath).toList
        (dirs ++ paths).foreach { p =>
          hdfs.setOwner(p, "alice", "staff")
          hdfs.setPermission(p, new FsPermission(if (dirs.contains(p)) "750" else "640"))
        }
        dirs.foreach(hdfs.setAcl(_, acl))
        run("t")
        dirs.foreach { d =>
          val s = hdfs.getFileStatus(d)
          assert((
            s.getOwner,
            s.getGroup,
            s.getPermission.toShort) == (("alice", "staff", Integer.parseInt("750", 8).toShort)))
          assert(hdfs.getAclStatus(d).getEntries.asScala.exists(_.getName == "carol"), d)
        }
        spark.table("t").inputFiles.foreach { f =>
          val s = hdfs.getFileStatus(new Path(f))
          assert((s.getOwner, s.getGroup, s.getPermission.toString) == (("alice", "staff", "rw-r-----")), f)
        }
      }
    }
  }
}
