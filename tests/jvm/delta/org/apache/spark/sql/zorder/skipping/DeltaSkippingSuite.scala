package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.apache.commons.io.FileUtils
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.{DeltaLog, OptimisticTransaction}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.functions.desc
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.zorder.skipping.scan.NarrowedFileIndex
import sparkzorder.{LongTest, SameOnAllLines}

/** Queries of Delta tables open fewer files than Delta plans, by the bounds in its log, and without an index. */
class DeltaSkippingSuite extends AnyFunSuite with NarrowedTables {

  private val topRows = Seq(
    "SELECT * FROM <t> ORDER BY ts DESC LIMIT 10" -> 1,
    "SELECT * FROM <t> ORDER BY id LIMIT 100" -> 1,
    "SELECT * FROM <t> ORDER BY id LIMIT 101" -> 2,
    "SELECT id + 1 x FROM (SELECT id, ts AS at FROM <t>) ORDER BY at DESC, x LIMIT 10" -> 1,
    "SELECT * FROM <t> ORDER BY ts DESC, r LIMIT 100 OFFSET 50" -> 2,
    "SELECT n FROM <t> ORDER BY n LIMIT 10" -> 1,
    "SELECT n FROM <t> ORDER BY n LIMIT 101" -> 2,
    "SELECT n FROM <t> ORDER BY n NULLS LAST LIMIT 101" -> 2,
    "SELECT n FROM <t> ORDER BY n DESC NULLS FIRST LIMIT 10" -> 1,
    "SELECT n FROM <t> ORDER BY n DESC LIMIT 600" -> 6,
    "SELECT * FROM <t> WHERE id BETWEEN 100 AND 599 ORDER BY ts DESC LIMIT 10" -> 1,
    "SELECT * FROM <t> WHERE id >= 300 AND r > 0 ORDER BY ts LIMIT 10" -> 7,
    "SELECT * FROM <t> WHERE r = 1 ORDER BY ts DESC LIMIT 10" -> 10,
    "SELECT * FROM <t> ORDER BY abs(id) LIMIT 5" -> 10,
    "SELECT * FROM <t> ORDER BY id LIMIT 10000" -> 10)

  test("the first rows of an order are in few files", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      quick(check(path, topRows: _*))
      // with generated code, too
      check(path, topRows.head)
      withConf("spark.sql.files.ignoreMissingFiles" -> "true")(
        check(path, "SELECT * FROM <t> ORDER BY ts DESC LIMIT 10" -> 10))
      withConf("spark.zorder.skipping.maxMemory" -> "1") {
        table(dir.resolve("other"))
        check(dir.resolve("other"), "SELECT * FROM <t> ORDER BY ts DESC LIMIT 10" -> 10)
      }
    }
  }

  test("partitions that a filter leaves out do not count, nor does an order by them", SameOnAllLines) {
    assume(clusterBy.isEmpty, "a liquid table has no partitions")
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(0, 10).selectExpr("*", "id div 500 part").write.format("delta").partitionBy("part")
        .save(path.toString)
      quick(check(
        path,
        "SELECT id FROM <t> ORDER BY id DESC LIMIT 10" -> 1,
        "SELECT id FROM <t> WHERE part = 0 ORDER BY id DESC LIMIT 10" -> 1,
        "SELECT id FROM <t> WHERE part = 0 AND id < 200 ORDER BY id DESC LIMIT 10" -> 1,
        "SELECT id FROM <t> WHERE part = 0 AND id IN (7, 423)" -> 2,
        "SELECT id FROM <t> ORDER BY part DESC, id LIMIT 10" -> 10,
        // Spark moves no filter below a column that is not deterministic, so Delta's list has the files of both
        "SELECT id, f FROM (SELECT *, input_file_name() f FROM <t>) WHERE part = 1 ORDER BY id LIMIT 10" -> 10
      ))
      opens(on(path, "SELECT id FROM <t> WHERE part = 0 OR id < 700 ORDER BY id DESC LIMIT 10"))
    }
  }

  test("deleted rows do not count towards the first rows", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path, "enableDeletionVectors" -> "true")
      quick(check(path, "SELECT id FROM <t> ORDER BY id DESC LIMIT 6" -> 1))
      // ninety-five rows of the last file, half of the file of NULLs
      on(path, "DELETE FROM <t> WHERE id BETWEEN 900 AND 994 OR id BETWEEN 400 AND 449")
      assert(vectors(path) === 2)
      quick(check(
        path,
        "SELECT id FROM <t> ORDER BY id DESC LIMIT 5" -> 1,
        "SELECT id FROM <t> ORDER BY id DESC LIMIT 6" -> 2,
        "SELECT id FROM <t> ORDER BY id DESC LIMIT 106" -> 3,
        "SELECT n FROM <t> ORDER BY n LIMIT 50" -> 1,
        "SELECT n FROM <t> ORDER BY n LIMIT 51" -> 2,
        "SELECT id FROM <t> WHERE id IN (7, 950, 997)" -> 2
      ))
    }
  }

  test("a copy of the directory that is put back, and deletes other rows in a version of the same number") {
    withTempDir { dir =>
      val (path, kept) = (dir.resolve("t"), dir.resolve("kept"))
      table(path, "enableDeletionVectors" -> "true")
      FileUtils.copyDirectory(path.toFile, kept.toFile)
      on(path, "DELETE FROM <t> WHERE id = 0")
      quick(check(path, "SELECT id FROM <t> ORDER BY id LIMIT 10" -> 1))
      FileUtils.deleteDirectory(path.toFile)
      FileUtils.copyDirectory(kept.toFile, path.toFile)
      DeltaLog.clearCache()
      on(path, "DELETE FROM <t> WHERE id BETWEEN 0 AND 94")
      quick(check(path, "SELECT id FROM <t> ORDER BY id LIMIT 10" -> 2))
    }
  }

  test("the number of NULLs of a file counts no more once rows of it are deleted", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path, "enableDeletionVectors" -> "true")
      on(path, "DELETE FROM <t> WHERE m BETWEEN 900 AND 990")
      assert(vectors(path) === 1)
      quick(check(
        path,
        "SELECT m FROM <t> ORDER BY m DESC NULLS LAST LIMIT 10" -> 2,
        // five values are left, and the log does not tell
        "SELECT m FROM <t> ORDER BY m DESC NULLS LAST LIMIT 5" -> 2))
      val valued = dir.resolve("valued")
      table(valued, "enableDeletionVectors" -> "true")
      // as many rows are left as there were NULLs, and none of these
      on(valued, "DELETE FROM <t> WHERE m IS NULL AND id >= 900")
      assert(vectors(valued) === 1)
      quick(check(valued, "SELECT m FROM <t> ORDER BY m DESC NULLS LAST LIMIT 10" -> 2))
    }
  }

  test("files without bounds are read and do not count", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      withConf("spark.databricks.delta.stats.collect" -> "false")(saved(ids(1000, 1), path))
      val query = "SELECT id FROM <t> ORDER BY id DESC LIMIT 10"
      quick(check(path, query -> 2, "SELECT id FROM <t> WHERE id IN (3, 907)" -> 3))
      def indexed(columns: Int) =
        on(path, s"ALTER TABLE <t> SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '$columns')")
      // Delta refuses a liquid table whose own columns have no statistics
      if (clusterBy.isEmpty) {
        indexed(0)
        saved(ids(1100, 1), path)
        indexed(32)
        quick(check(path, query -> 3))
      }
    }
  }

  test(
    "columns are known by what they are in files: added later, renamed, swapped, added again",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // b first: Delta drops no column of liquid clustering
      saved(spark.range(0, 1000, 1, 10).selectExpr("-id b", "id"), path, "columnMapping.mode" -> "name")
      def alter(change: String) = on(path, s"ALTER TABLE <t> $change")
      quick {
        check(path, "SELECT b FROM <t> ORDER BY b LIMIT 10" -> 1)
        alter("RENAME COLUMN id TO `i d`")
        check(path, "SELECT `i d` FROM <t> ORDER BY `i d` DESC LIMIT 10" -> 1)
        alter("RENAME COLUMN `i d` TO c")
        alter("RENAME COLUMN b TO id")
        alter("RENAME COLUMN c TO b")
        check(
          path,
          "SELECT id FROM <t> ORDER BY id LIMIT 10" -> 1,
          "SELECT id FROM <t> WHERE id IN (-3, -907)" -> 2,
          "SELECT b FROM <t> ORDER BY b LIMIT 10" -> 1)
        alter("DROP COLUMN b")
        alter("ADD COLUMN b BIGINT")
        saved(spark.range(1000, 1100, 1, 1).selectExpr("-id id", "id b"), path)
        // old files have no statistics of it
        check(
          path,
          "SELECT b FROM <t> ORDER BY b DESC LIMIT 10" -> 11,
          "SELECT b FROM <t> WHERE b IN (7, 1003)" -> 11,
          "SELECT id FROM <t> ORDER BY id LIMIT 10" -> 1)
      }
    }
  }

  test("columns whose bounds cannot be trusted are not asked", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      quick(check(
        path,
        "SELECT d FROM <t> ORDER BY d DESC LIMIT 10" -> 10,
        "SELECT url FROM <t> ORDER BY url DESC LIMIT 10" -> 10,
        "SELECT s FROM <t> ORDER BY s DESC LIMIT 10" -> 1,
        "SELECT w FROM <t> ORDER BY w DESC LIMIT 10" -> 1,
        "SELECT day FROM <t> ORDER BY day DESC LIMIT 10" -> 1
      ))
      val plain = dir.resolve("plain")
      // what the log has of these keeps the files apart, and still counts for nothing
      saved(
        spark.range(0, 40, 1, 4).selectExpr(
          "cast(id as double) d",
          "concat(lpad(cast(id as string), 6, '0'), repeat('x', 40)) url"),
        plain)
      quick(check(
        plain,
        "SELECT d FROM <t> ORDER BY d DESC LIMIT 3" -> 4,
        "SELECT url FROM <t> ORDER BY url DESC LIMIT 3" -> 4))
      val odd = dir.resolve("odd")
      // the log has another character in place of bytes that are no text
      saved(
        spark.range(0, 40, 1, 4).selectExpr(
          "if(id = 33, cast(concat(X'61', X'FFFFFF') as string), concat('b', id div 10)) s"),
        odd)
      opens(on(odd, "SELECT hex(s) FROM (SELECT s FROM <t> ORDER BY s LIMIT 1)"))
      val padded = dir.resolve("padded")
      on(padded, "CREATE TABLE <t> (c CHAR(5), v VARCHAR(5)) USING delta")
      on(
        padded,
        "INSERT INTO <t> SELECT concat('c', id div 10), concat('v', id div 10) FROM range(0, 40, 1, 4)")
      quick(check(
        padded,
        "SELECT c FROM <t> ORDER BY c DESC LIMIT 3" -> 4,
        "SELECT v FROM <t> ORDER BY v DESC LIMIT 3" -> 4))
    }
  }

  test("a column of a widened type is not asked") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(
        spark.range(0, 40, 1, 4).selectExpr("cast(id as smallint) i", "id"),
        path,
        "enableTypeWidening" -> "true")
      on(path, "ALTER TABLE <t> ALTER COLUMN i TYPE INT")
      quick(check(
        path,
        "SELECT i FROM <t> ORDER BY i DESC LIMIT 3" -> 4,
        "SELECT id FROM <t> ORDER BY id DESC LIMIT 3" -> 1))
    }
  }

  test("moments between whole milliseconds are found, whatever way files keep them", SameOnAllLines) {
    for (stored <- Seq("INT96", "TIMESTAMP_MICROS"))
      withConf("spark.sql.parquet.outputTimestampType" -> stored)(withTempDir { dir =>
        val path = dir.resolve("t")
        saved(
          spark.range(0, 40, 1, 4).selectExpr(
            "id",
            "timestamp_micros(1577836800000000 + id * 1000000 + 999) ts"),
          path)
        quick(check(
          path,
          "SELECT id FROM <t> WHERE ts IN (TIMESTAMP'2020-01-01 00:00:09.000999', " +
            "TIMESTAMP'2020-01-01 00:00:39.000999')" -> 2,
          "SELECT id FROM <t> WHERE ts IN (TIMESTAMP'2020-01-01 00:00:09.000999', " +
            "TIMESTAMP'2020-01-01 00:00:15')" -> 2,
          "SELECT ts FROM <t> ORDER BY ts LIMIT 3" -> 1,
          "SELECT ts FROM <t> ORDER BY ts DESC LIMIT 3" -> 1
        ))
      })
  }

  test(
    "moments whose offset has seconds are found, though the log leaves the seconds out",
    SameOnAllLines,
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      for ((zone, moment) <- Seq("America/Sao_Paulo" -> "1900-01-01", "Africa/Monrovia" -> "1971-12-31"))
        withConf("spark.sql.session.timeZone" -> zone) {
          val old = spark.range(1).selectExpr("id", s"timestamp'$moment 00:00:00' ts")
          saved(old, path)
          saved(
            spark.range(0, 20, 1, 2).selectExpr(
              "id",
              "timestamp'2024-01-01' + make_interval(0, 0, 0, id) ts"),
            path)
          quick {
            assert(opens(on(
              path,
              "SELECT id FROM <t> WHERE date_trunc('YEAR', ts) = " +
                s"timestamp'${moment.take(4)}-01-01'")) >= 1)
            assert(on(
              path,
              s"SELECT id FROM <t> WHERE cast(ts as string) = '$moment 00:00:00'").count() === 1)
          }
          val keys = dir.resolve(s"keys $moment").toString
          old.select("ts").write.parquet(keys)
          spark.read.parquet(keys).createOrReplaceTempView("few_keys")
          assert(on(path, "SELECT t.id FROM <t> t JOIN few_keys k ON t.ts = k.ts").count() === 1)
        }
    }
  }

  test("a maximum that was cut within 32 characters is not an end of the values") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val emoji = "repeat(decode(X'F09F9880', 'UTF-8'), 16)"
      val highest = s"concat($emoji, decode(X'F48FBFBF', 'UTF-8'), 'a')"
      saved(
        spark.range(0, 1, 1, 1).selectExpr("id", s"cast(concat(cast($emoji as binary), X'FF') as string) c"),
        path)
      saved(spark.range(1, 2, 1, 1).selectExpr("id", s"$highest c"), path)
      assert(on(path, "SELECT id FROM <t> ORDER BY c DESC LIMIT 1").head().getLong(0) === 0)
    }
  }

  test("a list of values opens the files that have them, and a function of a column its range") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(
        spark.range(0, 1280, 1, 64).selectExpr(
          "id",
          "timestamp_seconds(1577836800 + id) ts",
          "cast(id as int) i"),
        path)
      val many = (0 until 300).map(n => n % 60 + 1200 * (n % 2)).mkString(", ")
      quick(check(
        path,
        "SELECT * FROM <t> WHERE id IN (1, 333, 640, 641, 1279)" -> 4,
        "SELECT * FROM <t> WHERE i IN (1, 333, 640, 641, 1279)" -> 4,
        s"SELECT * FROM <t> WHERE id IN ($many)" -> 6,
        "SELECT * FROM <t> WHERE id = 5 OR id IN (640, 1279)" -> 3,
        "SELECT * FROM <t> WHERE date_trunc('MINUTE', ts) = TIMESTAMP'2020-01-01 00:05:00'" -> 3
      ))
    }
  }

  private val (found, small) = (3, 1)

  private val joins = Seq(
    "SELECT * FROM <t> t JOIN small ON t.id = small.id" -> (found + small),
    "SELECT * FROM small JOIN <t> t ON t.id = small.id" -> (found + small),
    "SELECT t.* FROM <t> t LEFT SEMI JOIN small ON t.id = small.id" -> (found + small),
    "SELECT * FROM <t> WHERE id IN (SELECT id FROM small)" -> (found + small),
    "SELECT * FROM <t> t JOIN small ON t.s = small.s" -> (found + small),
    "SELECT * FROM <t> t LEFT JOIN small ON t.id = small.id" -> (10 + small),
    "SELECT * FROM <t> t LEFT ANTI JOIN small ON t.id = small.id" -> (10 + small),
    "SELECT * FROM <t> t FULL JOIN small ON t.id = small.id" -> (10 + small),
    "SELECT * FROM <t> t JOIN small ON t.d = small.d" -> (10 + small))

  test(
    "a broadcast join opens the files that have its keys, and no outer join leaves out any",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path, "enableDeletionVectors" -> "true")
      on(path, "DELETE FROM <t> WHERE id = 18")
      // in a file, so that the optimizer does not know the keys
      spark.sql(
        "SELECT id, concat('k', lpad(cast(id as string), 6, '0')) s, cast(id as double) d " +
          "FROM VALUES (17L), (18L), (317L), (318L), (912L), (-5L), (null) AS v(id)").coalesce(1)
        .write.parquet(dir.resolve("small").toString)
      spark.read.parquet(dir.resolve("small").toString).createOrReplaceTempView("small")
      quick(check(path, joins: _*))
      withConf("spark.sql.adaptive.enabled" -> "false")(check(path, joins.head._1 -> (10 + small)))
    }
  }

  /** A few rows in a file, so that the optimizer does not know them. */
  private def inFile(dir: Path, name: String, values: String): Unit = {
    spark.sql(s"SELECT * FROM VALUES $values").coalesce(1).write.parquet(dir.resolve(name).toString)
    spark.read.parquet(dir.resolve(name).toString).createOrReplaceTempView(name)
  }

  test("a dimension of a dimension and EXISTS decide which files are opened", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path, "enableDeletionVectors" -> "true")
      on(path, "DELETE FROM <t> WHERE id = 318")
      inFile(dir, "shops", "(17L, 1), (317L, 2), (318L, 2), (912L, 3), (null, 2) AS v(id, region)")
      inFile(dir, "regions", "(1, 'a'), (2, 'b'), (3, 'c'), (null, 'b') AS v(region, name)")
      quick(check(
        path,
        "SELECT t.* FROM <t> t JOIN shops s ON t.id = s.id JOIN regions r ON s.region = r.region WHERE name = 'b'" ->
          (1 + 2),
        "SELECT t.* FROM <t> t JOIN shops s ON t.id = s.id LEFT JOIN regions r ON s.region = r.region AND name = 'b'" ->
          (3 + 2),
        "SELECT t.* FROM <t> t LEFT JOIN shops s ON t.id = s.id LEFT JOIN regions r ON s.region = r.region" ->
          (10 + 2),
        "SELECT * FROM <t> t WHERE EXISTS (SELECT 1 FROM shops s WHERE s.id = t.id AND region = 2)" -> (1 + 1),
        "SELECT * FROM <t> t WHERE NOT EXISTS (SELECT 1 FROM shops s WHERE s.id = t.id AND region = 2)" -> (10 + 1)
      ))
    }
  }

  test("a large table that is shuffled waits for few keys, and opens their files", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(ids(0, 40), path, "enableDeletionVectors" -> "true")
      on(path, "DELETE FROM <t> WHERE id = 1018")
      inFile(dir, "shops", "(17L, 1), (1018L, 2), (317L, 2), (3912L, 3), (null, 2) AS v(id, region)")
      saved(spark.table("shops"), dir.resolve("shops_of_delta"))
      val other = s"delta.`${dir.resolve("shops_of_delta")}`"
      def of(query: String): Long = {
        assert(opens(on(path, query)) >= 0)
        val df = on(path, query)
        df.collect()
        openedOf("t", df)
      }
      quick(shuffled {
        assert(of("SELECT t.* FROM <t> t JOIN shops s ON t.id = s.id WHERE region = 2") === 2)
        assert(of(s"SELECT t.* FROM <t> t JOIN $other s ON t.id = s.id WHERE region = 2") === 2)
        assert(
          of(s"SELECT t.* FROM $other s JOIN <t> t ON t.id = s.id WHERE region = 2 AND t.id < 30000") === 2)
        Seq(
          "SELECT t.* FROM <t> t LEFT JOIN (SELECT * FROM shops WHERE region = 2) s ON t.id = s.id",
          "SELECT t.* FROM <t> t LEFT ANTI JOIN (SELECT * FROM shops WHERE region = 2) s ON t.id = s.id",
          "SELECT a.* FROM <t> a JOIN <t> b ON a.id = b.id JOIN shops s ON a.id = s.id WHERE region = 2"
        ).foreach(query => assert(of(query) >= 40, query))
      })
    }
  }

  private val severalScans = Seq(
    "SELECT a.id, b.r FROM <t> a JOIN <t> b ON a.id = b.id WHERE b.id IN (3, 907)",
    "SELECT a.id FROM (SELECT * FROM <t> ORDER BY ts LIMIT 5) a JOIN (SELECT * FROM <t> ORDER BY ts LIMIT 150) b " +
      "ON a.id = b.id",
    "WITH c AS (SELECT id, r FROM <t> ORDER BY ts DESC LIMIT 5) SELECT * FROM c x JOIN c y ON x.id = y.id",
    "WITH c AS (SELECT r, count(*) n FROM <t> WHERE id IN (3, 907) GROUP BY r) SELECT * FROM c UNION ALL SELECT * FROM c",
    "SELECT (SELECT max(id) FROM <t> WHERE id IN (3, 905)) a, (SELECT min(id) FROM <t> WHERE id IN (500, 901)) b",
    "SELECT (SELECT sum(id) FROM (SELECT id FROM <t> ORDER BY ts DESC LIMIT 5)) a, " +
      "(SELECT sum(id) FROM (SELECT id FROM <t> ORDER BY ts DESC LIMIT 150)) b",
    "SELECT id FROM <t> WHERE id > (SELECT max(id) - 3 FROM <t> WHERE id IN (3, 907)) ORDER BY id LIMIT 5",
    "(SELECT id FROM <t> ORDER BY ts LIMIT 5) UNION ALL (SELECT id FROM <t> ORDER BY ts DESC LIMIT 5)"
  )

  test("scans of one table in one query keep what is their own", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      quick(severalScans.foreach(q => assert(opens(on(path, q)) < 20, q)))
      quick(check(path, severalScans.last -> 2))
    }
  }

  test("an earlier version is narrowed by its own files", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      on(path, "DELETE FROM <t> WHERE id >= 900")
      saved(ids(1000, 2), path)
      def version(n: Int) = spark.read.format("delta").option("versionAsOf", n.toLong).load(path.toString)
      quick {
        for ((n, greatest) <- Seq(0 -> 999L, 1 -> 899L, 2 -> 1199L)) {
          def top = version(n).selectExpr("id").orderBy(desc("id")).limit(3)
          assert(opens(top) === 1)
          assert(top.collect().map(_.getLong(0)).max === greatest)
        }
        check(path, "SELECT id FROM <t> VERSION AS OF 0 ORDER BY id DESC LIMIT 3" -> 1)
      }
    }
  }

  private val statements = Seq(
    "DELETE FROM <t> WHERE id IN (17, 317, 912, 5000)",
    "UPDATE <t> SET r = 100 WHERE id IN (18, 913)",
    "MERGE INTO <t> t USING (SELECT id FROM <t> ORDER BY ts DESC LIMIT 5) s ON t.id = s.id " +
      "WHEN MATCHED THEN UPDATE SET r = 200",
    "MERGE INTO <t> t USING (SELECT id + 600 AS id FROM <t> WHERE id IN (3, 250, 390, 391, 450)) s ON t.id = s.id " +
      "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, r) VALUES (s.id, 300)",
    "INSERT INTO <t> SELECT id + 5000, ts, n, m, d, s, url, day, w, r FROM <t> ORDER BY ts DESC LIMIT 5",
    "DELETE FROM <t> WHERE date_trunc('MINUTE', ts) = TIMESTAMP'2020-01-01 00:05:00'")

  for (withVectors <- Seq("true", "false"))
    test(
      s"DELETE, UPDATE, MERGE and INSERT do what they do without skipping, deletion vectors: $withVectors",
      LongTest) {
      withTempDir { dir =>
        val (narrowed, whole) = (dir.resolve("narrowed"), dir.resolve("whole"))
        Seq(narrowed, whole).foreach(table(_, "enableDeletionVectors" -> withVectors))
        quick(statements.foreach { s =>
          on(narrowed, s).collect()
          withoutSkipping(on(whole, s).collect())
          assert(withoutSkipping(texts(narrowed)) === withoutSkipping(texts(whole)), s)
        })
      }
    }

  test("a query inside a transaction stays whole") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      val query = "SELECT id FROM <t> ORDER BY ts DESC LIMIT 10"
      val log = DeltaLog.forTable(spark, path.toString)
      val txn = log.startTransaction(None, Some(log.update()))
      OptimisticTransaction.withActive(txn)(quick(check(path, query -> 10)))
      quick(check(path, query -> 1))
    }
  }

  test("cached rows are those of their own query", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      def rows(query: String): Seq[String] = texts(on(path, query).collect().toSeq)
      val queries = Seq(
        "SELECT * FROM <t> WHERE id IN (3, 907)",
        "SELECT * FROM <t> WHERE id IN (3, 500)",
        "SELECT * FROM <t> ORDER BY ts LIMIT 5",
        "SELECT * FROM <t> ORDER BY ts LIMIT 150")
      quick {
        val expected = withoutSkipping(queries.map(rows))
        val cached = queries.take(1).map(on(path, _).cache()) ++ queries.slice(2, 3).map(on(path, _).cache())
        try {
          cached.foreach(_.count())
          assert(queries.map(rows) === expected)
          assert(queries.map(rows) === expected)
        } finally cached.foreach(_.unpersist())
      }
    }
  }

  test("a stream reads all of its rows, and its files are not narrowed", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      val stream = spark.readStream.format("delta").load(path.toString).where("id IN (3, 907)").select("id")
        .writeStream.format("memory").queryName("narrowed_stream").trigger(Trigger.AvailableNow())
        .option("checkpointLocation", dir.resolve("c").toString).start()
      try stream.awaitTermination()
      finally stream.stop()
      assert(texts(spark.table("narrowed_stream").collect().toSeq) === Seq("[3]", "[907]"))
    }
  }

  test("a query that is planned reads the files of that moment") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      quick {
        val df = on(path, "SELECT id FROM <t> ORDER BY id DESC LIMIT 3")
        assert(df.queryExecution.executedPlan.output.nonEmpty)
        saved(ids(1000, 2), path)
        assert(texts(df.collect().toSeq) === Seq("[997]", "[998]", "[999]") && opened(df) === 1)
        check(path, "SELECT id FROM <t> ORDER BY id DESC LIMIT 3" -> 1)
      }
    }
  }

  private def explain(path: Path, query: String): Seq[Row] =
    on(path, s"ZORDER EXPLAIN $query").collect().toSeq

  /** Whether no exchange or subquery of a query may be used twice. */
  private def alone(query: String): Boolean =
    !query.startsWith("WITH") && !query.startsWith("SELECT (") && !query.contains("> (SELECT")

  private def wholes(rows: Seq[Row]): Seq[Row] = rows.filter(r => r.isNullAt(r.fieldIndex("filter")))

  test("EXPLAIN has the files that Delta has planned, and those that the scan opens", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      quick {
        val top = explain(path, "SELECT * FROM <t> ORDER BY ts DESC LIMIT 10")
        assert(top.length === 2 && top.head.getAs[Long]("considered") === 10)
        assert(top.head.getAs[Long]("pruned") === 9 && top.head.getAs[Long]("kept") === 1)
        assert(top.last.getAs[String]("filter") === "zorder_top_rows(ts DESC NULLS LAST, 10)")
        assert(top.last.getAs[String]("pruned_by") === "top-k (9)")
        val list = explain(path, "SELECT * FROM <t> WHERE id IN (3, 333, 340)")
        assert(list.head.getAs[Long]("considered") === 4 && list.head.getAs[Long]("kept") === 2)
        assert(list.head.getAs[String]("reason") === "the format itself leaves out 6 files")
        assert(list.tail.map(_.getAs[Long]("pruned")) === Seq(2))
        assert(list.map(_.getAs[Long]("files")) === Seq(10, 10))
        assert(list.head.getAs[String]("summary").startsWith("The query opens 2 of 10 files of "))
        assert(list.head.getAs[String]("summary").endsWith(
          ": Delta keeps 4 of them, spark-zorder 2."))
        val both = explain(path, "SELECT * FROM <t> WHERE id IN (3, 333, 340) AND id > 2")
        assert(both.head.getAs[Long]("considered") === 4 && both.head.getAs[Long]("kept") === 2)
        assert(both.tail.map(_.getAs[String]("reason")).contains("left to the format's own skipping"))
        val own = explain(path, "SELECT * FROM <t> WHERE id = 3")
        assert(own.length === 1 && own.head.getAs[Long]("considered") === 1)
        assert(own.head.getAs[String]("reason").startsWith("no filter that leaves out files beyond"))
        assert(own.head.getAs[String]("summary").endsWith(": Delta keeps 1 of them."))
        withoutSkipping {
          val off = explain(path, "SELECT * FROM <t> WHERE id IN (3, 333, 340)")
          assert(off.map(_.getAs[String]("reason")) === Seq("spark.zorder.skipping.enabled is false"))
          assert(off.head.getAs[Long]("files") === 10 && off.head.getAs[Long]("kept") === 4)
        }
        val others = Seq(
          "SELECT * FROM <t> WHERE upper(s) = 'K000003' AND id IN (3, 907)",
          "SELECT * FROM <t> WHERE url IN ('x', 'y') OR id IN (3, 907)",
          "SELECT * FROM <t> WHERE id IN (3, 907) AND rand() > 2")
        (topRows.map(_._1) ++ severalScans.filter(alone) ++ others).foreach { query =>
          val told = wholes(explain(path, query)).map(_.getAs[Long]("kept")).sum
          val df = on(path, query)
          df.collect()
          assert(told === opened(df), query)
        }
      }
    }
  }

  test("what was narrowed is counted, and the index of a scan is one that narrows") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path)
      val df = on(path, "SELECT id FROM <t> ORDER BY ts DESC LIMIT 10")
      df.collect()
      // once for each time that the scan was planned
      val usage = SkippedScans.usage.find(_.table.endsWith(path.toString)).get
      assert(usage.pruned > 0 && usage.pruned * 10 === usage.considered * 9)
      val indexes = collectWithSubqueries(df.queryExecution.executedPlan) { case s: FileSourceScanExec =>
        s.relation.location.isInstanceOf[NarrowedFileIndex]
      }
      assert(indexes === Seq(true))
    }
  }
}
