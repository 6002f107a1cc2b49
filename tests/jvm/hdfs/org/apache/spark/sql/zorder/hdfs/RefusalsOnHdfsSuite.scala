package org.apache.spark.sql.zorder.hdfs

import java.security.PrivilegedExceptionAction
import java.util.EnumSet

import org.apache.hadoop.crypto.key.KeyProvider
import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.hdfs.client.{CreateEncryptionZoneFlag, HdfsAdmin}
import org.apache.hadoop.security.UserGroupInformation
import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.mark.LongTest

/** What HDFS does not let a run exchange is refused before the run begins. */
@LongTest
class RefusalsOnHdfsSuite extends AnyFunSuite with HdfsFixture {

  private def admin = new HdfsAdmin(HdfsFixture.cluster.getURI, HdfsFixture.cluster.getConfiguration(0))

  /** Its sentence, when nothing has changed beside the table or in it. */
  private def refusal(table: String, at: Path): String = {
    val before = (beside(at.toString), hdfs.listStatus(at).map(_.getPath.getName).toSeq)
    val said = refused(run(table))
    assert((beside(at.toString), hdfs.listStatus(at).map(_.getPath.getName).toSeq) == before)
    said
  }

  /** An external table at `at`, by its name. */
  private def register(at: Path, partitioned: Boolean = false): Unit = {
    sql("CREATE TABLE t (id BIGINT, a INT, b BIGINT, p BIGINT) USING parquet " +
      (if (partitioned) "PARTITIONED BY (p) " else "") + s"LOCATION '$at'")
    numbers(0, 400).write.insertInto("t")
  }

  private def dropped[A](body: => A): A =
    try body
    finally { sql("DROP TABLE IF EXISTS t"); () }

  test("the root of an encryption zone; a directory below it works") {
    val provider = HdfsFixture.cluster.getNameNode.getNamesystem.getProvider
    provider.createKey(
      "key",
      new KeyProvider.Options(HdfsFixture.cluster.getConfiguration(0)).setBitLength(128))
    provider.flush()
    val zone = place("zone")
    hdfs.mkdirs(zone)
    admin.createEncryptionZone(zone, "key", EnumSet.noneOf(classOf[CreateEncryptionZoneFlag]))
    dropped {
      register(zone)
      assert(refusal("t", zone).contains("is in an encryption zone that ends there"))
      assert(refusal(s"'$zone'", zone).contains("is in an encryption zone that ends there"))
    }
    Seq(false, true).foreach { partitioned =>
      dropped {
        register(new Path(zone, s"below_$partitioned"), partitioned)
        run("t")
        assert(named() == (0L until 400L))
      }
    }
  }

  test("a snapshottable directory; one with snapshots above works") {
    val at = place("t")
    dropped {
      register(at)
      hdfs.allowSnapshot(at)
      assert(refusal("t", at).contains("is a snapshottable directory"))
      assert(refusal(s"'$at'", at).contains("is a snapshottable directory"))
      hdfs.disallowSnapshot(at)
      hdfs.allowSnapshot(at.getParent)
      hdfs.createSnapshot(at.getParent)
      run("t")
      assert(named() == (0L until 400L) && lying(at.toString) == named())
    }
    dropped {
      val parted = place("t")
      register(parted, partitioned = true)
      hdfs.allowSnapshot(parted)
      // only its partitions are renamed
      run("t")
      assert(named() == (0L until 400L))
      hdfs.disallowSnapshot(parted)
      hdfs.allowSnapshot(new Path(parted, "p=1"))
      assert(refusal("t", parted).contains("is a snapshottable directory"))
    }
  }

  test("a directory beside which this user may not write") {
    val at = place("t")
    Seq(false, true).foreach { partitioned =>
      dropped {
        hdfs.delete(at, true)
        register(at, partitioned)
        val tree = hdfs.listFiles(at, true)
        Iterator.continually(tree).takeWhile(_.hasNext).map(_.next().getPath).toList
          .flatMap(f => Seq(f, f.getParent)).distinct.foreach(hdfs.setOwner(_, "bob", "staff"))
        hdfs.setOwner(at, "bob", "staff")
        hdfs.setPermission(at.getParent, new FsPermission("755"))
        asBob {
          assert(refusal("t", at).contains("is not writable for this user"))
          assert(refusal(s"'$at'", at).contains("is not writable for this user"))
        }
        assert(named() == (0L until 400L))
      }
    }
  }

  private def asBob(body: => Any): Unit =
    UserGroupInformation.createUserForTesting(
      "bob",
      Array("staff")).doAs(new PrivilegedExceptionAction[Unit] {
      override def run(): Unit = { body; () }
    })

  test("a mount of viewfs; tables below one work") {
    val below = place("t")
    Seq(false, true).foreach { partitioned =>
      dropped {
        val seen = new Path(s"viewfs://zorder${below.toUri.getPath}_$partitioned")
        register(seen, partitioned)
        run("t")
        assert(named() == (0L until 400L) && lying(seen.toString) == named())
        run("t")
        assert(named() == (0L until 400L))
      }
    }
    dropped {
      numbers(0, 400).write.parquet(s"${HdfsFixture.cluster.getURI}/data/mounted")
      sql("CREATE TABLE t (id BIGINT, a INT, b BIGINT, p BIGINT) USING parquet LOCATION 'viewfs://zorder/mounted'")
      val mounted = new Path(s"${HdfsFixture.cluster.getURI}/data/mounted")
      assert(refusal("t", mounted).contains("is a mount of viewfs"))
    }
  }
}
