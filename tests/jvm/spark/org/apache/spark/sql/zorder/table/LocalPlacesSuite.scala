package org.apache.spark.sql.zorder.table

import java.io.File
import java.nio.file.{Files, Paths}

import scala.sys.process.{Process, ProcessLogger}

import org.apache.hadoop.fs.Path
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.{OtherContext, OtherFileSystem}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.parquet.files.{FileMoves, MountPoints}
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import sparkzorder.Steps
import sparkzorder.mark.SameOnAllLines

/** Directories of the local disk that cannot be exchanged: mount points and symbolic links. */
@SameOnAllLines
class LocalPlacesSuite extends AnyFunSuite with TableFixture with BeforeAndAfterEach with Steps {

  private val system = MountPoints.source
  private val forty = 0L until 40L

  override def afterEach(): Unit = {
    MountPoints.source = system
    Seq("t", "mp").foreach(t => spark.sql(s"DROP TABLE IF EXISTS $t"))
  }

  private def mountAt(points: String*): Unit = {
    val text =
      points.map(p => s"36 35 98:0 /mnt1 ${real(p)} rw,noatime master:1 - ext3 /dev/root rw").mkString("\n")
    MountPoints.source = () => Some(text)
  }

  private def real(path: String): String = Paths.get(path).toRealPath().toString.replace(" ", "\\040")

  private def files(path: String): Seq[String] = ParquetNames.below(path).sorted

  private def link(from: String, to: String): String = {
    Files.createSymbolicLink(Paths.get(from), Paths.get(to))
    from
  }

  test("a place that is said to rename directories in one step") {
    val path = plain("renames")
    spark.conf.set("fs.other.impl", classOf[OtherFileSystem].getName)
    spark.conf.set("fs.AbstractFileSystem.other.impl", classOf[OtherContext].getName)
    def run() = spark.sql(s"ZORDER TABLE parquet.`other://$path` FULL BY (id) WITH (fileCount = 2)").head()
    try {
      assert(intercept[ZOrderException](run()).getMessage.contains("is on an object store"))
      spark.conf.set("spark.zorder.atomicRenames", "abfss, other")
      assert(run().getAs[String]("status") == "DONE" && files(path).length == 2 && ids(path) == forty)
    } finally Seq(
        "fs.other.impl",
        "fs.AbstractFileSystem.other.impl",
        "spark.zorder.atomicRenames").foreach(spark.conf.unset)
  }

  test("the table of mounts") {
    val text =
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:21 / /data/with\\040blank rw shared:5 - tmpfs tmpfs rw\n\n"
    assert(MountPoints.parse(text) == Seq("/", "/data/with blank"))
    assert(MountPoints.among(Seq("/", "/data/v", "/data/v/t/p=1"), "/data/v/t").contains("/data/v/t/p=1"))
    assert(MountPoints.among(Seq("/", "/data/v"), "/data/v/t").isEmpty)
    assert(MountPoints.among(Seq("/data/v"), "/data/v").contains("/data/v"))
    assert(MountPoints.among(Seq("/data/v2"), "/data/v").isEmpty)
  }

  test("a table on a mount point, or a partition of it, is refused before any work") {
    step("a path, with a blank in it") {
      val path = s"${plain("mount")} x"
      new File(path.stripSuffix(" x")).renameTo(new File(path))
      val before = files(path)
      mountAt(path)
      assert(refused(open(path)).contains("mount point") && files(path) == before && traces(path).isEmpty)
    }
    step("an external table") {
      rows(0, 40, 2).write.option("path", dir("ext")).format("parquet").saveAsTable("t")
      mountAt(openName("t").root.toUri.getPath)
      assert(refused(openName("t")).contains("mount point"))
    }
    step("a partition of a path") {
      val parts = partitioned("mountp")
      mountAt(s"$parts/p=1")
      assert(refused(open(parts)).contains("p=1 is a mount point"))
    }
    step("a managed table and a partition of it, unless its files may move on their volume") {
      rows(0, 40, 2).write.format("parquet").partitionBy("p").saveAsTable("mp")
      val root = temp.resolve("warehouse").resolve("mp").toString
      mountAt(s"$root/p=1")
      assert(refused(openName("mp")).contains("p=1 is a mount point"))
      mountAt(root)
      assert(refused(openName("mp")).contains("mount point"))
      moves("mp")
      rewriteAll(openName("mp"))
      assert(tableIds("mp") == forty)
    }
  }

  test("what Hadoop's copy of a mount point left half done is brought back") {
    Seq(0, 2, 4).foreach { gone =>
      val path = plain("half")
      val table = open(path)
      val r = stage(table, table.files(), "r1")
      assert(crashAt("swapping")(r.commit()))
      val swapping = table.store.all().head
      val old = swapping.units.head.old.toUri.getPath
      listed(path).filter(_.getName.endsWith(".parquet")).take(gone).foreach { f =>
        copyFile(f.getPath, s"$old/${f.getName}")
        new File(f.getParent, s".${f.getName}.crc").delete()
        f.delete()
      }
      mountAt(path)
      assert(refused(open(path)).contains("mount point"))
      assert(ids(path) == forty && traces(path).isEmpty)
      MountPoints.source = system
      rewriteAll(open(path), "r2")
      assert(ids(path) == forty)
    }
  }

  private def copyTree(from: File, to: File): Unit =
    if (from.isDirectory) listed(from.getPath).foreach(f => copyTree(f, new File(to, f.getName)))
    else copyFile(from.getPath, to.getPath)

  test("a copy of the parent directory does not touch the old files of the original; a link to it does") {
    val lake = dir("lake")
    rows(0, 40, 2).write.parquet(s"$lake/t")
    rows(0, 40, 2).write.parquet(s"$lake/dead")
    rewriteAll(open(s"$lake/t"))
    val dead = open(s"$lake/dead")
    assert(crashAt("moved-new")(stage(dead, dead.files(), "r1").commit()))
    val backup = dir("backup")
    copyTree(new File(lake), new File(backup))
    val before = files(lake)
    step("a vacuum of the copy deletes nothing anywhere") {
      assert(vacuumed(TableRef.Location(s"$backup/t")).map(status) == Seq("NO_JOURNAL"))
      assert(status(vacuumed(TableRef.Location(s"$backup/dead")).head) == "NO_JOURNAL")
      assert(refused(Maintenance.rollback(classic, TableRef.Location(s"$backup/t"))).contains("no run"))
      assert(files(lake) == before)
    }
    step("a run of the copy, and its rollback, are its own") {
      rewriteAll(open(s"$backup/t"), "r2")
      assert(rolledBack(TableRef.Location(s"$backup/t")).getAs[String]("run_id") == "r2")
      assert(ids(s"$backup/t") == forty)
      assert(files(lake) == before)
    }
    step("by a link above it the table is the same") {
      val linked = link(dir("link"), lake)
      assert(vacuumed(TableRef.Location(s"$linked/dead")).map(status).contains("DELETED"))
      assert(rolledBack(TableRef.Location(s"$lake/t")).getAs[String]("run_id") == "r1")
      assert(ids(s"$lake/t") == forty && ids(s"$lake/dead") == forty)
    }
  }

  test("a real mount point") {
    val path = dir("tmpfs")
    Files.createDirectories(Paths.get(path))
    val quiet = ProcessLogger(_ => ())
    def run(command: String*): Int =
      try Process(command).!(quiet)
      catch { case _: java.io.IOException => -1 }
    assume(run("mount", "-t", "tmpfs", "tmpfs", path) == 0, "this user or sandbox may not mount")
    try {
      rows(0, 40, 2).write.mode("append").parquet(path)
      assert(refused(open(path)).contains("mount point"))
      val inside = s"$path/t"
      rows(0, 40, 2).write.parquet(inside)
      rewriteAll(open(inside))
      assert(ids(inside) == forty)
    } finally run("umount", path)
  }

  test("an exchange never copies to another volume") {
    val shm = new File("/dev/shm")
    val other = Option(shm).filter(d => d.isDirectory && d.canWrite)
      .filter(d => Files.getFileStore(d.toPath) != Files.getFileStore(temp))
    assume(other.isDefined, "there is no second volume here")
    val from = plain("volume")
    val to = new Path(s"file:${other.get}/zorder-${new File(from).getName}")
    intercept[java.io.IOException](FileMoves.rename(fs, new Path(s"file:$from"), to))
    assert(ids(from) == forty && !fs.exists(to))
  }

  test("a link to a table, or to a partition, is refused with its target") {
    val real = plain("real")
    val path = link(dir("link"), real)
    Seq[() => Any](
      () => open(path),
      () => Maintenance.vacuum(classic, TableRef.Location(path), Some(0.0), dryRun = false),
      () => Maintenance.rollback(classic, TableRef.Location(path))).foreach { statement =>
      val said = refused(statement())
      assert(said.contains("symbolic link") && said.contains(s"name ${Paths.get(real).toRealPath()}"), said)
    }
    spark.sql(s"CREATE TABLE t USING parquet LOCATION '$path'")
    assert(refused(openName("t")).contains(
      s"ALTER TABLE t SET LOCATION '${Paths.get(real).toRealPath()}' first"))
    val parts = partitioned("parts")
    val away = dir("away")
    new File(s"$parts/p=1").renameTo(new File(away))
    link(s"$parts/p=1", away)
    assert(refused(open(parts)).contains(away) && ids(parts) == forty && traces(parts).isEmpty)
    val below = link(dir("above"), new File(real).getParent) // a link above the table is none of it
    rewriteAll(open(s"$below/${new File(real).getName}"))
    assert(ids(real) == forty)
  }

  test("a vacuum never empties what an old directory links to") {
    val path = plain("old")
    rewriteAll(open(path))
    val old = s"${new File(path).getParent}/${traces(path).find(_.contains(".old-")).get}"
    val real = dir("behind")
    new File(old).renameTo(new File(real))
    link(old, real)
    val before = files(real)
    val said = vacuumed(TableRef.Location(path)).map(status)
    assert(said == Seq("LINK") && files(real) == before && before.size == 4)
  }
}
