package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.{File, FileOutputStream}
import java.nio.file.Files

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.catalog.CatalogTablePartition
import org.apache.spark.sql.zorder.table.{StateDir, TableRef}
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, TextFiles}
import sparkzorder.Steps
import sparkzorder.mark.SameOnAllLines

/** Files that come to where a table's files lay: of names that others have, again and again, and long after. */
@SameOnAllLines
class LateFilesSuite extends AnyFunSuite with ExchangeFixture with Steps {

  private val parted = Seq("external partitioned", "managed partitioned")
  private val append = Some(LateChoice.Append)

  /** Odd ids, without the partition's column. */
  private def odd(from: Int, until: Int) = from.toLong until until.toLong filter (_ % 2 == 1)

  /** One file of these rows, without a codec: as many rows are as many bytes. */
  private def file(from: Int, until: Int, partition: Boolean): File = {
    val all = rows(from, until)
    val at = dir("extra")
    (if (partition) all.where("p = 1").drop("p") else all).write.option("compression", "none").parquet(at)
    listed(at).filter(_.getName.endsWith(".parquet")).head
  }

  private def names(place: String): Seq[String] =
    listed(place).map(_.getName).filter(_.endsWith(".parquet"))

  test("a file that was open during the exchange, and another of its name since: both are in the table") {
    val path = plain("today")
    val late = Files.readAllBytes(file(40, 45, partition = false).toPath)
    val out = new FileOutputStream(s"$path/today.parquet")
    rewriteAll(open(path))
    out.write(late)
    out.close()
    copyFile(file(50, 90, partition = false).getPath, s"$path/today.parquet")
    val wanted = (0L until 45L) ++ (50L until 90L)
    step("also after a crash") {
      assert(crashAt("late-copied")(vacuumed(TableRef.Location(path), Some(100.0))))
      vacuumed(TableRef.Location(path), Some(100.0))
      assert(ids(path) == wanted)
    }
    step("after a rollback, and after a run and a vacuum") {
      rolledBack(TableRef.Location(path))
      assert(ids(path) == wanted)
      rewriteAll(open(path), "r2")
      vacuumed(TableRef.Location(path))
      assert(ids(path) == wanted && traces(path).isEmpty)
    }
  }

  parted.foreach { kind =>
    test(s"$kind: files of one name that come one after another, also of one length") {
      val path = make(kind)
      moves("t")
      rewriteAll(openName("t"))
      val own = s"$path/p=1"
      vacuum()
      val sizes = Seq(100 -> 110, 200 -> 210, 300 -> 400).map { case (from, until) =>
        val came = file(from, until, partition = true)
        copyFile(came.getPath, s"$own/data.parquet")
        assert(refused(vacuum()).contains("LATE FILES"))
        assert(refused(openName("t").checkBeforeRun()).contains("LATE FILES"))
        if (from == 200) assert(crashAt("late-copied")(vacuum(append)))
        else assert(vacuum(append).contains("APPENDED"))
        vacuum()
        assert(names(own).isEmpty)
        came.length
      }
      assert(sizes.head == sizes(1) && sizes.head != sizes(2), "the second file has the length of the first")
      assert(refreshed() == forty ++ odd(100, 110) ++ odd(200, 210) ++ odd(300, 400))
    }

    test(s"$kind: the first places are watched when old files and journals are gone") {
      val path = make(kind)
      moves("t")
      rewriteAll(openName("t"))
      vacuum()
      assert(openName("t").store.all().isEmpty)
      step("for nothing, where nobody writes") {
        assert(vacuum() == Seq("NOTHING_TO_DO"))
        openName("t").checkBeforeRun()
      }
      rows(40, 50).write.mode("append").partitionBy("p").parquet(path)
      step("a vacuum, a run and a removal ask") {
        assert(refused(vacuum()).contains("LATE FILES"))
        assert(refused(openName("t").checkBeforeRun()).contains("LATE FILES"))
        assert(refused(openName("t").prepare("r2")).contains("LATE FILES"))
        assert(refused(Maintenance.remove(classic, TableRef.Name(Seq("t")))).contains("LATE FILES"))
      }
      step("ignored files stay, and are no rows") {
        assert(vacuum(Some(LateChoice.Ignore)) == Seq("IGNORED", "IGNORED"))
        assert(vacuum() == Seq("NOTHING_TO_DO"))
        assert(refreshed() == forty && names(s"$path/p=1").size == 1)
        rewriteAll(openName("t"), "r2")
        vacuum()
        assert(refreshed() == forty && names(s"$path/p=1").size == 1)
      }
      step("other ones are asked about, and appended once") {
        rows(50, 60).write.mode("append").partitionBy("p").parquet(path)
        assert(refused(vacuum()).contains("LATE FILES"))
        assert(crashAt("late-copied")(vacuum(append)))
        vacuum()
        assert(refreshed() == forty ++ (50L until 60L))
        vacuum()
        assert(refreshed() == forty ++ (50L until 60L) && names(s"$path/p=1").size == 1)
      }
    }

    test(s"$kind: a partition that the catalog has at its first place again is not late") {
      val path = make(kind)
      moves("t")
      rewriteAll(openName("t"))
      vacuum()
      val place = s"$path/p=1"
      spark.sql("ALTER TABLE t DROP PARTITION (p = 1)")
      rows(100, 110).where("p = 1").drop("p").write.parquet(place)
      spark.sql("ALTER TABLE t ADD PARTITION (p = 1)")
      val wanted = (forty.filter(_ % 2 == 0) ++ odd(100, 110)).sorted
      assert(refreshed() == wanted)
      vacuum()
      openName("t").checkBeforeRun()
      assert(refreshed() == wanted && names(place).size == 1)
    }
  }

  test("a place that the catalog was given back, and that was left again: its rows come once") {
    val path = make("external partitioned")
    moves("t")
    rewriteAll(openName("t"))
    for (p <- Seq(0, 1)) spark.sql(s"ALTER TABLE t PARTITION (p = $p) SET LOCATION '$path/p=$p'")
    rows(40, 50).write.insertInto("t")
    rewriteAll(openName("t"), "r2")
    val wanted = 0L until 50L
    assert(refreshed() == wanted)
    step("after the next run") {
      rewriteAll(openName("t"), "r3")
      assert(refreshed() == wanted)
    }
    step("after a vacuum, whose old files are those of the last run there") {
      assert(vacuum().toSet == Set("DELETED"))
      assert(refreshed() == wanted && names(s"$path/p=1").isEmpty)
    }
  }

  /** An external table with these directories of partitions, of rows with odd ids. Hive keeps names as they are. */
  private def spelled(dirs: (String, Range)*): String = {
    val path = dir("spelled")
    dirs.foreach { case (name, ids) =>
      rows(ids.start, ids.end).where("p = 1").drop("p").write.parquet(s"$path/$name")
    }
    spark.sql("CREATE TABLE t (id BIGINT, v BIGINT, p DATE) USING parquet PARTITIONED BY (p) " +
      s"LOCATION '$path'")
    val partitions = dirs.map { case (name, _) =>
      val storage = meta.storage.copy(locationUri = Some(new Path(path, name).toUri))
      CatalogTablePartition(Map("p" -> name.stripPrefix("p=")), storage)
    }
    spark.sessionState.catalog.createPartitions(meta.identifier, partitions, ignoreIfExists = false)
    path
  }

  test("a partition whose directory Spark would spell otherwise: late files take the place of its rows") {
    val path = spelled("p=2024-1-1" -> (0 until 40))
    moves("t")
    rewriteAll(openName("t"))
    vacuum()
    copyFile(file(100, 110, partition = true).getPath, s"$path/p=2024-1-1/data.parquet")
    assert(refused(vacuum()).contains("LATE FILES"))
    assert(vacuum(Some(LateChoice.Replace)).contains("REPLACED"))
    assert(refreshed() == odd(100, 110))
    vacuum()
    assert(refreshed() == odd(100, 110))
  }

  test("two directories for one value: a run is refused, in place and where files move") {
    spelled("p=2024-1-1" -> (0 until 40), "p=2024-01-01" -> (40 until 50))
    val wanted = odd(0, 50)
    for (_ <- Seq("in place", "moved")) {
      assert(refused(openName("t").checkBeforeRun()).contains("p=2024-01-01 and p=2024-1-1"))
      assert(tableIds("t") == wanted)
      moves("t")
    }
  }

  test("a file that takes the place of an old one, of its name, is asked about") {
    val path = make("external partitioned")
    val daily = s"$path/p=1/daily.parquet"
    copyFile(file(40, 50, partition = true).getPath, daily)
    moves("t")
    rewriteAll(openName("t"))
    new File(daily).delete()
    copyFile(file(60, 70, partition = true).getPath, daily)
    assert(refused(openName("t").checkBeforeRun()).contains("LATE FILES"))
    assert(refused(vacuum()).contains("LATE FILES"))
    assert(vacuum(append).contains("APPENDED"))
    val wanted = (forty ++ odd(40, 50) ++ odd(60, 70)).sorted
    assert(refreshed() == wanted)
    vacuum()
    assert(refreshed() == wanted && names(s"$path/p=1").isEmpty)
  }

  test("an old place that is copied onto itself, or restored, has no late files") {
    val path = make("external partitioned")
    moves("t")
    rewriteAll(openName("t"))
    val old = Seq("p=0", "p=1").flatMap(p => names(s"$path/$p").map(name => new File(s"$path/$p/$name")))
    assert(old.size > 1 && old.forall(_.setLastModified(System.currentTimeMillis + 60000)))
    openName("t").checkBeforeRun()
    assert(!vacuum().exists(_.contains("LATE")) && refreshed() == forty)
  }

  test("a partition that its owner has put elsewhere, and whose rows late files replace, is at home there") {
    val path = make("external partitioned")
    moves("t")
    rewriteAll(openName("t"))
    val lake = dir("lake")
    rows(60, 70).where("p = 1").drop("p").write.parquet(lake)
    spark.sql(s"ALTER TABLE t PARTITION (p = 1) SET LOCATION '$lake'")
    copyFile(file(100, 110, partition = true).getPath, s"$path/p=1/data.parquet")
    assert(vacuum(Some(LateChoice.Replace)).contains("REPLACED"))
    val wanted = (forty.filter(_ % 2 == 0) ++ odd(100, 110)).sorted
    assert(refreshed() == wanted)
    Maintenance.remove(classic, TableRef.Name(Seq("t")))
    assert(refreshed() == wanted && odd(100, 110) == ids(lake))
  }

  test("late files of a partition that is dropped are no rows; of one that is empty they are the rows") {
    val path = make("external partitioned")
    val late = file(100, 110, partition = true).getPath
    moves("t")
    rewriteAll(openName("t"))
    step("emptied by name") {
      spark.sql("INSERT OVERWRITE TABLE t PARTITION (p = 1) SELECT id, id FROM range(1) WHERE false")
      vacuum()
      copyFile(late, s"$path/p=1/data.parquet")
      assert(refused(vacuum()).contains("LATE FILES"))
      assert(vacuum(Some(LateChoice.Replace)).contains("REPLACED"))
      assert(refreshed() == (forty.filter(_ % 2 == 0) ++ odd(100, 110)).sorted)
    }
    step("dropped") {
      spark.sql("ALTER TABLE t DROP PARTITION (p = 1)")
      copyFile(late, s"$path/p=1/data.parquet")
      openName("t").checkBeforeRun()
      vacuum()
      rewriteAll(openName("t"), "r2")
      assert(refreshed() == forty.filter(_ % 2 == 0) && names(s"$path/p=1") == Seq("data.parquet"))
    }
  }

  test("what was appended by path before an overwrite by name is asked about, not appended") {
    val path = make("external")
    moves("t")
    rewriteAll(openName("t"))
    copyFile(file(100, 110, partition = false).getPath, s"$path/data.parquet")
    spark.sql("INSERT OVERWRITE TABLE t VALUES (201, 0, 1)")
    assert(refused(vacuum()).contains("LATE FILES"))
    assert(refused(openName("t").prepare("r2")).contains("LATE FILES"))
    assert(vacuum(Some(LateChoice.Ignore)).contains("IGNORED"))
    rewriteAll(openName("t"), "r2")
    assert(refreshed() == Seq(201L))
  }

  test("a place of its own that a partition had: what is appended from there stays there") {
    make("external partitioned")
    val far = dir("far")
    rows(100, 110).where("p = 1").drop("p").write.parquet(far)
    spark.sql(s"ALTER TABLE t ADD PARTITION (p = 7) LOCATION '$far'")
    moves("t")
    val before = tableIds("t")
    rewriteAll(openName("t"))
    vacuum()
    copyFile(file(200, 210, partition = true).getPath, s"$far/data.parquet")
    assert(refused(vacuum()).contains("LATE FILES"))
    assert(vacuum(append).contains("APPENDED"))
    vacuum()
    vacuum()
    assert(refreshed() == before ++ odd(200, 210) && names(far) == Seq("data.parquet"))
  }

  test("external: a file that comes again to a place that was asked about is asked about again") {
    val path = make("external")
    moves("t")
    rewriteAll(openName("t"))
    vacuum()
    Seq(100 -> 105, 200 -> 240).foreach { case (from, until) =>
      copyFile(file(from, until, partition = false).getPath, s"$path/data.parquet")
      assert(refused(vacuum()).contains("LATE FILES"))
      assert(refused(openName("t").checkBeforeRun()).contains("LATE FILES"))
      assert(vacuum(append).contains("APPENDED"))
      vacuum()
      assert(names(path).isEmpty)
    }
    assert(refreshed() == forty ++ (100L until 105L) ++ (200L until 240L))
  }

  test("external: old files are not asked about as late ones where their journal cannot be read") {
    make("external")
    moves("t")
    val table = openName("t")
    rewriteAll(table)
    val ref = TableRef.Name(Seq("t"))
    val journal = table.store.file(table.store.all().head.txn)
    val text = TextFiles.read(fs, journal).get
    TextFiles.replace(fs, journal, "not for this user")
    Seq[() => Any](
      () => vacuum(),
      () => vacuum(append),
      () => vacuumed(ref, dryRun = true),
      () => openName("t"),
      () => table.prepare("r2"),
      () => rolledBack(ref),
      () => removed(ref)).foreach(attempt => assert(refused(attempt()).contains("cannot be read")))
    assert(refreshed() == forty)
    TextFiles.replace(fs, journal, text)
    assert(vacuum() == Seq("DELETED") && refreshed() == forty)
  }

  test("external: a late file whose copy cannot be noted stops a run, and comes once") {
    val path = make("external")
    moves("t")
    rewriteAll(openName("t"))
    copyFile(file(40, 50, partition = false).getPath, s"$path/data.parquet")
    val store = openName("t").store
    val journal = store.file(store.all().head.txn)
    val text = TextFiles.read(fs, journal).get
    CrashPoint.meanwhile = at =>
      if (at == "late-copied") TextFiles.replace(fs, journal, "not for this user")
    try assert(refused(rewriteAll(openName("t"), "r2")).contains("cannot be read"))
    finally CrashPoint.meanwhile = (_: String) => ()
    TextFiles.replace(fs, journal, text)
    Seq("r2", "r3").foreach { run =>
      rewriteAll(openName("t"), run)
      assert(refreshed() == (0L until 50L))
    }
  }

  test("external: the first place is watched without a journal") {
    val path = make("external")
    moves("t")
    rewriteAll(openName("t"))
    vacuum()
    val store = openName("t").store
    store.all().foreach(store.delete)
    rows(40, 45).write.mode("append").parquet(path)
    assert(refused(vacuum()).contains("LATE FILES"))
    assert(vacuum(append).contains("APPENDED"))
    vacuum()
    assert(refreshed() == (0L until 45L) && names(path).isEmpty)
    val home = new StateDir(fs, new Path(meta.location)).homes()
    assert(home.values.map(h => new Path(h).toUri.getPath).toSeq == Seq(path))
  }
}
