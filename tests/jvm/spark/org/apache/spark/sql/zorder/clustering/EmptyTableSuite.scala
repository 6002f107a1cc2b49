package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.mark.SameOnAllLines

/** A table that waits for its first rows is no failure. */
@SameOnAllLines
class EmptyTableSuite extends AnyFunSuite with RunFixture {

  private def waits(path: Path, statement: String, words: String): Unit = {
    val before = listing(path)
    for (dry <- Seq("", " DRY RUN")) {
      val row = one(statement + dry)
      assert(status(row) === "TOO_SMALL" && reason(row).contains(words), reason(row))
    }
    assert(listing(path) === before)
  }

  test("a path without rows waits, and no copy is made of it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(100).where("id < 0").write.parquet(path.toString)
      val into = dir.resolve("copy")
      for (rest <- Seq("", " WITH (fileCount = 4, force = true)", " WITH (force = true) INTO '" + into + "'"))
        waits(path, s"ZORDER TABLE '$path' BY (a)$rest", "has no rows")
      assert(!Files.exists(into))
    }
  }

  test("a table of one row gains nothing, and its columns are not said to hold NULL alone") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(1).repartition(1).write.parquet(path.toString)
      val row = zorder(path, "BY (a, b) WITH (fileCount = 4)")
      assert(status(row) === "NO_GAIN" && !reason(row).contains("NULL alone"), reason(row))
      assert(metric[Long](row, "inputBytes") === 0 && metric[Long](row, "totalFilesSkipped") === 1)
    }
  }

  test("partitions without rows wait, also by WHERE") {
    withTempDir { dir =>
      val parts = dir.resolve("p")
      Seq(1, 2).foreach { p =>
        numbers(10).where("id < 0").write.parquet(parts.resolve(s"p=$p").toString)
      }
      waits(parts, s"ZORDER TABLE '$parts' WHERE p = 1 BY (a) WITH (fileCount = 4)", "has no rows")
    }
  }

  test("a table of the catalog waits until it has files, and files without rows are nothing to do") {
    withTempDir { dir =>
      withTable("waits") {
        spark.sql("CREATE TABLE waits (a INT, b INT) USING parquet TBLPROPERTIES ('zorder.by' = 'a, b')")
        waits(dir.resolve("t"), "ZORDER TABLE waits", "waits has no files")
        waits(dir.resolve("t"), "ZORDER TABLE waits FULL", "waits has no files")
        spark.sql("INSERT INTO waits VALUES (1, 2), (2, 3), (3, 4), (4, 5)")
        done(one("ZORDER TABLE waits WITH (fileCount = 2, force = true)"))
        spark.sql("INSERT INTO waits SELECT * FROM waits WHERE a < 0")
        assert(Seq("NOTHING_TO_DO", "DONE").contains(status(one("ZORDER TABLE waits"))))
        assert(spark.table("waits").count() === 4)
      }
    }
  }

  test("an append without rows to a table that is clustered, and partitions without rows beside others") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val run = "BY (a, b) WITH (fileCount = 4, force = true)"
      numbers(4000).selectExpr("*", "1 p").write.partitionBy("p").parquet(path.toString)
      numbers(4000).where("id < 0").write.parquet(path.resolve("p=2").toString)
      done(keepsRows(path)(zorder(path, run)))
      val before = dataFiles(path)
      numbers(4000).where("id < 0").write.mode("append").parquet(path.resolve("p=1").toString)
      val row = keepsRows(path)(zorder(path, run))
      assert(status(row) === "NOTHING_TO_DO" && reason(row).contains("no rows"), reason(row))
      assert(before.toSet.subsetOf(dataFiles(path).toSet))
      numbers(500).write.mode("append").parquet(path.resolve("p=1").toString)
      done(keepsRows(path)(zorder(path, run)))
      assert(read(path).count() === 4500)
    }
  }

  test("an append without rows is not written again because another partition has outgrown its layout") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val run = "BY (a, b) WITH (fileCount = 4, force = true)"
      numbers(8000).selectExpr("*", "1 + id % 2 p").write.partitionBy("p").parquet(path.toString)
      done(zorder(path, run))
      numbers(4000).where("id < 0").write.mode("append").parquet(path.resolve("p=1").toString)
      numbers(9000).write.mode("append").parquet(path.resolve("p=2").toString)
      def files(p: Int): Set[String] = read(path).inputFiles.filter(_.contains(s"/p=$p/")).toSet
      val (idle, grown) = (files(1), files(2))
      val row = done(keepsRows(path)(zorder(path, run)))
      assert(reason(row).contains("no rows") && metric[Long](row, "rows") === 13000, reason(row))
      assert(files(1) === idle && files(2).intersect(grown).isEmpty)
    }
  }
}
