package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.FileStatus
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.OtherRawFileSystem
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.skipping.index.IndexPlace
import org.apache.spark.sql.zorder.table.GuardedFileSystem
import sparkzorder.{SameOnAllLines, Steps}

/** Where indexes lie, in their tables or not, and what else lies there. */
class IndexPlaceSuite extends AnyFunSuite with SkippedScans with Steps {
  private val key = "spark.zorder.index.location"

  private def table(path: Path): Unit = {
    spark.range(0, 4000, 1, 4).selectExpr("id", "cast(id as string) s").write.parquet(path.toString)
    aged(path)
  }

  private def folders(dir: Path): Int = dir.toFile.list().length

  test("a table that nobody may write to has its index elsewhere", SameOnAllLines) {
    withTempDir { dir =>
      val (path, indexes) = (dir.resolve("t"), dir.resolve("in/dexes"))
      table(path)
      def found: Long = opens(spark.read.parquet(path.toString).where("id = 1711"))
      withConf(GuardedFileSystem.settings: _*)(GuardedFileSystem.untouched(path) {
        step("in its own place it is refused, with the setting that helps") {
          val refused = intercept[ZOrderException](spark.sql(s"ZORDER INDEX '$path'")).getMessage
          assert(refused.contains("cannot be written") && refused.contains(key) && !refused.contains("\n"))
        }
        withConf(key -> indexes.toString) {
          step("queries skip files by it") {
            val made = one(s"ZORDER INDEX '$path' WITH (bloom = 's', bloomBudget = '900%')")
            assert(status(made) === "INDEXED")
            assert(found === 1)
            assert(opens(spark.read.parquet(path.toString).where("s = '17'")) <= 2)
          }
          step("the statements of an index find it") {
            assert(status(one(s"ZORDER REFRESH INDEX '$path'")) === "REFRESHED")
            assert(spark.sql(s"ZORDER DESCRIBE INDEX '$path'").count() === 2)
            assert(spark.sql(s"ZORDER EXPLAIN SELECT * FROM parquet.`$path` WHERE id = 1711").head()
              .getAs[Long]("kept") === 1)
          }
          step("it has one folder")(assert(folders(indexes) === 1))
        }
        step("a session without the setting, or with another, does not know of it") {
          assert(found === 4)
          withConf(key -> dir.resolve("none").toString)(assert(found === 4))
        }
        step("a place in the table itself is refused")(withConf(key -> s"$path/indexes") {
          val within = intercept[ZOrderException](spark.sql(s"ZORDER INDEX '$path'")).getMessage
          assert(within.contains("take indexes for data"))
        })
        step("it is dropped with its folder")(withConf(key -> indexes.toString) {
          assert(found === 1)
          assert(status(one(s"ZORDER DROP INDEX '$path'")) === "DROPPED")
          assert(found === 4 && folders(indexes) === 0)
        })
      })
    }
  }

  test("runs keep an index elsewhere up, and it goes with our state of the table", SameOnAllLines) {
    withTempDir { dir =>
      withConf(key -> dir.resolve("indexes").toString) {
        withTable("indexed_elsewhere") {
          spark.sql(s"CREATE TABLE indexed_elsewhere USING parquet LOCATION '${dir.resolve("t").toUri}' AS " +
            "SELECT id, cast(id as string) s FROM range(0, 4000, 1, 4)")
          spark.sql("ZORDER INDEX indexed_elsewhere")
          val moves = "WITH (fileCount = 8, force = true, location = 'move')"
          spark.sql(s"ZORDER TABLE indexed_elsewhere BY (id, s) $moves")
          assert(opens(spark.table("indexed_elsewhere").where("id < 0")) === 0)
          // a table that its run has moved leaves no folder behind
          assert(folders(dir.resolve("indexes")) === 1)
          val late = dir.resolve("t/late.parquet")
          val written = dir.resolve("written")
          spark.range(1).selectExpr("id", "'a' s").coalesce(1).write.parquet(written.toString)
          Files.copy(Files.list(written).iterator.asScala.find(_.toString.endsWith(".parquet")).get, late)
          val refused = intercept[ZOrderException](spark.sql("ZORDER REMOVE indexed_elsewhere"))
          assert(refused.getMessage.contains("were written late"), refused)
          // a removal that is refused changes nothing
          assert(folders(dir.resolve("indexes")) === 1)
          Files.delete(late)
          spark.sql("ZORDER REMOVE indexed_elsewhere")
          assert(folders(dir.resolve("indexes")) === 0)
        }
      }
    }
  }

  test("an index on another file system does not go by its clock", SameOnAllLines) {
    withTempDir { dir =>
      val path = Files.createDirectory(dir.resolve("t"))
      val file = path.resolve("f.parquet")
      spark.range(0, 16, 1, 16).write.parquet(dir.resolve("rows").toString)
      val rows =
        Files.list(dir.resolve("rows")).iterator.asScala.filter(_.toString.endsWith(".parquet")).toList
      val same = rows.groupBy(Files.size(_)).values.find(_.length > 1).get
      Files.copy(same.head, file)
      withConf(
        key -> s"other://${dir.resolve("indexes")}",
        "fs.other.impl" -> classOf[AheadFileSystem].getName,
        "fs.other.impl.disable.cache" -> "true") {
        assert(status(one(s"ZORDER INDEX '$path'")) === "INDEXED")
        step("a file that is replaced within the same second is read") {
          val time = Files.getLastModifiedTime(file)
          Files.copy(same(1), file, StandardCopyOption.REPLACE_EXISTING)
          Files.setLastModifiedTime(file, time)
          val id = spark.read.parquet(same(1).toString).head().getLong(0)
          assert(opens(spark.read.parquet(path.toString).where(s"id = $id")) === 1)
        }
        step("when it is older, a refresh reads its footer") {
          aged(path)
          assert(one(s"ZORDER REFRESH INDEX '$path'").getAs[Long]("footers_read") === 1)
          assert(opens(spark.read.parquet(path.toString).where("id < 0")) === 0)
        }
      }
    }
  }

  test("a table's folder depends on nothing but where the table is") {
    def folder(root: String): String =
      IndexPlace("file:/indexes").of(new org.apache.hadoop.fs.Path(root)).toString
    assert(folder("file:/data/t") === folder("file:///data/t/"))
    val others = Seq("file:/data/t", "file:/data/t2", "s3a://b/data/t", "s3a://c/data/t", "hdfs://b/data/t")
    assert(others.map(folder).distinct.length === others.length)
    assert(folder("s3a://b/data/\u00fc = %20 t").matches("file:/indexes/[0-9a-f]{32}"))
    assert(IndexPlace("").of(new org.apache.hadoop.fs.Path("file:/data/t")).toString ===
      "file:/data/t/_zorder/index")
  }

  test("strange files where indexes lie: a high number, the last one, and a broken index", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 40, 1, 4).write.parquet(path.toString)
      index(path)
      val indexes = path.resolve("_zorder/index")
      def refused(sql: String): String = intercept[ZOrderException](spark.sql(sql)).getMessage
      step("after a broken one of a high number comes the next, and queries read it") {
        Files.write(indexes.resolve("index-999999999"), Array[Byte](1, 2, 3))
        spark.range(40, 50, 1, 1).write.mode("append").parquet(path.toString)
        aged(path)
        spark.sql(s"ZORDER REFRESH INDEX '$path'")
        assert(Files.exists(indexes.resolve("index-1000000000")))
        assert(opens(spark.read.parquet(path.toString).where("id = 45")) === 1)
        assert(one(s"ZORDER REFRESH INDEX '$path'").getAs[Long]("footers_read") === 0)
      }
      step("after the last number none can come: a sentence before any work") {
        val last = indexes.resolve("index-999999999999999999")
        Files.write(last, Array[Byte](1))
        for (statement <- Seq(s"ZORDER INDEX '$path'", s"ZORDER REFRESH INDEX '$path'"))
          assert(refused(statement).contains("index-999999999999999999 takes the last number"))
        Files.delete(last)
      }
      step("where nothing whole is left, a new index is made, and no other statement works") {
        Files.list(indexes).iterator.asScala.toSeq.filter(_.getFileName.toString.startsWith("index-"))
          .foreach(f => Files.write(f, Array[Byte](4)))
        for (statement <- Seq("REFRESH", "DESCRIBE"))
          assert(refused(s"ZORDER $statement INDEX '$path'").contains("is damaged"))
        assert(status(one(s"ZORDER INDEX '$path'")) === "INDEXED")
        assert(opens(spark.read.parquet(path.toString).where("id = 45")) === 1)
      }
    }
  }
}

/** A place of indexes whose clock is ahead of that of the tables. */
class AheadFileSystem extends OtherRawFileSystem {
  override def getFileStatus(path: org.apache.hadoop.fs.Path): FileStatus = {
    val s = super.getFileStatus(path)
    new FileStatus(s.getLen, s.isDirectory, 1, s.getBlockSize, s.getModificationTime + 10000L, s.getPath)
  }
}
