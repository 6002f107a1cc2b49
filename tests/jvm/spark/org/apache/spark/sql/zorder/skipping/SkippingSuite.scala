package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.MetadataBuilder
import org.apache.spark.sql.zorder.SharedTables
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.skipping.index.LoadedIndexes
import sparkzorder.{SameOnAllLines, Steps}

/** Queries of plain Parquet tables that have a statistics index. */
class SkippingSuite extends AnyFunSuite with SkippedScans with SharedTables with Steps {

  /** Ten files of a thousand ids each. */
  private def ids(path: Path): Unit = spark.range(0, 10000, 1, 10).selectExpr(
    "id",
    "cast(id as int) i",
    "if(id >= 9000, null, cast(id as double)) d",
    "concat('k', lpad(cast(id as string), 6, '0')) s",
    "named_struct('f', id, 'g', cast(id as string)) st",
    "date_add(date'2020-01-01', cast(id div 1000 as int)) day",
    "array(id) arr").write.parquet(path.toString)

  test("files that cannot match are not opened, whatever the filter", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      def t = spark.read.parquet(path.toString)
      assert(opens(t.where("id = 4711")) === 10)
      index(path)
      val cases = Seq(
        "id = 4711" -> 1,
        "id <=> 4711" -> 1,
        "id < 1000" -> 1,
        "id <= 1000" -> 2,
        "id >= 8999" -> 2,
        "id > 9999" -> 0,
        "id BETWEEN 500 AND 2500" -> 3,
        "id IN (1, 4711, 4712, 9999)" -> 3,
        s"id IN (${(0 until 10000 by 1000).mkString(", ")})" -> 10,
        "id = 4711 OR s = 'k000005'" -> 2,
        "id = 4711 AND s = 'k000005'" -> 0,
        "NOT (id >= 1000)" -> 1,
        "NOT (id < 9000 OR id IS NULL)" -> 1,
        "d IS NULL" -> 1,
        "d IS NOT NULL" -> 9,
        "s LIKE 'k0047%'" -> 1,
        "startswith(s, 'k00')" -> 10,
        "st.f = 2345" -> 1,
        "day = date'2020-01-06'" -> 1,
        "i = 4711L" -> 1,
        "i < 9999999999L" -> 10,
        "abs(id) = 4711" -> 10,
        "arr[0] = 4711" -> 10)
      quick(cases.foreach { case (where, files) => assert(opens(t.where(where)) === files, where) })
      assert(opens(t.where("id = 4711").union(t.where("id = 1"))) === 2)
      assert(opens(t.as("a").join(t.as("b"), "id").where("id = 4711")) === 2)
    }
  }

  test("files that are new, changed or gone since are read as they are", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path, "id")
      val files =
        Files.list(path).filter(_.toString.endsWith(".parquet")).sorted().toArray.map(_.asInstanceOf[Path])
      def t = spark.read.parquet(path.toString)
      spark.range(4711, 4712, 1, 1).selectExpr("id", "1 i").write.mode("append").parquet(path.toString)
      assert(opens(t.where("id = 4711")) === 2)
      assert(t.where("id = 4711").count() === 2)
      val (changed, gone) = (files(0), files(5))
      Files.write(changed, Files.readAllBytes(gone))
      Files.delete(changed.resolveSibling(s".${changed.getFileName}.crc"))
      changed.toFile.setLastModified(System.currentTimeMillis() - 1800000)
      Files.delete(gone)
      assert(opens(t.where("id BETWEEN 5000 AND 5999")) === 2)
      val refreshed = one(s"ZORDER REFRESH INDEX '$path'")
      assert(refreshed.getAs[Long]("files") === 10)
      assert(refreshed.getAs[Long]("footers_read") === 2)
    }
  }

  test("a file that was written while the index was made is not trusted", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      // after the index, however long a busy machine takes for it
      aged(path, millis = -60000)
      spark.sql(s"ZORDER INDEX '$path'")
      assert(opens(spark.read.parquet(path.toString).where("id = 4711")) === 10)
    }
  }

  test("an index of fresh files lives through a run, its rollback, a refresh and its end", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      step("fresh files are waited for") {
        spark.sql(s"ZORDER INDEX '$path'")
        assert(opens(spark.read.parquet(path.toString).where("id = 4711")) === 1)
      }
      step("a rollback keeps the index up") {
        spark.sql(s"ZORDER TABLE '$path' BY (i, id) WITH (fileCount = 5, force = true)")
        spark.sql(s"ZORDER ROLLBACK '$path'")
        assert(opens(spark.read.parquet(path.toString).where("id = 4711")) === 1)
        val there = one(s"ZORDER REFRESH INDEX IF EXISTS '$path'")
        assert(status(there) === "REFRESHED" && there.getAs[Long]("footers_read") === 0)
      }
      step("without an index there is nothing to refresh") {
        spark.sql(s"ZORDER DROP INDEX '$path'")
        assert(status(one(s"ZORDER REFRESH INDEX IF EXISTS '$path'")) === "NOTHING_TO_DO")
      }
    }
  }

  private lazy val partitioned: Path = {
    val path = shared.resolve("partitioned")
    spark.range(0, 8000, 1, 8).selectExpr(
      "id",
      "id div 4000 part").write.partitionBy("part").parquet(path.toString)
    index(path)
    path
  }

  test("a partitioned table that is read by its path keeps its partition pruning") {
    val path = partitioned
    def t = spark.read.parquet(path.toString)
    assert(opens(t.where("id = 4711")) === 1)
    assert(opens(t.where("part = 0")) === 4)
    assert(opens(t.where("part = 0 AND id = 4711")) === 0)
    assert(opens(t.where("part = 1 AND id >= 7000")) === 1)
    assert(opens(spark.read.parquet(path.resolve("part=1").toString).where("id = 4711")) === 1)
  }

  test("a partitioned table of the catalog keeps its partition pruning") {
    withTable("parted") {
      spark.sql("CREATE TABLE parted (id BIGINT, part BIGINT) USING parquet PARTITIONED BY (part) " +
        s"LOCATION '$partitioned'")
      spark.sql("MSCK REPAIR TABLE parted")
      assert(opens(spark.table("parted").where("part = 1 AND id >= 7000")) === 1)
      assert(opens(spark.table("parted").where("id = 17")) === 1)
    }
  }

  test(
    "a broken, cut off or foreign index means that nothing is skipped; the newest whole one counts",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path)
      def t = spark.read.parquet(path.toString)
      val folder = path.resolve("_zorder").resolve("index")
      val whole = Files.readAllBytes(folder.resolve("index-1"))
      def broken(bytes: Array[Byte]): Unit = {
        Files.write(folder.resolve("index-2"), bytes)
        Files.deleteIfExists(folder.resolve(".index-2.crc"))
        LoadedIndexes.forget(new org.apache.hadoop.fs.Path(path.toUri.toString.stripSuffix("/")))
        LoadedIndexes.forget(new org.apache.hadoop.fs.Path("file:" + path))
      }
      Seq(
        Array.emptyByteArray,
        whole.take(whole.length / 2),
        whole.drop(1),
        Array.fill[Byte](5000)(7)).foreach { bytes =>
        broken(bytes)
        assert(opens(t.where("id = 4711")) === 1)
      }
      val flipped = whole.clone()
      flipped(whole.length / 3) = (flipped(whole.length / 3) ^ 1).toByte
      broken(flipped)
      Files.delete(folder.resolve("index-1"))
      assert(Seq(1L, 10L).contains(opens(t.where("id = 4711"))))
      assert(status(one(s"ZORDER DROP INDEX '$path'")) === "DROPPED")
      assert(opens(t.where("id = 4711")) === 10)
      val refused = intercept[ZOrderException](spark.sql(s"ZORDER REFRESH INDEX '$path'"))
      assert(refused.getMessage.contains("ZORDER INDEX"))
    }
  }

  test("the rule: a file has a range only if every row group that holds a value has one") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val session = spark
      import session.implicits._
      def add(name: String, values: Seq[Double], rowsInGroup: Int): Unit =
        values.toDF("d").selectExpr("d", s"'$name' name", "cast(null as int) late").coalesce(1)
          .write.mode("append").option("parquet.block.size", "100").option("parquet.page.size", "100")
          .option("parquet.block.row.check.min", rowsInGroup.toString).parquet(path.toString)
      // a NaN clears the bounds of its row group and leaves the number of NULLs
      add("nan", (1 to 500).map(_.toDouble) ++ Seq(Double.NaN) ++ (501 to 1000).map(_.toDouble), 100)
      add("plain", (1 to 1000).map(_.toDouble), 100)
      index(path)
      def t = spark.read.parquet(path.toString)
      assert(opens(t.where("d > 2000")) === 1)
      assert(t.where("d > 2000").count() === 1)
      assert(opens(t.where("NOT d <= 2000")) === 1)
      assert(opens(t.where("d = double('NaN')")) === 1)
      assert(opens(t.where("d IS NULL")) === 0)
      assert(opens(t.where("late IS NOT NULL")) === 0)
      assert(opens(t.where("late IS NULL AND d = 1")) === 2)
    }
  }

  test("long strings, INT96 and columns that were added later are read wherever they may match") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withConf("spark.sql.parquet.outputTimestampType" -> "INT96") {
        spark.range(0, 100, 1, 1).selectExpr(
          "id",
          "repeat('x', 5000 + cast(id as int)) long",
          "timestamp_seconds(id * 86400) at").write.parquet(path.toString)
      }
      spark.range(100, 200, 1, 1).selectExpr("id", "'short' long", "timestamp_seconds(0) at", "id later")
        .write.mode("append").parquet(path.toString)
      withConf("spark.sql.parquet.mergeSchema" -> "true")(index(path))
      def t = spark.read.option("mergeSchema", "true").parquet(path.toString)
      assert(opens(t.where("long = repeat('x', 5007)")) === 1)
      assert(opens(t.where("long = 'short'")) === 2)
      assert(opens(t.where("at = timestamp_seconds(86400 * 5)")) === 2)
      assert(opens(t.where("later = 150")) === 1)
      assert(opens(t.where("later IS NULL")) === 1)
    }
  }

  test("another type, case or name in the query than in the index is not answered from it", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 4000, 1, 4).selectExpr("cast(id as int) Id", "cast(id as string) text")
        .write.parquet(path.toString)
      index(path)
      assert(opens(spark.read.parquet(path.toString).where("ID = 17")) === 1)
      withConf("spark.sql.caseSensitive" -> "true") {
        assert(opens(spark.read.parquet(path.toString).where("Id = 17")) === 4)
      }
      val cached = spark.read.parquet(path.toString).where("id = 17").cache()
      try assert(cached.count() === 1)
      finally cached.unpersist()
      assert(opens(spark.read.parquet(path.toString).selectExpr("*", "_metadata.file_name n")
        .where("n LIKE 'part-00002%' AND id >= 0")) === 1)
    }
  }

  test("a clustering run of a path keeps the index up, its rollback too", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path, "id", "i")
      def t = spark.read.parquet(path.toString)
      spark.sql(s"ZORDER TABLE '$path' BY (i, s) WITH (fileCount = 8, force = true)")
      val files = opens(t.where("i BETWEEN 100 AND 4000"))
      assert(files > 0 && files <= 4)
      assert(spark.sql(
        s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[Long]("with_ranges")).toSeq === Seq(8, 8))
      spark.sql(s"ZORDER ROLLBACK '$path'")
      assert(opens(t.where("id = 4711")) >= 1)
    }
  }

  test("a clustering run of a table of the catalog keeps the index up", SameOnAllLines) {
    withTable("kept") {
      spark.range(0, 8000, 1, 8).selectExpr("id", "cast(id as string) s").write.saveAsTable("kept")
      spark.sql("ZORDER INDEX kept")
      spark.sql("ZORDER TABLE kept BY (id, s) WITH (fileCount = 8, force = true)")
      assert(opens(spark.table("kept").where("id BETWEEN 100 AND 300")) <= 4)
      assert(opens(spark.table("kept").where("id = -1")) === 0)
    }
  }

  test("a column of a narrower type than the files have wraps around, and no row is lost") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 400, 1, 4).selectExpr(
        "cast(id as int) a",
        "cast(id as int) b").write.parquet(path.toString)
      withTable("narrow") {
        spark.sql(s"CREATE TABLE narrow (a TINYINT, b SMALLINT) USING parquet LOCATION '${path.toUri}'")
        spark.sql("ZORDER INDEX narrow")
        // 300 reads as 44 and 156 as -100: only the first file, of values below 100, is known. Parquet would look for
        // 44 in the file's own bounds, and find the row or not, as Spark sends it the filter or not
        withConf("spark.sql.parquet.filterPushdown" -> "false") {
          assert(spark.table("narrow").where("a = 44").count() === 2)
          assert(opens(spark.table("narrow").where("a = -100")) === 3)
          assert(opens(spark.table("narrow").where("b = 344")) === 1)
        }
      }
    }
  }

  test("decimals of more digits than their column has are NULL to one of Spark's readers, whatever the file counts") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 400, 1, 4).selectExpr("cast(id as int) a", "cast(id as decimal(5,2)) c").write.parquet(
        path.toString)
      withTable("narrow") {
        spark.sql(s"CREATE TABLE narrow (a INT, c DECIMAL(3,2)) USING parquet LOCATION '${path.toUri}'")
        spark.sql("ZORDER INDEX narrow")
        val queries = Seq(
          "SELECT count(c) FROM narrow",
          "SELECT count(*) FROM narrow WHERE c IS NULL",
          "SELECT a FROM narrow WHERE c IS NOT NULL ORDER BY a DESC LIMIT 3")
        def answers = queries.map(spark.sql(_).collect().toSeq)
        withConf(
          "spark.sql.parquet.enableVectorizedReader" -> "false",
          "spark.sql.parquet.filterPushdown" -> "false") {
          val plain = withoutSkipping(answers)
          assert(plain.head.head.getLong(0) < 400)
          assert(answers === plain)
        }
      }
    }
  }

  test("what cannot be indexed is refused with a sentence", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(1).selectExpr("id", "array(id) arr").write.parquet(path.toString)
      def refused(sql: String): String = intercept[ZOrderException](spark.sql(sql)).getMessage
      assert(refused(s"ZORDER INDEX '$path' COLUMNS (ids)").contains("no column ids to index"))
      assert(refused(s"ZORDER INDEX '$path' COLUMNS (arr)").contains("no bounds of arr"))
      assert(refused(s"ZORDER DESCRIBE INDEX '$path'").contains("ZORDER INDEX"))
      assert(refused(s"ZORDER REFRESH '$path'").contains("must be followed by INDEX"))
    }
  }

  test("a table that has no index has none to drop", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(1).write.parquet(path.toString)
      assert(status(one(s"ZORDER DROP INDEX '$path'")) === "NOTHING_TO_DO")
    }
  }

  test("a default stands for what old files have not got, whoever made the index") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 10, 1, 1).selectExpr("id").write.parquet(path.toString)
      spark.range(10, 20, 1, 1).selectExpr("id", "1L x").write.mode("append").parquet(path.toString)
      // by its path, where nobody knows of the default
      withConf("spark.sql.parquet.mergeSchema" -> "true")(index(path))
      assert(opens(spark.read.option("mergeSchema", "true").parquet(path.toString).where("x = 1")) === 1)
      withTable("defaulted") {
        spark.sql(s"CREATE TABLE defaulted (id BIGINT) USING parquet LOCATION '$path'")
        spark.sql("ALTER TABLE defaulted ADD COLUMN x BIGINT DEFAULT 5")
        assert(spark.table("defaulted").where("x = 5").count() === 10)
        assert(opens(spark.table("defaulted").where("x = 5")) === 2)
        assert(opens(spark.table("defaulted").where("x > 4 AND x < 6")) === 2)
        spark.sql("ZORDER INDEX defaulted")
        assert(spark.table("defaulted").where("x = 5").count() === 10)
      }
    }
  }

  test("what a Delta table called its columns is no name in plain Parquet") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def named(name: String) =
        new MetadataBuilder().putString("delta.columnMapping.physicalName", name).build()
      // a change feed of Delta 3.3 has such columns
      spark.range(0, 100, 1, 4).select(
        col("id").as("a", named("col-1")),
        (col("id") + 1000).as("b", named("c")),
        (col("id") + 5000).as("c", named("b"))).write.parquet(path.toString)
      def t = spark.read.parquet(path.toString)
      assert(t.schema("a").metadata.contains("delta.columnMapping.physicalName"))
      index(path)
      assert(t.where("a = 5").count() === 1 && opens(t.where("a = 5")) === 1)
      assert(t.where("b = 1005").count() === 1 && t.where("c = 5005").count() === 1)
      assert(t.selectExpr("count(a)", "min(a)", "max(b)").head().toString === "[100,0,1099]")
    }
  }

  test("CHAR and VARCHAR: no row is lost") {
    withTempDir { dir =>
      withTable("chars") {
        spark.sql(
          s"CREATE TABLE chars (c CHAR(5), v VARCHAR(5), id INT) USING parquet LOCATION '${dir.resolve("c")}'")
        spark.sql("INSERT INTO chars VALUES ('a', 'a', 1), ('b', 'b', 2)")
        spark.sql("INSERT INTO chars VALUES ('c', 'c', 3)")
        aged(dir.resolve("c"))
        spark.sql("ZORDER INDEX chars")
        assert(opens(spark.table("chars").where("c = 'c'")) >= 1)
        assert(opens(spark.table("chars").where("v = 'c'")) === 1)
        assert(spark.table("chars").where("c = 'a' AND v = 'a'").count() === 1)
      }
    }
  }

  test("binary that is read as text: no row is lost") {
    withTempDir { dir =>
      val bytes = dir.resolve("b")
      spark.range(0, 4, 1, 4).selectExpr("cast(cast(id as string) as binary) b").write.parquet(bytes.toString)
      index(bytes)
      assert(opens(spark.read.parquet(bytes.toString).where("b = X'32'").selectExpr("hex(b)")) === 1)
      withConf("spark.sql.parquet.binaryAsString" -> "true") {
        assert(opens(spark.read.parquet(bytes.toString).where("b = '2'").selectExpr("hex(b)")) >= 1)
      }
    }
  }

  test("days of the old calendar: no row is lost") {
    withTempDir { dir =>
      val old = dir.resolve("old")
      withConf("spark.sql.parquet.datetimeRebaseModeInWrite" -> "LEGACY") {
        Seq("1500-01-01", "0001-01-01", "2020-01-01").foreach { d =>
          spark.sql(s"SELECT date'$d' d").coalesce(1).write.mode("append").parquet(old.toString)
        }
      }
      index(old)
      Seq("1500-01-01", "0001-01-01", "2020-01-01").foreach { d =>
        assert(spark.read.parquet(old.toString).where(s"d = date'$d'").count() === 1, d)
      }
    }
  }
}
