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

  test("no files, no rows, partitions without rows, a copy of nothing, WHERE on nothing") {
    withTempDir { dir =>
      val (path, parts) = (dir.resolve("t"), dir.resolve("p"))
      numbers(100).where("id < 0").write.parquet(path.toString)
      val into = dir.resolve("copy")
      for (rest <- Seq("", " WITH (fileCount = 4, force = true)", " WITH (force = true) INTO '" + into + "'"))
        waits(path, s"ZORDER TABLE '$path' BY (a)$rest", "has no rows")
      assert(!Files.exists(into))
      Seq(1, 2).foreach { p =>
        numbers(10).where("id < 0").write.parquet(parts.resolve(s"p=$p").toString)
      }
      waits(parts, s"ZORDER TABLE '$parts' WHERE p = 1 BY (a) WITH (fileCount = 4)", "has no rows")
      withTable("waits") {
        spark.sql("CREATE TABLE waits (a INT, b INT) USING parquet TBLPROPERTIES ('zorder.by' = 'a, b')")
        waits(path, "ZORDER TABLE waits", "waits has no files")
        waits(path, "ZORDER TABLE waits FULL", "waits has no files")
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
}
