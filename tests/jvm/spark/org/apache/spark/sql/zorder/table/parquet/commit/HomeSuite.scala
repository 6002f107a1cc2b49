package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.File
import java.net.URI
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.Path
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.table.{
  CrashPoints,
  Operation,
  ParquetNames,
  StateDir,
  TableFixture,
  TableRef
}
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, ParquetTable}
import org.apache.spark.sql.zorder.table.parquet.journal.{JournalStore, TableIdentity}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** `ZORDER REMOVE` of tables whose files have moved: they go back to where they were. */
@SameOnAllLines
class HomeSuite extends AnyFunSuite with TableFixture with BeforeAndAfterEach {

  private val fifty = 0L until 50L
  private val kinds = Seq("external", "external partitioned", "managed partitioned")

  override def beforeEach(): Unit = {
    spark.sql("DROP TABLE IF EXISTS t")
    delete(temp.resolve("warehouse").toFile)
  }

  private def meta = spark.sessionState.catalog.getTableMetadata(TableIdentifier("t", Some("default")))

  /** A table `t` whose files have moved twice; its first directory. */
  private def moved(kind: String): String = {
    saved("t", kind)
    val path = meta.location.getPath
    moves("t")
    rewriteAll(openName("t"))
    rows(40, 50).write.insertInto("t")
    rewriteAll(openName("t"), "r2")
    path
  }

  private def remove(choice: Option[HomeChoice] = None): String =
    status(removed(TableRef.Name(Seq("t")), choice))

  /** By name and by path the same rows, and nothing of ours is left. */
  private def assertHome(path: String): Unit = {
    assert(tableIds("t") == fifty && ids(path) == fifty && meta.location.getPath == path)
    assert(!meta.properties.keys.exists(_.startsWith("zorder.")), meta.properties)
    val name = new File(path).getName
    val beside =
      listed(new File(path).getParent).filter(f => f.getName.contains(name) && !f.getName.endsWith(".crc"))
    assert(beside.map(_.getName) == Seq(name), beside.map(d => d -> d.list.toSeq))
    assert(ParquetNames.below(path).size == spark.table("t").inputFiles.length)
  }

  test("the mark of a way home at work stays, whoever looks at the directory that the table has moved to") {
    moved("external")
    assert(crashAt("home-moving")(remove()), "the point was not reached")
    val mark = ExchangeMark.of(classic, Some(meta))
    val txn = mark.marked
    assert(txn.isDefined)
    val beside = JournalStore.beside(fs, new Path(meta.location))
    PathRecovery.recover(beside, beside.all(), mark)
    assert(mark.marked == txn)
    remove()
    assert(mark.marked.isEmpty && tableIds("t") == fifty)
  }

  test("of two removals at the same time one brings the files home, and the other leaves its mark") {
    val path = moved("external")
    val second = new HomeCommit(new CatalogEntry(classic, "t", meta.identifier, fs), waitMs = 1000)
    val away = second.away()
    var said = ""
    var marked = Option.empty[String]
    CrashPoint.meanwhile = at =>
      if (at == "home-moving") {
        CrashPoint.meanwhile = _ => ()
        said = refused(second.bring(away, _ => false, "ZORDER REMOVE t"))
        marked = ExchangeMark.of(classic, Some(meta)).marked
      }
    try assert(remove() == "REMOVED")
    finally CrashPoint.meanwhile = _ => ()
    assert(said.contains("is working on t") && marked.isDefined)
    assertHome(path)
  }

  kinds.foreach { kind =>
    test(s"$kind: the files come home, and later runs keep them there") {
      val path = moved(kind)
      assert(tableIds("t") == fifty)
      assert(remove() == "REMOVED")
      assertHome(path)
      rewriteAll(openName("t"), "r3")
      assert(ids(path) == fifty && meta.location.getPath == path)
    }

    CrashPoints.homeCommit.foreach { point =>
      test(
        s"$kind: a way home that dies at $point is finished by the first query",
        LongTest.unless(point == "home-moved"): _*) {
        val path = moved(kind)
        assert(crashAt(point)(remove()), "the point was not reached")
        spark.sql("REFRESH TABLE t")
        // a query that has found the old directory away cannot look into the new one
        if (kind == "external" && point != "home-altered")
          assert(refused(tableIds("t")).contains("run it again"))
        assert(tableIds("t") == fifty)
        remove()
        assertHome(path)
      }
    }

    test(s"$kind: a way home that died is finished by the statement that began it") {
      val path = moved(kind)
      assert(crashAt("home-moved")(remove()), "the point was not reached")
      assert(remove() == "REMOVED")
      assertHome(path)
    }

    test(s"$kind: a statement that only reads refuses a table that is on its way home") {
      moved(kind)
      assert(crashAt("home-moved")(remove()), "the point was not reached")
      def listed() =
        TableResolver.locate(classic, TableRef.Name(Seq("t"))).asInstanceOf[ParquetTable].files()
      assert(refused(listed()).contains("is away at the moment"))
      assert(
        remove() == "REMOVED" && listed().map(_.partition).distinct.size == openName("t").liveDirs().size)
    }

    test(s"$kind: of sessions that meet a dead way home at the same time, one finishes it") {
      val path = moved(kind)
      assert(crashAt("home-moving")(remove()), "the point was not reached")
      val table = new CatalogEntry(classic, "t", meta.identifier, fs)
      val dead = table.store.all().find(_.operation == Operation.MoveHome).get
      table.store.write(
        dead.copy(owner = "another", process = "", changedMs = System.currentTimeMillis - 600000))
      val renamed = new AtomicInteger
      CrashPoint.meanwhile = {
        case "home-moved" => renamed.incrementAndGet(); Thread.sleep(300)
        case _ =>
      }
      try atOnce(4)(CatalogRecovery.recover(table, table.store.all()))
      finally CrashPoint.meanwhile = _ => ()
      spark.sql("REFRESH TABLE t")
      assert(renamed.get == dead.units.length && tableIds("t") == fifty && ids(path) == fifty)
    }

    test(s"$kind: files that are not the table's keep it away, by name; STAY leaves everything") {
      val path = moved(kind)
      val extra = listed(plain("extra", 5, 1)).filter(_.getName.endsWith(".parquet")).head
      val place = if (kind.endsWith("partitioned")) s"$path/p=1" else path
      write(s"$place/_notes/mine.txt", "mine")
      val before = meta.location
      assert(refused(remove()).contains("mine.txt") || refused(remove()).contains("FILES_LEFT"))
      new File(s"$place/_notes/mine.txt").delete()
      new File(s"$place/_notes").delete()
      copyFile(extra.getPath, s"$place/other.parquet")
      assert(refused(remove()).contains(place))
      new File(s"$place/other.parquet").delete()
      assert(meta.location == before && tableIds("t") == fifty)
      remove(Some(HomeChoice.Stay))
      assert(tableIds("t") == fifty && meta.location == before)
    }
  }

  test("a partitioned external table that has moved is not run by its old path") {
    val path = moved("external partitioned")
    assert(refused(open(path)).contains("had before its last run"))
    assert(tableIds("t") == fifty)
  }

  test("a managed table remembers no home that its own directory tells; others follow a rename") {
    val root = new Path(moved("managed partitioned"))
    val state = new StateDir(fs, root)
    assert(state.homes().isEmpty)
    val far = new Path(dir("far")).toUri.toString
    val renamed = new Path(root.getParent, "u")
    state.addHomes(Map("p=0" -> s"file:$root/p=0", "p=1" -> far))
    fs.rename(root, renamed)
    RenamedTable.adopt(fs, renamed, TableIdentity.of(meta), None)
    val homes = new StateDir(fs, renamed).homes().map { case (p, uri) =>
      p -> new Path(new URI(uri)).toUri.getPath
    }
    assert(homes == Map("p=0" -> s"${renamed.toUri.getPath}/p=0", "p=1" -> new Path(far).toUri.getPath))
    fs.rename(renamed, root)
  }

  test("a partition that had a place of its own goes back to that") {
    rows(0, 40, 2).write.format("parquet").partitionBy("p").option("path", dir("home")).saveAsTable("t")
    val far = dir("far")
    rows(40, 50).where("p = 1").drop("p").write.parquet(far)
    spark.sql(s"ALTER TABLE t ADD PARTITION (p = 7) LOCATION '$far'")
    moves("t")
    val before = tableIds("t")
    rewriteAll(openName("t"))
    rewriteAll(openName("t"), "r2")
    remove()
    assert(tableIds("t") == before && ids(far).size == 5)
    val places = spark.sessionState.catalog.listPartitions(meta.identifier).map(_.location.getPath)
    assert(places.toSet == Set(s"${meta.location.getPath}/p=0", s"${meta.location.getPath}/p=1", far))
  }

  test("a partition that its owner has put elsewhere since a run stays there, and is at home there") {
    val path = moved("external partitioned")
    val lake = dir("lake")
    rows(60, 70).where("p = 1").drop("p").write.parquet(lake)
    spark.sql(s"ALTER TABLE t PARTITION (p = 1) SET LOCATION '$lake'")
    val wanted = fifty.filter(_ % 2 == 0) ++ (61L until 70L by 2)
    vacuumed(TableRef.Name(Seq("t")))
    for (runs <- 0 to 1) {
      if (runs > 0) {
        moves("t")
        rewriteAll(openName("t"), "r3")
      }
      assert(remove() == "REMOVED")
      spark.sql("REFRESH TABLE t")
      assert(tableIds("t") == wanted && ids(lake).size == 5)
      val places = spark.sessionState.catalog.listPartitions(meta.identifier).map(_.location.getPath)
      assert(places.toSet == Set(s"$path/p=0", lake))
    }
  }

  test("old files that a vacuum has left at home, since a job was at work there, do not come back") {
    val path = moved("external partitioned")
    val scratch = Seq(0, 1).map(p => new File(s"$path/p=$p/_temporary"))
    CrashPoint.meanwhile = {
      case "vacuum-deleted" => scratch.filter(_.getParentFile.isDirectory).foreach(_.mkdir())
      case "home-moving" => scratch.foreach(delete)
      case _ =>
    }
    try assert(refused(remove()).contains("A job is or was at work in"))
    finally CrashPoint.meanwhile = _ => ()
    scratch.foreach(delete)
    assert(tableIds("t") == fifty && remove() == "REMOVED")
    assertHome(path)
  }

  test("a job that begins in an old directory during a removal keeps the journal that tells of its files") {
    rows(0, 40, 2).write.format("parquet").option("path", dir("home")).partitionBy("p").saveAsTable("t")
    rewriteAll(openName("t"))
    val old = openName("t").store.all().flatMap(_.units.map(u => new File(u.old.toUri.getPath)))
    CrashPoint.meanwhile = at =>
      if (at == "vacuum-deleted") old.filter(_.isDirectory).foreach(new File(_, "_temporary").mkdir())
    try assert(refused(remove()).contains("A job is or was at work in"))
    finally CrashPoint.meanwhile = _ => ()
    assert(openName("t").store.all().nonEmpty)
    old.foreach(d => delete(new File(d, "_temporary")))
    assert(remove() == "REMOVED" && tableIds("t") == (0L until 40L))
  }

  kinds.foreach { kind =>
    test(s"$kind: what a job puts into the old place during the way home comes with it") {
      val path = moved(kind)
      val extra = dir("extra")
      val more = rows(60, 70)
      (if (kind.endsWith("partitioned")) more.where("p = 1").drop("p") else more).write.parquet(extra)
      val place = if (kind.endsWith("partitioned")) s"$path/p=1" else path
      CrashPoint.meanwhile = at =>
        if (at == "home-moving") {
          CrashPoint.meanwhile = _ => ()
          copyFile(listed(extra).filter(_.getName.endsWith(".parquet")).head.getPath, s"$place/data.parquet")
          write(s"$place/_notes/mine.txt", "mine")
        }
      val wanted = fifty ++ ids(extra)
      try assert(refused(remove()).contains("Move it away: the next statement"))
      finally CrashPoint.meanwhile = _ => ()
      // what has moved is where the catalog says
      if (kind.endsWith("partitioned"))
        spark.sessionState.catalog.listPartitions(TableIdentifier("t", Some("default"))).foreach(p =>
          assert(new File(p.location).isDirectory, p.location))
      delete(new File(s"$place/_notes"))
      assert(remove() == "REMOVED")
      spark.sql("REFRESH TABLE t")
      assert(tableIds("t") == wanted && ids(path) == wanted && meta.location.getPath == path)
    }
  }
}
