package org.apache.spark.sql.zorder.table

import java.io.File

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.resolve.{CatalogResolver, Maintenance}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** ADR 23: a managed table lives on after a run as it did before, whatever is done to it. */
@SameOnAllLines
class ManagedSuite extends AnyFunSuite with TableFixture with BeforeAndAfterEach with Steps {

  override def beforeEach(): Unit = {
    CrashPoint.meanwhile = (_: String) => ()
    Seq("m", "mp", "m2").foreach(t => spark.sql(s"DROP TABLE IF EXISTS $t"))
    delete(temp.resolve("warehouse").toFile)
  }

  private val forty = 0L until 40L
  private def flat(): Unit = rows(0, 40, 4).write.format("parquet").saveAsTable("m")
  private def parted(): Unit = rows(0, 40, 2).write.format("parquet").partitionBy("p").saveAsTable("mp")
  private def make(table: String): Unit = if (table == "m") flat() else parted()

  private def location(table: String): File = new File(
    spark.sessionState.catalog.getTableMetadata(TableIdentifier(table, Some("default"))).location.getPath)

  private def vacuum(table: String, keep: Double = 0.0, late: Option[LateChoice] = None): Seq[Row] =
    vacuumed(TableRef.Name(Seq(table)), Some(keep), late = late)

  private def rollback(table: String): Unit = {
    Maintenance.rollback(classic, TableRef.Name(Seq(table)))
    ()
  }

  private def warehouse: Seq[String] =
    listed(temp.resolve("warehouse").toString).map(_.getName).filterNot(_.endsWith(".crc"))

  /** What is left on disk once the table is vacuumed: its own files alone. */
  private def clean(table: String): Unit = {
    vacuum(table)
    val names = listed(temp.resolve("warehouse").toString)
      .flatMap(d => if (d.isDirectory) ParquetNames.below(d.getPath) else Nil).filter(_.endsWith(".parquet"))
    assert(names.map(_.split('/').last).toSet == spark.table(table).inputFiles.map(_.split('/').last).toSet)
    assert(!warehouse.exists(_.startsWith(s".$table.")), warehouse)
  }

  Seq("m", "mp").foreach { t =>
    test(s"$t: whatever statements of ours come, its rows and its location stay") {
      make(t)
      val before = location(t)
      step("a run") {
        rewriteAll(openName(t))
        assert(tableIds(t) == forty && location(t) == before)
      }
      step("an append and a second run") {
        rows(40, 45).write.insertInto(t)
        rewriteAll(openName(t), "r2")
        assert(tableIds(t) == (0L until 45L) && openName(t).state.runs().map(_.number) == Seq(1, 2))
      }
      step("rollbacks, of both and no more") {
        rollback(t)
        rollback(t)
        assert(tableIds(t) == (0L until 45L) && location(t) == before)
        assert(refused(rollback(t)).contains("no run"))
      }
      step("vacuums") {
        clean(t)
        rewriteAll(openName(t), "r3")
        clean(t)
        assert(tableIds(t) == (0L until 45L) && location(t) == before)
      }
      step("a removal") {
        Maintenance.remove(classic, TableRef.Name(Seq(t)))
        assert(tableIds(t) == (0L until 45L))
      }
      step("a table that is dropped leaves nothing") {
        spark.sql(s"DROP TABLE $t")
        assert(warehouse.isEmpty)
      }
    }

    test(s"$t: dropped and made anew, with old files still there, as before the run") {
      make(t)
      rewriteAll(openName(t))
      spark.sql(s"DROP TABLE $t")
      assert(!warehouse.contains(t))
      make(t)
      assert(tableIds(t) == forty)
      assert(refused(rollback(t)).contains("no run"))
      rewriteAll(openName(t), "r2")
      assert(tableIds(t) == forty && openName(t).state.runs().map(_.runId) == Seq("r2"))
      spark.sql(s"DROP TABLE $t")
      spark.sql(s"CREATE TABLE $t USING parquet AS SELECT id, 1L AS v, 0L AS p FROM range(5)")
      assert(tableIds(t) == (0L until 5L))
      clean(t)
    }

    test(s"$t: however it is overwritten, no old row comes back") {
      make(t)
      rewriteAll(openName(t))
      rows(40, 45).write.insertInto(t)
      step("by saveAsTable") {
        val writer = rows(0, 3).write.mode("overwrite").format("parquet")
        (if (t == "m") writer else writer.partitionBy("p")).saveAsTable(t)
        assert(tableIds(t) == (0L until 3L))
      }
      step("by INSERT OVERWRITE") {
        rewriteAll(openName(t), "r2")
        rows(5, 9).write.mode("overwrite").insertInto(t)
        assert(tableIds(t) == (5L until 9L))
        rows(9, 12).write.insertInto(t)
        assert(tableIds(t) == (5L until 12L))
        rewriteAll(openName(t), "r3")
        assert(tableIds(t) == (5L until 12L))
      }
      step("by TRUNCATE") {
        spark.sql(s"TRUNCATE TABLE $t")
        assert(tableIds(t).isEmpty)
        rows(0, 40, 2).write.insertInto(t)
        assert(tableIds(t) == forty)
        rewriteAll(openName(t), "r4")
        clean(t)
        assert(tableIds(t) == forty)
      }
    }

    test(s"$t: a file that an old writer put into the dropped table's place is no row of the next one") {
      make(t)
      rewriteAll(openName(t))
      val extra = plain("extra", 5, 1)
      val file = listed(extra).find(_.getName.endsWith(".parquet")).get
      if (t == "m") {
        val old = warehouse.find(_.startsWith(".m.old-")).get
        copyFile(file.getPath, temp.resolve("warehouse").resolve(old).resolve("late.parquet").toString)
      }
      spark.sql(s"DROP TABLE $t")
      make(t)
      rewriteAll(openName(t), "r2")
      vacuum(t)
      assert(tableIds(t) == forty)
    }
  }

  test("a partition that was dropped comes back with new rows only") {
    parted()
    rewriteAll(openName("mp"))
    val even = 0L until 40L by 2L
    step("MSCK REPAIR finds no old file") {
      spark.sql("ALTER TABLE mp DROP PARTITION (p = 1)")
      spark.sql("MSCK REPAIR TABLE mp")
      assert(tableIds("mp") == even)
    }
    step("filled again") {
      rows(100, 110).where("p = 1").write.insertInto("mp")
      val wanted = (even ++ (101L until 110L by 2L)).sorted
      assert(tableIds("mp") == wanted)
      assert(refused(rollback("mp")).contains("overwritten"))
      rewriteAll(openName("mp"), "r2")
      assert(tableIds("mp") == wanted)
      clean("mp")
    }
    step("added by ALTER TABLE") {
      spark.sql("ALTER TABLE mp DROP PARTITION (p = 1)")
      spark.sql("ALTER TABLE mp ADD PARTITION (p = 1)")
      assert(tableIds("mp") == even)
      clean("mp")
    }
  }

  test("a partition that is changed in the catalog has its new rows and the others theirs") {
    parted()
    rewriteAll(openName("mp"))
    step("overwritten statically") {
      spark.sql("INSERT OVERWRITE mp PARTITION (p = 1) SELECT 101L, 1L")
      assert(tableIds("mp") == ((0L until 40L by 2L) :+ 101L))
      rewriteAll(openName("mp"), "r2")
    }
    step("overwritten dynamically") {
      spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
      try rows(200, 202).where("p = 0").write.mode("overwrite").insertInto("mp")
      finally spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
      assert(tableIds("mp") == Seq(101L, 200L))
      rewriteAll(openName("mp"), "r3")
    }
    step("renamed") {
      spark.sql("ALTER TABLE mp PARTITION (p = 1) RENAME TO PARTITION (p = 7)")
      assert(tableIds("mp") == Seq(101L, 200L))
      rewriteAll(openName("mp"), "r4")
      clean("mp")
      assert(tableIds("mp") == Seq(101L, 200L))
    }
  }

  test(
    "rows that came late to where Spark makes partitions are moved into the table, once and if asked for") {
    parted()
    moves("mp")
    rewriteAll(openName("mp"))
    val own = s"${location("mp")}/p=1"
    rows(40, 50).where("p = 1").drop("p").write.parquet(own)
    assert(refused(vacuum("mp")).contains("LATE FILES"))
    assert(crashAt("late-copied")(vacuum("mp", late = Some(LateChoice.Append))))
    assert(vacuum("mp", keep = 1).exists(r => carriedOver(Seq(r)) == 1 && status(r) == "CARRIED_OVER"))
    val wanted = (forty ++ (41L until 50L by 2L)).sorted
    spark.catalog.refreshTable("mp")
    assert(tableIds("mp") == wanted && !listed(own).exists(_.getName.endsWith(".parquet")))
    rollback("mp")
    assert(tableIds("mp") == wanted)
    clean("mp")
  }

  CrashPoints.pathCommit.foreach { point =>
    test(
      s"m: a crash at $point, then the next run; or DROP and CREATE",
      LongTest.unless(point == "moved-old"): _*) {
      flat()
      val table = openName("m")
      val r = stage(table, table.files(), "r1")
      assert(crashAt(point)(r.commit()), "the point was not reached")
      openName("m")
      spark.catalog.refreshTable("m")
      assert(tableIds("m") == forty)
      rewriteAll(openName("m"), "again")
      clean("m")
      assert(tableIds("m") == forty)
      val last = openName("m")
      val r2 = stage(last, last.files(), "r2")
      assert(crashAt(point)(r2.commit()))
      spark.sql("DROP TABLE m")
      delete(new File(temp.resolve("warehouse").toFile, "m"))
      rows(0, 7).write.format("parquet").saveAsTable("m")
      if (point.length % 2 == 0) openName("m") else open(temp.resolve("warehouse").resolve("m").toString)
      spark.catalog.refreshTable("m")
      assert(tableIds("m") == (0L until 7L), point)
      rewriteAll(openName("m"), "r3")
      assert(tableIds("m") == (0L until 7L))
      clean("m")
    }
  }

  test("opened by its place a managed table is the same table; with hidden partitions it is named") {
    flat()
    rewriteAll(openName("m"))
    val at = location("m").getPath
    rewriteAll(open(at), "r2")
    spark.catalog.refreshTable("m")
    assert(tableIds("m") == forty)
    rollback("m")
    Maintenance.rollback(classic, TableRef.Location(at))
    assert(openName("m").files().size == 4 && tableIds("m") == forty)
    parted()
    rewriteAll(open(location("mp").getPath))
    moves("mp")
    rewriteAll(openName("mp"), "r2")
    assert(refused(open(location("mp").getPath)).contains("name the table"))
    vacuum("mp")
    assert(refused(open(location("mp").getPath)).contains("name the table"))
    assert(tableIds("mp") == forty)
  }

  test("a renamed table can be rolled back and vacuumed; late files follow it") {
    flat()
    rewriteAll(openName("m"))
    val old = warehouse.find(_.startsWith(".m.old-")).get
    val file = listed(plain("extra", 45, 9)).filter(_.getName.endsWith(".parquet")).last
    spark.sql("ALTER TABLE m RENAME TO m2")
    flat() // another table takes the name
    rewriteAll(openName("m"), "other")
    copyFile(file.getPath, temp.resolve("warehouse").resolve(old).resolve("late.parquet").toString)
    vacuum("m2", keep = 1)
    assert(tableIds("m2").toSet == (0L until 45L).toSet && tableIds("m") == forty)
    rollback("m2")
    assert(openName("m2").files().size == 5 && tableIds("m2") == (0L until 45L))
    rollback("m")
    assert(openName("m").files().size == 4 && tableIds("m") == forty)
    Seq("r2", "r3").foreach(rewriteAll(openName("m2"), _))
    assert(tableIds("m2") == (0L until 45L))
    vacuum("m2")
    vacuum("m")
    assert(warehouse.sorted == Seq("m", "m2"))
  }

  test("an external table is renamed: its runs are still its own") {
    val path = dir("ext")
    rows(0, 40, 4).write.option("path", path).format("parquet").saveAsTable("m")
    rewriteAll(openName("m"))
    spark.sql("ALTER TABLE m RENAME TO m2")
    rows(40, 45).write.mode("append").parquet(path)
    rollback("m2")
    assert(tableIds("m2") == (0L until 45L) && location("m2").getPath == path)
    rewriteAll(openName("m2"), "r2")
    assert(vacuum("m2").map(status).toSet == Set("DELETED") && tableIds("m2") == (0L until 45L))
    spark.sql("DROP TABLE m2")
  }

  test("of two runs with the same base the second stops; a table dropped during a run stays dropped") {
    flat()
    val (a, b) = (openName("m"), openName("m"))
    val (ra, rb) = (stage(a, a.files().take(1), "ra"), stage(b, b.files().takeRight(1), "rb"))
    ra.commit()
    assert(intercept[ZOrderConflictException](rb.commit()).getMessage.contains("Another run"))
    val c = openName("m")
    val rc = stage(c, c.files(), "rc")
    spark.sql("DROP TABLE m")
    intercept[ZOrderConflictException](rc.commit())
    assert(!warehouse.contains("m"))
  }

  test("on an object store a managed table without partitions is refused") {
    flat()
    val meta = spark.sessionState.catalog.getTableMetadata(TableIdentifier("m", Some("default")))
    val said = refused(CatalogResolver.refuseOnObjectStore("m", meta))
    assert(said.contains("INTO") && said.contains("EXTERNAL"))
    val parted = meta.copy(partitionColumnNames = Seq("p"))
    assert(refused(CatalogResolver.refuseOnObjectStore("m", parted)).contains("MSCK REPAIR TABLE m first"))
    val digits = parted.copy(identifier = TableIdentifier("2024", Some("default")))
    assert(refused(CatalogResolver.refuseOnObjectStore("2024", digits)).contains(
      "MSCK REPAIR TABLE `spark_catalog`.`default`.`2024` first"))
  }
}
