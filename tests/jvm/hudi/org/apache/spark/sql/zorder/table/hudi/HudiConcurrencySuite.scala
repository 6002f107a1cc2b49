package org.apache.spark.sql.zorder.table.hudi

import java.io.IOException
import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.hudi.client.transaction.lock.InProcessLockProvider
import org.apache.hudi.common.config.LockConfiguration
import org.apache.hudi.exception.{HoodieIOException, HoodieLockException, HoodieWriteConflictException}
import org.apache.hudi.storage.StorageConfiguration
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{CrashPoints, GuardedFileSystem, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Others at work during a run, and runs that die. */
@SameOnAllLines
class HudiConcurrencySuite extends AnyFunSuite with HudiFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"
  private def more(n: Long) = numbers(n).selectExpr("id + 100000 AS id", "a", "b", "s", "d")

  /** Hudi's default rejects updates of planned files by itself. */
  private val allowed = "hoodie.clustering.updates.strategy" ->
    "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy"

  private def filled(path: Path): Unit = hudi(path, 4000)

  test("records are not removed under a run", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      var refusal = ""
      done(keeps(path)(meanwhile("hudi-written") {
        refusal = intercept[ZOrderConflictException](one(s"ZORDER REMOVE '$path'")).condition
      }(zorder(path, run))))
      assert(refusal === "ZORDER_CONFLICT.REMOVE_DURING_RUN")
    }
  }

  for ((place, operation) <- Seq("hudi-written" -> "insert", "hudi-commit" -> "bulk_insert"))
    test(
      s"rows that somebody inserts during a run survive: $place",
      LongTest.unless(operation == "insert"): _*) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        filled(path)
        done(meanwhile(place)(write(more(500), path, operation))(zorder(path, run)))
        assert(read(path).count() === 4500 && read(path).select("id").distinct().count() === 4500)
        assert(files(path) > 4)
        assert(status(zorder(path, "BY (a, b) DRY RUN")) === "DRY_RUN")
      }
    }

  test("Hudi rejects an upsert or a delete of rows that are being rewritten, and the run goes on", LongTest) {
    for (operation <- Seq("upsert", "delete")) withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      var rejected = ""
      done(keeps(path)(meanwhile("hudi-written") {
        val error = intercept[Exception](write(numbers(4000).where("id = 17"), path, operation))
        rejected = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).mkString
      }(zorder(path, run))))
      assert(rejected.contains("Not allowed to update the clustering file group"), rejected)
      write(numbers(4000).where("id = 17"), path, operation)
      assert(read(path).count() === (if (operation == "delete") 3999 else 4000))
    }
  }

  for (place <- Seq("hudi-written", "hudi-commit"))
    test(
      s"an overwrite of what is being rewritten ends the run, nothing of it is left: $place",
      LongTest.unless(place == "hudi-commit"): _*) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        filled(path)
        val e = intercept[ZOrderConflictException] {
          meanwhile(place)(write(more(300), path, "insert_overwrite_table"))(zorder(path, run))
        }
        assert(e.getMessage.contains("This commit changed nothing"), e.getMessage)
        assert(read(path).count() === 300 && pending(path) === 0)
        assert(filesOnDisk(path).size === 6 + files(path))
      }
    }

  /** Several writers by Hudi's own rule, which need a lock. */
  private val shared = Seq(
    "hoodie.write.concurrency.mode" -> "optimistic_concurrency_control",
    "hoodie.write.lock.provider" -> "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.clean.failed.writes.policy" -> "LAZY")

  @nowarn("cat=deprecation")
  private def rollBack(client: HudiClient.Client, instant: String): Unit = {
    client.rollback(instant)
    ()
  }

  test(
    "a write that began before the run and is not finished ends the run; after it, the run succeeds",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, shared.toMap)
      withConf(shared: _*)(HudiClient.during(Shims.classic(spark), path.toString, shared.toMap) { writer =>
        val begun = writer.startCommit()
        val dry = reason(zorder(path, s"$run DRY RUN"))
        assert(dry.contains(s"The write $begun of") && dry.contains("is not finished"), dry)
        val e = intercept[ZOrderConflictException](keeps(path)(zorder(path, run)))
        assert(e.getMessage.contains(s"The write $begun of"), e.getMessage)
        assert(e.condition === "ZORDER_CONFLICT.HUDI_WRITE_UNDER_WAY")
        assert(pending(path) === 0 && filesOnDisk(path).size === 6)
        rollBack(writer, begun)
        done(keeps(path)(zorder(path, run)))
      })
    }
  }

  test("a write whose writer has died ends the run before it writes a file", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, shared.toMap)
      // no heartbeat after the first one
      val slow = shared.toMap + ("hoodie.client.heartbeat.interval_in_ms" -> "600000")
      withConf(shared: _*)(HudiClient.during(Shims.classic(spark), path.toString, slow) { writer =>
        val begun = writer.startCommit()
        val heartbeat = path.resolve(s".hoodie/.heartbeat/$begun")
        def refused(): Unit = {
          var written = false
          val e = intercept[ZOrderConflictException] {
            keeps(path)(meanwhile("hudi-written") { written = true }(zorder(path, run)))
          }
          assert(e.condition === "ZORDER_CONFLICT.HUDI_WRITE_UNDER_WAY" && !written)
          assert(e.getMessage.contains(s"The write $begun of"), e.getMessage)
          assert(pending(path) === 0 && filesOnDisk(path).size === 6)
        }
        Files.setLastModifiedTime(heartbeat, FileTime.fromMillis(System.currentTimeMillis - 3600000))
        refused()
        Files.delete(heartbeat)
        refused()
        rollBack(writer, begun)
      })
    }
  }

  test("a rollback beside a write that is not finished is refused, also if the write began a moment ago") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, shared.toMap)
      withConf(shared: _*) {
        done(zorder(path, run))
        val clustered = filesRead(path)
        HudiClient.during(Shims.classic(spark), path.toString, shared.toMap) { writer =>
          def refused(begun: => String)(rollback: => Any): Unit = {
            val e = intercept[ZOrderException](rollback)
            assert(e.condition === "ZORDER_CANNOT_ROLL_BACK.HUDI_WRITE_UNDER_WAY")
            assert(e.getMessage.contains(s"The commit $begun of"), e.getMessage)
            assert(filesRead(path) === clustered)
            rollBack(writer, begun)
          }
          def undo() = one(s"ZORDER ROLLBACK '$path'")
          val before = writer.startCommit()
          refused(before)(undo())
          var since = ""
          refused(since)(meanwhile("hudi-undoing") { since = writer.startCommit() }(undo()))
          assert(status(keeps(path)(undo())) === "ROLLED_BACK")
        }
        assert(pending(path) === 0)
        write(numbers(4000).where("id = 17"), path, "upsert", shared: _*)
      }
      assert(read(path).count() === 4000 && read(path).select("id").distinct().count() === 4000)
    }
  }

  test("a vacuum leaves a write alone that Hudi counts as alive") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, shared.toMap)
      withConf(shared: _*) {
        done(zorder(path, run))
        HudiClient.during(Shims.classic(spark), path.toString, shared.toMap) { writer =>
          val begun = writer.startCommit()
          // half a minute since its last heartbeat, which is due every minute
          val heartbeat = path.resolve(s".hoodie/.heartbeat/$begun")
          Files.setLastModifiedTime(heartbeat, FileTime.fromMillis(System.currentTimeMillis - 30000))
          assert(status(one(s"ZORDER VACUUM '$path' RETAIN 0 HOURS")) === "DELETED")
          assert(UnfinishedWrites.of(metaClient(path)).contains(begun))
          rollBack(writer, begun)
        }
      }
    }
  }

  test("a commit that took place counts, whatever fails after it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val failing = shared.toMap + ("hoodie.write.lock.provider" -> classOf[UnlockFails].getName)
      hudi(path, 4000, shared.toMap)
      withConf(failing.toSeq: _*) {
        UnlockFails.when = () => timeline(path).contains("replacecommit" -> "COMPLETED")
        try done(keeps(path)(zorder(path, run)))
        finally UnlockFails.when = () => false
        assert(UnlockFails.failed && files(path) === 4)
        assert(spark.sql(s"SELECT * FROM zorder_history('$path')").count() === 1)
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
        assert(status(keeps(path)(one(s"ZORDER ROLLBACK '$path'"))) === "ROLLED_BACK")
      }
    }
  }

  test("a commit that the storage refuses is no conflict, and nothing of it is left") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val failing = shared.toMap + ("hoodie.write.lock.provider" -> classOf[LockFails].getName)
      hudi(path, 4000, shared.toMap)
      withConf(failing.toSeq: _*) {
        val e = intercept[ZOrderException] {
          keeps(path)(meanwhile("hudi-commit")(LockFails.once.set(true))(zorder(path, run)))
        }
        assert(e.condition === "ZORDER_COMMIT_FAILED.HUDI", e.getMessage)
        assert(e.getMessage.contains("(no room)") && !LockFails.once.get)
        assert(pending(path) === 0 && filesOnDisk(path).size === 6)
        done(keeps(path)(zorder(path, run)))
      }
    }
  }

  test("the plan of a dead run is rolled back under the lock that the table's properties name", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, shared.toMap)
      register("h_locked", path, shared :+ ("hoodie.write.lock.provider" -> classOf[UnlockFails].getName): _*)
      val session = Shims.classic(spark)
      def open() =
        TableResolver.open(session, TableRef.Name(Seq("h_locked"))).asInstanceOf[HudiClusterTable]
      val opened = open()
      val slices = HudiSnapshot.of(session, opened.meta).slices
      val dead = new PlannedClustering(session, opened, slices, "r", HudiWriteSettings.of(Map.empty, "r"))
      dead.schedule()
      dead.close()
      assert(pending(path) === 1)
      var releases = 0
      UnlockFails.when = () => { releases += 1; false }
      try open()
      finally UnlockFails.when = () => false
      assert(pending(path) === 0 && releases > 0)
    }
  }

  test("of a write that ends while the table is opened, the files before it are seen", LongTest) {
    for (operation <- Seq("insert", "bulk_insert")) withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      val before = filesRead(path)
      write(more(300), path, operation)
      // the timeline is read before the end of the write, and the files behind it
      val end = newestCommit(path)
      Files.move(end, dir.resolve("end"))
      val meta = metaClient(path)
      assert(meta.getActiveTimeline.filterInflightsAndRequested.countInstants === 1)
      Files.move(dir.resolve("end"), end)
      val seen = HudiSnapshot.of(Shims.classic(spark), meta).slices
      assert(seen.forall(s => s.getBaseFile.isPresent && !s.hasLogFiles))
      assert(seen.map(_.getBaseFile.get.getFileName).toSet === before, operation)
    }
  }

  private def newestCommit(path: Path): Path = {
    val all = Files.list(path.resolve(".hoodie/timeline"))
    try all.iterator.asScala.filter(_.toString.endsWith(".commit")).maxBy(_.getFileName.toString)
    finally all.close()
  }

  test(
    "several writers by Hudi's own rule, with a lock: the plan comes before a later update of its files",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, shared.toMap)
      val changed = numbers(4000).where("id = 17").selectExpr("id", "-1 AS a", "b", "s", "d")
      withConf(shared: _*) {
        done(keeps(path)(meanwhile("hudi-written") {
          intercept[HoodieWriteConflictException](write(changed, path, "upsert", shared :+ allowed: _*))
        }(zorder(path, run))))
        write(changed, path, "upsert", shared: _*)
        val again = "FULL BY (b, a) WITH (fileCount = 4, force = true)"
        done(meanwhile("hudi-commit")(write(more(500), path, "insert", shared: _*))(zorder(path, again)))
      }
      assert(read(path).count() === 4500 && read(path).where("a = -1").count() === 1)
    }
  }

  test("in Hudi's single-writer mode an update that is allowed comes before the run", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      val e = intercept[ZOrderConflictException] {
        meanwhile("hudi-written")(write(numbers(4000).where("id = 17"), path, "upsert", allowed))(
          zorder(path, run))
      }
      assert(e.getMessage.contains("somebody changed the file group"), e.getMessage)
      assert(read(path).count() === 4000 && pending(path) === 0)
    }
  }

  test("a change between the listing and the plan ends the run") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      val session = Shims.classic(spark)
      val opened =
        TableResolver.open(session, TableRef.Location(path.toString)).asInstanceOf[HudiClusterTable]
      val listed = HudiSnapshot.of(session, opened.meta).slices
      write(numbers(4000).where("id = 17"), path, "upsert")
      val clustering =
        new PlannedClustering(session, opened, listed, "r", HudiWriteSettings.of(Map.empty, "r"))
      try {
        val e = intercept[ZOrderConflictException](clustering.schedule())
        assert(e.getMessage.contains("somebody changed the file group"), e.getMessage)
      } finally {
        clustering.undo()
        clustering.close()
      }
      assert(pending(path) === 0 && read(path).count() === 4000)
    }
  }

  test("a run whose plan somebody rolled back ends, and nothing of it is left", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      val e = intercept[ZOrderConflictException] {
        meanwhile("hudi-commit") {
          val instant = metaClient(path).getActiveTimeline.filterPendingClusteringTimeline.firstInstant.get
          HudiClient.during(Shims.classic(spark), path.toString)(DeadRuns.undo(_, instant.requestedTime))
          // a task that ends after that
          Files.copy(
            path.resolve(filesOnDisk(path).head),
            path.resolve(s"late_0-0-0_${instant.requestedTime}.parquet"))
        }(zorder(path, run))
      }
      assert(e.getMessage.contains("rolled the plan"), e.getMessage)
      assert(read(path).count() === 4000 && filesOnDisk(path).size === 6)
      assert(!reason(zorder(path, s"$run DRY RUN")).contains("is at work on"))
    }
  }

  test("two runs at once: one wins, the other says so", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      var other = ""
      done(keeps(path)(meanwhile("hudi-written") {
        // by the clock of another machine, the first one's heart stopped a minute ago
        Files.list(path.resolve(".hoodie/.heartbeat")).iterator.asScala.foreach(
          _.toFile.setLastModified(System.currentTimeMillis - 60000))
        other = intercept[ZOrderConflictException](zorder(path, run)).getMessage
      }(zorder(path, run))))
      assert(other.contains("in a clustering"), other)
      assert(files(path) === 4 && pending(path) === 0)
    }
  }

  for (place <- CrashPoints.hudi)
    test(
      s"a run that fails at $place leaves the rows as they were, and the next one succeeds",
      LongTest.unless(place == "hudi-commit"): _*) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        filled(path)
        val before = rows(path)
        System.setProperty(CrashPoint.Property, place)
        try intercept[CrashPoint.Crash](zorder(path, run))
        finally System.clearProperty(CrashPoint.Property)
        val committed = place == "hudi-committed"
        assert(rows(path) === before && pending(path) === 0, place)
        assert(files(path) === (if (committed) 4 else 6), place)
        assert(filesOnDisk(path).size === (if (committed) 10 else 6), place)
        done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, force = true)")))
      }
    }

  test("a run that was killed is undone by the next one, once its heart has stopped for a while", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path)
      val before = rows(path)
      Killed.at("hudi-commit", path)
      assert(rows(path) === before && pending(path) === 1 && filesOnDisk(path).size === 10)
      GuardedFileSystem.untouched(dir) {
        assert(spark.sql(s"SELECT * FROM zorder_history('$path')").count() === 0)
        val dry = zorder(path, s"$run DRY RUN")
        assert(status(dry) === "DRY_RUN" && reason(dry).contains("or died"), reason(dry))
      }
      // rows that touch none of these files may come, and a reader sees them
      write(more(100), path, "insert")
      done(zorder(path, run))
      assert(read(path).count() === 4100 && pending(path) === 0 && files(path) === 4)
      // those before the run, the insert's one, and the new ones
      assert(filesOnDisk(path).size === 6 + 1 + 4)
    }
  }
}

/** A lock that is released all the same when its release fails, once. */
final class UnlockFails(conf: LockConfiguration, storage: StorageConfiguration[_])
    extends InProcessLockProvider(conf, storage) {
  override def unlock(): Unit = {
    super.unlock()
    if (UnlockFails.when()) {
      UnlockFails.when = () => false
      UnlockFails.failed = true
      throw new HoodieLockException("the session has expired")
    }
  }
}

object UnlockFails {
  @volatile var when: () => Boolean = () => false
  @volatile var failed: Boolean = false
}

/** A lock whose storage fails, once. */
final class LockFails(conf: LockConfiguration, storage: StorageConfiguration[_])
    extends InProcessLockProvider(conf, storage) {
  override def tryLock(time: Long, unit: TimeUnit): Boolean = {
    if (LockFails.once.getAndSet(false))
      throw new HoodieIOException("The lock cannot be read", new IOException("no room"))
    super.tryLock(time, unit)
  }
}

object LockFails {
  val once = new AtomicBoolean
}
