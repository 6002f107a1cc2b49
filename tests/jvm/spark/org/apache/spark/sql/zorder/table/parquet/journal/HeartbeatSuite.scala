package org.apache.spark.sql.zorder.table.parquet.journal

import java.io.IOException
import java.net.URI
import java.util.concurrent.{Executors, TimeUnit}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.{Faults, FaultyFileSystem, Operation}
import org.apache.spark.sql.zorder.table.storage.{LocalProcesses, TextFiles}
import sparkzorder.mark.SameOnAllLines

/** Whether the owner of an exchange is alive, if it is on another machine, whose clock may be wrong. */
@SameOnAllLines
class HeartbeatSuite extends AnyFunSuite with ZOrderSession {
  private val leaseMs = 1500L

  /** An exchange by a JVM whose clock is that much ahead of ours. */
  private def exchange(store: JournalStore, skewMs: Long): Journal = store.write(
    Journal.draft("t1", JournalKind.Path, Operation.Optimize, "t", "r1", store.parent, store.parent).copy(
      owner = "another",
      process = "",
      state = JournalState.Swapping,
      changedMs = System.currentTimeMillis + skewMs))

  private def beating[A](store: JournalStore, journal: Journal, skewMs: Long)(body: => A): A = {
    val heart = Executors.newSingleThreadScheduledExecutor()
    def beat(): Unit =
      TextFiles.replace(store.fs, store.beat(journal.txn), (System.currentTimeMillis + skewMs).toString)
    heart.scheduleWithFixedDelay(() => beat(), 0, 100, TimeUnit.MILLISECONDS)
    try body
    finally {
      heart.shutdownNow()
      heart.awaitTermination(10, TimeUnit.SECONDS)
      ()
    }
  }

  private def in[A](body: JournalStore => A): A = on(FileSystem.getLocal(new Configuration))(body)

  private def on[A](fs: FileSystem)(body: JournalStore => A): A =
    withTempDir(dir => body(JournalStore(fs, new Path(dir.toUri), "t")))

  /** The same exchange under a journal that the store takes for its own. */
  private def owned(store: JournalStore): Journal = store.write(
    exchange(store, 0).copy(home = new Path(store.parent, "t"), staging = store.staging("t1")))

  for (skewMs <- Seq(-60000L, -5000L, 0L, 5000L, 60000L))
    test(
      s"an owner whose clock is $skewMs ms ahead is alive as long as it gives signs, and dead afterwards") {
      in { store =>
        val journal = exchange(store, skewMs)
        beating(store, journal, skewMs)(assert(Heartbeat.isAlive(store, journal, leaseMs)))
        Thread.sleep(leaseMs)
        assert(!Heartbeat.isAlive(store, journal, leaseMs))
      }
    }

  for (skewMs <- Seq(-60000L, 60000L))
    test(s"a commit to the catalog is prepared, and alive as long as it gives signs: $skewMs ms ahead") {
      in { store =>
        val journal =
          exchange(store, skewMs).copy(kind = JournalKind.Catalog, state = JournalState.Prepared)
        beating(store, journal, skewMs) {
          while (!store.fs.exists(store.beat(journal.txn))) Thread.sleep(10)
          assert(Heartbeat.isAlive(store, journal, leaseMs))
        }
        Thread.sleep(leaseMs)
        assert(!Heartbeat.isAlive(store, journal, leaseMs))
      }
    }

  test(
    "a process of another machine is not known to be dead, though its host and namespace have the same names") {
    val dead = LocalProcesses.own.replaceFirst("^[0-9]+", Int.MaxValue.toString)
    assert(LocalProcesses.isDead(dead) && !LocalProcesses.isDead(LocalProcesses.own))
    assert(!LocalProcesses.isDead(dead.replaceFirst("[^@]*$", "another")))
    // as earlier versions wrote it
    assert(!LocalProcesses.isDead(dead.take(dead.lastIndexOf('@'))))
  }

  test("nobody waits for an owner that was silent for long, nor for one that exchanges nothing") {
    in { store =>
      val journal = exchange(store, 0)
      val begun = System.nanoTime
      for (dead <- Seq(
          journal.copy(changedMs = journal.changedMs - 600000),
          journal.copy(changedMs = journal.changedMs - 60000, state = JournalState.Prepared)))
        assert(!Heartbeat.isAlive(store, dead, 60000))
      assert(System.nanoTime - begun < TimeUnit.SECONDS.toNanos(30))
    }
  }

  test("who could not go on with a dead exchange, nor take its claim away, is not at work on it any more") {
    val faulty = new FaultyFileSystem
    faulty.initialize(URI.create("file:///"), new Configuration)
    on(faulty) { store =>
      val dead = owned(store)
      // the first delete is that of the journal's hidden file, the second one that of the claim
      val struck = Faults.during(Faults.Delete(2)) {
        val e = intercept[IOException] {
          Heartbeat.inherit(store, dead)(_ => throw new IOException("Injected: no rename"))
        }
        assert(e.getMessage.contains("no delete"))
      }
      assert(struck && !Journal.isActive(dead.txn))
    }
  }

  test("a claim that looks old, since another clock is behind, stays until it was seen for long") {
    in { store =>
      val dead = owned(store)
      val claim = store.heir(dead.txn, dead.owner)
      def goesOn(): Boolean = {
        var done = false
        Heartbeat.inherit(store, dead, leaseMs) { _ => done = true }
        done
      }
      assert(TextFiles.claim(store.fs, claim, "another"))
      store.fs.setTimes(claim, System.currentTimeMillis - 60000, -1)
      assert(!goesOn() && store.fs.exists(claim))
      Thread.sleep(leaseMs + 100)
      assert(!goesOn() && !store.fs.exists(claim))
      assert(goesOn())
    }
  }
}
