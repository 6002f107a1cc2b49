package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.File
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogStatistics
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.{CreateTableCommand, CreateTableLikeCommand, LoadDataCommand}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.table.{CrashPoints, Staged, TableRef}
import org.apache.spark.sql.zorder.table.parquet.{ExchangeGuard, LateChoice}
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.parquet.journal.{JournalState, JournalStore}
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, TextFiles}
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 5: where directories can be renamed, the name of a table and its path agree. */
@SameOnAllLines
class ExchangeSuite extends AnyFunSuite with ExchangeFixture with Steps {

  private def filesOf(path: String): Set[String] =
    DirectoryListing.walk(fs, new Path(path)).data.map(f => new Path(f.rel).getName).toSet

  private val kinds = Seq("external", "external partitioned", "managed", "managed partitioned")

  kinds.foreach { kind =>
    val parted = kind.endsWith("partitioned")

    test(s"$kind: by name and by path the same rows, whoever appends or overwrites where") {
      val path = make(kind)
      step("after a run, which leaves the location and no mark") {
        rewriteAll(openName("t"))
        assert(tableIds("t") == forty && ids(path) == forty && location.getPath == path)
        assert(!meta.properties.contains(ExchangeMark.Property))
      }
      def write(from: Int, until: Int, mode: String): Unit = {
        val w = rows(from, until).write.mode(mode)
        (if (parted) w.partitionBy("p") else w).parquet(path)
      }
      step("appended by path") {
        write(40, 45, "append")
        assert(refreshed() == (0L until 45L) && ids(path) == (0L until 45L))
        rewriteAll(openName("t"), "r2")
        assert(tableIds("t") == (0L until 45L))
      }
      step("overwritten by path") {
        write(0, 30, "overwrite")
        assert(refreshed() == (0L until 30L))
        vacuum()
        assert(tableIds("t") == (0L until 30L) && ids(path) == (0L until 30L))
        rewriteAll(openName("t"), "r3")
      }
      if (parted) step("a partition overwritten by path") {
        rows(100, 110).where("p = 1").drop("p").write.mode("overwrite").parquet(s"$path/p=1")
        val wanted = ((0L until 30L by 2L) ++ (101L until 110L by 2L)).sorted
        assert(refreshed() == wanted)
        vacuum()
        rewriteAll(openName("t"), "r4")
        assert(tableIds("t") == wanted && ids(path) == wanted)
      }
      step("after a removal, which leaves no trace") {
        vacuum()
        val rowsNow = tableIds("t")
        Maintenance.remove(classic, TableRef.Name(Seq("t")))
        assert(tableIds("t") == rowsNow && ids(path) == rowsNow && traces(path).isEmpty)
        assert(!meta.properties.keys.exists(_.startsWith("zorder.")))
      }
    }

    CrashPoints.markedPathCommit.foreach { point =>
      test(
        s"$kind: the first query after a crash at $point has every row",
        LongTest.unless(point == "moved-old"): _*) {
        val path = make(kind)
        val table = openName("t")
        val r = stage(table, table.files(), "r1")
        assert(crashAt(point)(r.commit()), "the point was not reached")
        assert(meta.properties.contains(ExchangeMark.Property))
        // as in a session that has not read the table yet, and in one that has
        if (point != "marked") assert(tableIds("t") == forty)
        assert(refreshed() == forty && ids(path) == forty)
        openName("t")
        vacuum()
        assert(refreshed() == forty && ids(path) == forty)
        assert(!meta.properties.contains(ExchangeMark.Property))
        rewriteAll(openName("t"), "again")
        assert(tableIds("t") == forty)
      }
    }

    test(s"$kind: what is written or deleted by name after a crash stays so") {
      def crashed(run: String): Unit = {
        val table = openName("t")
        val r = stage(table, table.files(), run)
        assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      }
      val path = make(kind)
      crashed("r1")
      rows(100, 110).createOrReplaceTempView("fresh")
      spark.sql("INSERT OVERWRITE TABLE t SELECT * FROM fresh")
      vacuum()
      assert(refreshed() == (100L until 110L) && ids(path) == (100L until 110L))
      if (parted) {
        crashed("r2")
        spark.sql("ALTER TABLE t DROP PARTITION (p = 1)")
        vacuum()
        assert(refreshed() == (100L until 110L by 2))
      }
      if (kind.startsWith("managed")) {
        crashed("r3")
        spark.sql("TRUNCATE TABLE t")
        vacuum()
        assert(refreshed().isEmpty)
      }
    }

    test(s"$kind: one pass of the guard finds all files after a crash") {
      val path = make(kind)
      rewriteAll(openName("t"))
      val table = openName("t")
      val r = stage(table, table.files(), "r2")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      val session = spark.newSession()
      // the time that it takes to finish a dead run is no time of waiting
      session.conf.set("spark.zorder.commit.waitSeconds", "0")
      val plan = ExchangeGuard(session)(session.table("t").queryExecution.analyzed)
      val found = plan.collect { case l: LogicalRelation => l.relation }
        .collect { case relation: HadoopFsRelation => relation.location.inputFiles.toSeq }
      assert(found.flatten.map(new Path(_).getName).toSet == filesOf(path))
    }

    test(s"$kind: the first commit changes what the catalog said when its run began") {
      make(kind)
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      def mark = meta.properties.get(CatalogCommit.TxnProperty)
      val announced = mark
      r.commit()
      assert(announced.isDefined && mark.isDefined && mark != announced)
    }

    test(
      s"$kind: a listing made while a directory was away is made again by a query that looks right at the end") {
      make(kind)
      rewriteAll(openName("t"))
      val table = openName("t")
      val r = stage(table, table.files(), "r2")
      val other = spark.newSession()
      other.conf.set("spark.zorder.commit.waitSeconds", "30")
      lazy val query = other.table("t")
      var seen: Option[Future[Seq[Long]]] = None
      CrashPoint.meanwhile = {
        case "prepared" => query.queryExecution.analyzed
        case "moved-old" if seen.isEmpty =>
          query.queryExecution.analyzed.collect { case l: LogicalRelation => l.relation }
            .collect { case relation: HadoopFsRelation => relation.location.refresh() }
          seen = Some(Future(query.select("id").collect().map(_.getLong(0)).toSeq.sorted))
          Thread.sleep(700)
        case "done" => Thread.sleep(700) // the journal says that all is done, and the catalog does not yet
        case _ =>
      }
      r.commit()
      assert(Await.result(seen.get, 60.seconds) == forty)
    }

    test(s"$kind: a query waits for another session that has begun to finish a dead run") {
      make(kind)
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      val root = new Path(location.getPath)
      val store = JournalStore.beside(fs, root)
      val dead = store.all().find(_.state == JournalState.Swapping).get
      store.write(dead.copy(owner = "another", process = "", changedMs = System.currentTimeMillis - 600000))
      val claim = store.heir(dead.txn, "another")
      assert(TextFiles.claim(fs, claim, ""))
      assert(refused(refreshed()).contains("is exchanging the directories"))
      fs.setTimes(claim, System.currentTimeMillis - 600000, -1)
      assert(refreshed() == forty && !fs.exists(claim))
    }

    test(s"$kind: of sessions that meet a dead run at the same time, one finishes it") {
      val path = make(kind)
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      assert(crashAt("swapping")(r.commit()), "the point was not reached")
      val store = JournalStore.beside(fs, new Path(location.getPath))
      val dead = store.all().find(_.state == JournalState.Swapping).get
      store.write(dead.copy(owner = "another", process = "", changedMs = System.currentTimeMillis - 600000))
      val renamed = new AtomicInteger
      CrashPoint.meanwhile = {
        case "moved-new" => renamed.incrementAndGet(); Thread.sleep(50)
        case _ =>
      }
      atOnce(8)(PathRecovery.takeOver(store, ExchangeMark.of(classic, Some(meta)), dead.txn))
      assert(renamed.get == dead.units.length && ids(path) == forty && refreshed() == forty)
    }

    test(s"$kind: a run that slept while another session took its exchange over leaves it to that one") {
      val path = make(kind)
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      val store = table.store
      val renamed = new AtomicInteger
      val before = new AtomicInteger(-1)
      var other: Option[Future[Unit]] = None
      def takenOver(changedMs: Long) = {
        val now = store.get(r.journal.txn).get
        store.write(now.copy(owner = "another", process = "", changedMs = changedMs))
      }
      CrashPoint.meanwhile = {
        case "swapping" =>
          takenOver(System.currentTimeMillis)
          other = Some(Future {
            Thread.sleep(500)
            before.set(renamed.get)
            takenOver(System.currentTimeMillis - 600000)
            PathRecovery.takeOver(store, ExchangeMark.of(classic, Some(meta)), r.journal.txn)
          })
        case "moved-old" => renamed.incrementAndGet(); ()
        case _ =>
      }
      r.commit()
      Await.result(other.get, 60.seconds)
      CrashPoint.meanwhile = _ => ()
      assert(before.get == 0 && ids(path) == forty && refreshed() == forty)
      assert(openName("t").state.latest().map(_.number).contains(1))
      assert(store.all().map(_.state) == Seq(JournalState.Done))
    }

    test(s"$kind: a query waits while a directory is away, and says so when that takes too long") {
      make(kind)
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      var seen: Option[Future[Seq[Long]]] = None
      var said = ""
      CrashPoint.meanwhile = {
        case "moved-old" if seen.isEmpty =>
          said = refused(tableIds("t"))
          spark.conf.set("spark.zorder.commit.waitSeconds", "30")
          seen = Some(Future(tableIds("t")))
          Thread.sleep(500)
          assert(!seen.get.isCompleted)
        case _ =>
      }
      try {
        r.commit()
        assert(Await.result(seen.get, 60.seconds) == forty)
      } finally spark.conf.set("spark.zorder.commit.waitSeconds", "0.3")
      assert(said.contains("is exchanging the directories") && said.contains("run the query again"), said)
    }
  }

  test("a session that reads all the time never misses a row, nor reads one twice", LongTest) {
    kinds.foreach { kind =>
      make(kind)
      val done = new AtomicBoolean(false)
      val reader = Future {
        val other = spark.newSession()
        // a new session has the settings of the application, and not those of another session
        other.conf.set("spark.zorder.commit.waitSeconds", "30")
        var counts = Map.empty[String, Int]
        while (!done.get) {
          val got =
            try other.sql("SELECT count(*), count(DISTINCT id) FROM t").collect().mkString
            catch {
              case e: Exception =>
                // Spark 3.5 and 4 say it in words of their own, or have it as a cause
                val said =
                  Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).map(_.toString).toSeq
                val isGone = Seq("FileNotFound", "NoSuchFile", "FILE_NOT_EXIST").exists(word =>
                  said.exists(_.contains(word)))
                if (isGone) "gone" else said.mkString(" <- ")
            }
          counts = counts.updated(got, counts.getOrElse(got, 0) + 1)
        }
        counts
      }
      val runs = 1 to 15
      try runs.foreach(i => rewriteAll(openName("t"), s"r$i"))
      finally done.set(true)
      val counts = Await.result(reader, 60.seconds)
      assert((counts.keySet - "gone") == Set("[40,40]"), s"$kind: $counts")
      spark.sql("DROP TABLE t")
      delete(temp.resolve("warehouse").toFile)
    }
  }

  test(
    "while the directories of one run are exchanged, another run waits, and repairs of the table are refused") {
    make("external partitioned")
    val (a, b) = (openName("t"), openName("t"))
    val first = stage(a, a.files().filter(_.partition == "p=0"), "r1")
    val second = stage(b, b.files().filter(_.partition == "p=1"), "r2")
    val said = Seq.newBuilder[String]
    var waiting: Option[Future[Unit]] = None
    CrashPoint.meanwhile = {
      case "moved-old" if waiting.isEmpty =>
        def marked = ExchangeMark.of(classic, Some(meta)).marked
        val first = marked
        waiting = Some(Future(second.commit()))
        Thread.sleep(500)
        assert(marked == first && first.isDefined && !waiting.get.isCompleted)
        for (repair <- Seq("SYNC PARTITIONS", "DROP PARTITIONS"))
          said += refused(spark.sql(s"MSCK REPAIR TABLE t $repair"))
        said += refused(spark.sql("ALTER TABLE t DROP PARTITION (p = 1)"))
      case _ =>
    }
    first.commit()
    Await.result(waiting.get, 60.seconds)
    assert(said.result().length == 3 && said.result().forall(_.contains("is not done after")))
    assert(refreshed() == forty)
    rewriteAll(openName("t"), "r3")
    assert(refreshed() == forty)
  }

  test("a statement that is cancelled in the middle of its exchange ends it") {
    make("external partitioned")
    val table = openName("t")
    val r = stage(table, table.files(), "r1")
    CrashPoint.meanwhile = at =>
      if (at == "moved-old") {
        CrashPoint.meanwhile = _ => ()
        // as Hadoop's clients do, which set the flag and throw
        Thread.currentThread.interrupt()
        throw new InterruptedException("cancelled")
      }
    r.commit()
    assert(Thread.interrupted() && refreshed() == forty)
    assert(table.store.all().map(_.state) == Seq(JournalState.Done))
  }

  test("a statement whose thread is interrupted during its exchange keeps its record") {
    make("external partitioned")
    val table = openName("t")
    val r = stage(table, table.files(), "r1")
    // after the last partition, too: whoever looks for an interruption in between takes it away
    CrashPoint.meanwhile = at => if (at == "moved-new") Thread.currentThread.interrupt()
    r.commit()
    CrashPoint.meanwhile = _ => ()
    // whoever looks for it has seen it by now, or has not
    val _ = Thread.interrupted()
    assert(refreshed() == forty)
    assert(openName("t").state.runs().map(r => r.runId -> r.number) == Seq("r1" -> 1))
  }

  test("an exchange begins when the mark of the one before is gone, and not when its journal is done") {
    make("external partitioned")
    val runs = Seq(0, 1).map { p =>
      val table = openName("t")
      stage(table, table.files().filter(_.partition == s"p=$p"), s"r$p")
    }
    def marked = ExchangeMark.of(classic, Some(meta)).marked
    val store = openName("t").store
    var second: Option[Future[Unit]] = None
    var kept: Option[Boolean] = None
    CrashPoint.meanwhile = {
      case "moved-old" if second.isEmpty =>
        second = Some(Future(runs(1).commit()))
        while (!store.get(runs(1).journal.txn).exists(_.state == JournalState.Prepared)) Thread.sleep(20)
      case "done" if kept.isEmpty =>
        Thread.sleep(1000)
        kept = Some(marked.contains(runs.head.journal.txn))
      case _ =>
    }
    runs.head.commit()
    Await.result(second.get, 60.seconds)
    CrashPoint.meanwhile = _ => ()
    assert(kept.contains(true) && refreshed() == forty && marked.isEmpty)
    assert(meta.properties.get(CatalogCommit.TxnProperty).contains(runs(1).journal.txn))
  }

  // what the first one has come to when the mark of the second one is written over its own
  for ((place, seen) <- Seq("moved-old" -> JournalState.Swapping, "marked" -> JournalState.Prepared))
    test(s"of two exchanges that begin in the same moment, one waits; the first one is at $place") {
      make("external partitioned")
      val runs = Seq(0, 1).map { p =>
        val table = openName("t")
        stage(table, table.files().filter(_.partition == s"p=$p"), s"r$p")
      }
      val (first, second) = (runs.head, runs(1))
      def marked = ExchangeMark.of(classic, Some(meta)).marked
      def state(run: Staged) = first.table.store.get(run.journal.txn).map(_.state)
      val begun = new AtomicReference[Future[Unit]]
      val (held, away, go) = (new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1))
      CrashPoint.meanwhile = {
        // the second one, which has seen no mark
        case "before-mark" if begun.compareAndSet(null, Future.unit) =>
          begun.set(Future(first.commit()))
          held.await()
        case `place` if held.getCount > 0 =>
          held.countDown()
          if (place == "marked") away.await() else go.await()
        case "moved-old" if away.getCount > 0 =>
          away.countDown()
          go.await()
        case _ =>
      }
      val later = Future(second.commit())
      held.await()
      try {
        if (place == "marked") away.await()
        Thread.sleep(1000)
        val both = runs.flatMap(state)
        assert(both.count(_ == JournalState.Swapping) == 1 && state(first).contains(seen), both)
        assert(marked.contains(second.journal.txn))
      } finally {
        away.countDown()
        go.countDown()
      }
      Await.result(Future.sequence(Seq(begun.get, later)), 60.seconds)
      CrashPoint.meanwhile = _ => ()
      assert(refreshed() == forty && marked.isEmpty)
    }

  test("an exchange whose journal cannot be read may be under way") {
    make("external partitioned")
    val mark = ExchangeMark.of(classic, Some(meta))
    val store = openName("t").store
    TextFiles.replace(fs, new Path(store.parent, s".${store.base}.zorder-hidden.json"), "of a later version")
    mark.begin("hidden")
    assert(refused(refreshed()).contains("is not done after"))
    fs.delete(new Path(store.parent, s".${store.base}.zorder-hidden.json"), false)
    assert(refreshed() == forty)
  }

  test("a run is refused, and leaves the mark, where the journal of another exchange cannot be read") {
    make("external partitioned")
    val runs = Seq(0, 1).map { p =>
      val table = openName("t")
      stage(table, table.files().filter(_.partition == s"p=$p"), s"r$p")
    }
    val (dead, other) = (runs.head, runs(1))
    assert(crashAt("moved-old")(dead.commit()), "the point was not reached")
    val txn = dead.journal.txn
    val file = dead.table.store.file(txn)
    val text = TextFiles.read(fs, file).get
    TextFiles.replace(fs, file, "not for this user")
    assert(refused(other.commit()).contains("cannot be read"))
    assert(refused(openName("t")).contains("cannot be read"))
    assert(meta.properties.get(ExchangeMark.Property).contains(txn))
    TextFiles.replace(fs, file, text)
    assert(refreshed() == forty)
  }

  test("a run stops where the table was renamed, or got another place, while it was at work") {
    val path = make("external")
    val renamed = openName("t")
    val r = stage(renamed, renamed.files(), "r1")
    spark.sql("ALTER TABLE t RENAME TO u")
    intercept[ZOrderConflictException](r.commit())
    spark.sql("ALTER TABLE u RENAME TO t")
    assert(refreshed() == forty && ids(path) == forty)
    val moved = openName("t")
    val s = stage(moved, moved.files(), "r2")
    val other = plain("other", 5, 1)
    spark.sql(s"ALTER TABLE t SET LOCATION '$other'")
    intercept[ZOrderConflictException](s.commit())
    assert(refreshed() == (0L until 5L) && ids(path) == forty)
  }

  Seq("managed", "external").foreach { kind =>
    test(
      s"$kind: a table that gets another place after a run died in an exchange has the rows of that place") {
      make(kind)
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      val other = plain("another", 5, 1)
      spark.sql(s"ALTER TABLE t SET LOCATION '$other'")
      assert(refreshed() == (0L until 5L) && ids(other) == (0L until 5L))
    }
  }

  test("a table that is made again where a run died in an exchange has its new rows alone") {
    Seq("saveAsTable", "CREATE TABLE").foreach { how =>
      val path = make("external")
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      val fresh = rows(100, 110)
      if (how == "saveAsTable")
        fresh.write.format("parquet").mode("overwrite").option("path", path).saveAsTable("t")
      else {
        spark.sql("DROP TABLE t")
        spark.sql(s"CREATE TABLE t (id LONG, v LONG, p LONG) USING parquet LOCATION '$path'")
        fresh.createOrReplaceTempView("fresh")
        spark.sql("INSERT OVERWRITE TABLE t SELECT * FROM fresh")
      }
      vacuum()
      assert(refreshed() == (100L until 110L), how)
      spark.sql("DROP TABLE t")
      delete(new File(path))
    }
  }

  test("commands of Hive's kind of tables finish what a run that died has left before they change anything") {
    val name = TableIdentifier("t", Some("default"))
    Seq("LOAD DATA", "STORED AS PARQUET", "LIKE").foreach { how =>
      val path = make("external")
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      val serde = Some("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe")
      val made = meta.copy(provider = Some("hive"), storage = meta.storage.copy(serde = serde))
      val command: LogicalPlan = how match {
        case "LOAD DATA" =>
          LoadDataCommand(name, "/none", isLocal = true, isOverwrite = true, partition = None)
        case "STORED AS PARQUET" => CreateTableCommand(made, ignoreIfExists = false)
        case _ => CreateTableLikeCommand(name, name, made.storage, None, Map.empty, ifNotExists = false)
      }
      if (how != "LOAD DATA") spark.sql("DROP TABLE t")
      ExchangeGuard(spark)(command)
      val states = JournalStore.beside(fs, new Path(path)).all().map(_.state)
      assert(states == Seq(JournalState.Done) && ids(path) == forty, how)
      spark.sql("DROP TABLE IF EXISTS t")
    }
  }

  test("a managed table that is made again after a run by its path has died there has its new rows alone") {
    // the table of a path is looked for in the current database alone
    spark.sql("CREATE DATABASE other")
    try {
      rows(0, 40, 2).write.format("parquet").saveAsTable("other.t")
      val made = spark.sessionState.catalog.getTableMetadata(TableIdentifier("t", Some("other")))
      val table = open(made.location.getPath)
      val r = stage(table, table.files(), "r1")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      spark.sql("DROP TABLE other.t")
      spark.sql("CREATE TABLE other.t (id LONG, v LONG, p LONG) USING parquet")
      rows(100, 110).write.insertInto("other.t")
      val ref = TableRef.Name(Seq("other", "t"))
      assert(refused(rolledBack(ref)).contains("There is no run of"))
      assert(vacuumed(ref).map(status) == Seq("DELETED"))
      spark.sql("REFRESH TABLE other.t")
      assert(tableIds("other.t") == (100L until 110L))
      assert(traces(made.location.getPath).isEmpty)
    } finally spark.sql("DROP DATABASE other CASCADE")
  }

  test("a partition with a location of its own is refused by name, unless its files may move") {
    make("external partitioned")
    val far = dir("far")
    rows(100, 110).where("p = 1").drop("p").write.parquet(far)
    spark.sql(s"ALTER TABLE t ADD PARTITION (p = 7) LOCATION '$far'")
    val table = openName("t")
    assert(refused(table.check(table.files())).contains("The partition p=7 of t has a location of its own"))
    table.check(table.files().filter(_.partition != "p=7"))
    val before = tableIds("t")
    rewrite(openName("t"), table.files().filter(_.partition != "p=7"))
    assert(tableIds("t") == before)
    moves("t")
    rewriteAll(openName("t"), "r2")
    assert(tableIds("t") == before)
  }

  test("partitions whose directories spell numbers with zeros are exchanged, and known again") {
    val path = dir("padded")
    rows(0, 20).drop("p").write.parquet(s"$path/month=01")
    rows(20, 40).drop("p").write.parquet(s"$path/month=12")
    spark.sql("CREATE TABLE t (id BIGINT, v BIGINT, month INT) USING parquet " +
      s"PARTITIONED BY (month) LOCATION '$path'")
    spark.sql("MSCK REPAIR TABLE t")
    def cluster() = one("ZORDER TABLE t BY (id, v) WITH (force = true, targetFileSize = '64k')")
    assert(status(cluster()) == "DONE" && status(cluster()) == "NOTHING_TO_DO")
    assert(tableIds("t") == forty && ids(path) == forty)
    assert(listed(path).map(_.getName).filter(_.contains("=")) == Seq("month=01", "month=12"))
    assert(status(rolledBack(TableRef.Name(Seq("t")))) == "ROLLED_BACK")
    assert(refreshed() == forty && ids(path) == forty)
    assert(status(cluster()) == "DONE" && vacuum().toSet == Set("DELETED") && tableIds("t") == forty)
  }

  test("two partitions of one value are refused in place, and a copy has the rows of both") {
    val (path, copy) = (dir("twice"), dir("copy"))
    rows(0, 20).drop("p").write.parquet(s"$path/month=01")
    rows(20, 40).drop("p").write.parquet(s"$path/month=1")
    spark.sql("CREATE TABLE t (id BIGINT, v BIGINT, month INT) USING parquet " +
      s"PARTITIONED BY (month) LOCATION '$path'")
    spark.sql("MSCK REPAIR TABLE t")
    assert(tableIds("t") == forty)
    val by = "BY (id, v) WITH (force = true, targetFileSize = '64k')"
    refused(one(s"ZORDER TABLE t $by"))
    assert(status(one(s"ZORDER TABLE t $by INTO '$copy'")) == "DONE")
    assert(ids(copy) == forty && tableIds("t") == forty)
  }

  test("old partitions are protected as the directory of the table is") {
    val path = make("external partitioned")
    Files.setPosixFilePermissions(new File(path).toPath, PosixFilePermissions.fromString("rwx------"))
    rewriteAll(openName("t"))
    val old =
      listed(new File(path).getParent).filter(_.getName.startsWith(s".${new File(path).getName}.old-"))
    assert(old.length == 1 && modes(old.head.getPath) == modes(path))
    assert(vacuum().toSet == Set("DELETED") && !old.head.exists && traces(path).isEmpty)
  }

  /** As Hive renames a managed table: its directory too, and the places of its partitions. */
  private def renameAsHive(from: String, to: String): Unit = {
    val external = spark.sharedState.externalCatalog
    val before = external.listPartitions("default", from).toList
    val (old, root) = (location.getPath, new File(location.getParentFile, to).getPath)
    external.renameTable("default", from, to)
    external.createPartitions(
      "default",
      to,
      before.map(p =>
        p.copy(storage = p.storage.copy(locationUri =
          Some(new Path(p.location.getPath.replace(old, root).stripSuffix("/")).toUri)))),
      ignoreIfExists = true)
    spark.sessionState.catalog.refreshTable(TableIdentifier(to))
  }

  for (by <- Seq("a session with spark-zorder", "another one"))
    test(
      s"a managed table that $by renames after a run died in its exchange keeps all rows",
      LongTest.unless(by == "another one"): _*) {
      val path = make("managed partitioned")
      val table = openName("t")
      val r = stage(table, table.files(), "r1")
      assert(crashAt("moved-old")(r.commit()), "the point was not reached")
      val before = JournalStore.beside(fs, new Path(path))
      val dead = before.all().head
      before.write(dead.copy(owner = "another", process = "", changedMs = System.currentTimeMillis - 600000))
      if (by == "another one") {
        renameAsHive("t", "u")
        assert(tableIds("u") == forty)
      } else {
        spark.sql("ALTER TABLE t RENAME TO u")
        assert(before.all().forall(_.state == JournalState.Done))
        assert(ids(new File(new File(path).getParentFile, "u").getPath) == forty)
      }
      spark.sql("DROP TABLE u")
      delete(temp.resolve("warehouse").toFile)
    }

  test("a directory that is not in the catalog is no part of the table and stays as it is") {
    val path = make("external partitioned")
    rows(100, 110).where("p = 1").drop("p").write.parquet(s"$path/p=5")
    rewriteAll(openName("t"))
    assert(tableIds("t") == forty && ids(s"$path/p=5").size == 5)
  }

  test("what a run was writing beside the table when its JVM died goes with the vacuum") {
    make("external")
    rewriteAll(openName("t"))
    val store = openName("t").store
    val live = store.all().map(_.txn)
    val left = Seq(store.beat("dead"), new Path(store.parent, s".${store.base}.zorder-dead.json.a-b.tmp"))
    (live.map(store.beat) ++ left).foreach(TextFiles.replace(fs, _, "1"))
    Maintenance.vacuum(classic, TableRef.Name(Seq("t")), Some(1.0), dryRun = false, None)
    assert(left.forall(fs.exists(_)), "the retention has not passed")
    vacuum()
    assert(store.leftovers().isEmpty && !(live.map(store.beat) ++ left).exists(fs.exists(_)))
  }

  test("sizes that the catalog knows are renewed, others are not made") {
    make("external partitioned")
    rewriteAll(openName("t"))
    assert(meta.stats.isEmpty)
    spark.sql("ANALYZE TABLE t COMPUTE STATISTICS")
    spark.sql("ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS")
    rewriteAll(openName("t"), "r2")
    def size = openName("t").files().map(_.length).sum
    assert(meta.stats.map(s => (s.sizeInBytes, s.rowCount)).contains((BigInt(size), Some(BigInt(40)))))
    val partitions = spark.sessionState.catalog.listPartitions(meta.identifier)
    assert(partitions.flatMap(_.stats).map(_.sizeInBytes).sum == size && partitions.size == 2)
  }

  test("sizes of partitions that are Hive's stay Hive's, and are renewed") {
    make("external partitioned")
    val catalog = spark.sessionState.catalog
    // as Spark shows Hive's parameters, and as it shows what it has counted itself
    val shown = catalog.listPartitions(meta.identifier).zip(Seq(None, Some(BigInt(20)))).map {
      case (p, rowCount) =>
        p.copy(parameters = Map("totalSize" -> "100"), stats = Some(CatalogStatistics(BigInt(100), rowCount)))
    }
    catalog.alterPartitions(meta.identifier, shown)
    rewriteAll(openName("t"))
    val after = catalog.listPartitions(meta.identifier)
    assert(after.size == 2 && after.forall(p => p.parameters("totalSize").toLong > 100))
    val own = after.flatMap(_.stats)
    assert(own.map(_.rowCount) == Seq(Some(BigInt(20))) && own.head.sizeInBytes > 100)
  }

  Seq("whole", "one partition", "dynamic").foreach { how =>
    test(s"a place that was overwritten by path after the files had moved: $how") {
      Seq(LateChoice.Replace, LateChoice.Ignore, LateChoice.Append).foreach { choice =>
        val path = make(if (how == "whole") "external" else "external partitioned")
        moves("t")
        rewriteAll(openName("t"))
        val before = tableIds("t")
        how match {
          case "whole" => rows(0, 50).write.mode("overwrite").parquet(path)
          case "one partition" =>
            rows(0, 50).where("p = 1").drop("p").write.mode("overwrite").parquet(s"$path/p=1")
          case _ => rows(0, 50).where("p = 1").write.mode("overwrite")
              .option("partitionOverwriteMode", "dynamic").partitionBy("p").parquet(path)
        }
        assert(refused(vacuum()).contains("LATE FILES REPLACE"))
        assert(refused(openName("t").checkBeforeRun()).contains("LATE FILES REPLACE"))
        assert(refused(Maintenance.remove(classic, TableRef.Name(Seq("t")))).contains("LATE FILES"))
        assert(refreshed() == before)
        val replaced = if (how == "whole") 0L until 50L
        else (before.filter(_ % 2 == 0) ++ (1L until 50L by 2L)).sorted
        val came = if (how == "whole") 0L until 50L else 1L until 50L by 2L
        val wanted = choice match {
          case LateChoice.Replace => replaced
          case LateChoice.Ignore => before
          case LateChoice.Append => (before ++ came).sorted
        }
        if (choice == LateChoice.Replace) assert(crashAt("late-copied")(vacuum(Some(choice))))
        else assert(vacuum(Some(choice)).contains(choice.status.name))
        assert(refreshed() == wanted, choice)
        vacuum()
        vacuum()
        assert(refreshed() == wanted, choice)
        rewriteAll(openName("t"), "r2")
        assert(tableIds("t") == wanted, choice)
        beforeEach()
      }
    }
  }

  test("files appended by path beside old ones that are all there come along by themselves") {
    val path = make("external")
    moves("t")
    rewriteAll(openName("t"))
    rows(40, 45).write.mode("append").parquet(path)
    assert(carriedOver(statement()) == 1)
    assert(refreshed() == (0L until 45L))
  }

  test("LATE FILES has no meaning for a table with a log of its files, nor where there are none") {
    make("managed")
    rewriteAll(openName("t"))
    assert(vacuum(Some(LateChoice.Ignore)) == Seq("DELETED"))
    assert(intercept[ZOrderException](spark.sql("ZORDER VACUUM t LATE FILES").collect()).getMessage
      .contains("APPEND, REPLACE, IGNORE"))
  }
}
