package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/**
 * Names of columns: in another case in the catalog than in the files, as in most tables of Hive; words of SQL; names
 * that a run uses itself.
 */
class ColumnNamesSuite extends AnyFunSuite with RunFixture {
  private val eight = "WITH (fileCount = 8, pageRowLimit = 500, verify = 'checksum')"

  /** `cased` over files with the columns custId, Name, inner.kindOf. */
  private def cased(columns: String = "CUSTID INT, NAME STRING, INNER STRUCT<KINDOF: BIGINT>")(
      body: Path => Unit): Unit = withTempDir { dir =>
    withTable("cased") {
      val path = dir.resolve("t")
      numbers(8000).selectExpr("a AS custId", "s AS Name", "named_struct('kindOf', b) AS inner")
        .repartition(4).write.parquet(path.toString)
      spark.sql(s"CREATE TABLE cased ($columns) USING parquet LOCATION '$path'")
      body(path)
    }
  }

  private def rows(): Seq[String] = spark.table("cased").collect().map(_.toString).sorted.toSeq

  /** Column names in the files of the table. */
  private def spellings(): Set[Seq[String]] =
    spark.table("cased").inputFiles.map(f => spark.read.parquet(f).schema).map { s =>
      s.fieldNames.toSeq ++ s.last.dataType.asInstanceOf[org.apache.spark.sql.types.StructType].fieldNames
    }.toSet

  private def run(statement: String): Unit = {
    val before = rows()
    done(one(statement))
    assert(rows() === before && before.length >= 8000)
  }

  test(
    "the names of the files stay, whatever case the catalog and the statement have; with an index, too",
    SameOnAllLines) {
    cased() { _ =>
      spark.sql("ZORDER INDEX cased").collect()
      val dry = one(s"ZORDER TABLE cased BY (CustID, Inner.kindof) $eight DRY RUN")
      assert(share(dry, 0, "files", "now") > 0.9 && share(dry, 0, "files", "forecast") < 0.6)
      run(s"ZORDER TABLE cased BY (custid, INNER.KINDOF) $eight")
      assert(spellings() === Set(Seq("custId", "Name", "inner", "kindOf")))
      assert(shareRead(spark.table("cased"), "custid") < 0.6)
      assert(status(one(s"ZORDER TABLE cased BY (CUSTID, inner.KindOf) $eight")) === "NOTHING_TO_DO")
      assert(status(one("ZORDER TABLE cased")) === "NOTHING_TO_DO")
      val found = spark.sql("SELECT count(*) FROM cased WHERE CustId = 7 OR Name IS NULL").head().getLong(0)
      assert(found === numbers(8000).where("a = 7").count())
      assert(spark.sql("SELECT curve FROM clustering_information('cased')").head().getString(0) === "auto")
      run("ZORDER TABLE cased FULL WHERE custID >= 0 BY (NAME) WITH (fileCount = 8, bloom = 'CUSTID')")
    }
  }

  test(
    "files that disagree, since Spark appends by the catalog's names, get the catalog's names",
    SameOnAllLines) {
    cased() { _ =>
      run(s"ZORDER TABLE cased BY (custid, NAME) $eight")
      spark.sql("INSERT INTO cased SELECT CUSTID + 1000, NAME, INNER FROM cased LIMIT 2000")
      assert(spellings().size === 2)
      run(s"ZORDER TABLE cased BY (custid, NAME) $eight")
      run(s"ZORDER TABLE cased FULL BY (custid, NAME) $eight")
      assert(spellings() === Set(Seq("CUSTID", "NAME", "INNER", "KINDOF")))
    }
  }

  test(
    "a session that takes case for a difference is told so, and files with both spellings are refused",
    SameOnAllLines) {
    cased() { path =>
      withConf("spark.sql.caseSensitive" -> "true") {
        val why = "Column CUSTID of the table is spelt custId in file"
        refused(path, "ZORDER TABLE cased BY (CUSTID) WITH (fileCount = 8, force = true)", why)
      }
      run(s"ZORDER TABLE cased BY (CUSTID) $eight")
    }
    withTempDir { dir =>
      withTable("cased") {
        val path = dir.resolve("t")
        withConf("spark.sql.caseSensitive" -> "true") {
          numbers(8000).selectExpr("a AS custId", "b AS custID").repartition(4).write.parquet(path.toString)
        }
        spark.sql(s"CREATE TABLE cased (CUSTID INT) USING parquet LOCATION '$path'")
        refused(
          path,
          "ZORDER TABLE cased BY (CUSTID) WITH (fileCount = 8, force = true)",
          "custId and custID")
      }
    }
  }

  private def long(name: String): Seq[Tag] = LongTest.unless(name == "NULL" || name == "interval")

  for (name <- Seq("NULL", "true", "current_date", "interval", "case", "user", "date", "100", "`"))
    test(s"a column named $name: later statements read back what the run stored", long(name): _*) {
      withTempDir { dir =>
        val (path, column) = (dir.resolve("t"), "`" + name.replace("`", "``") + "`")
        numbers(2000).selectExpr("id", "a", s"b AS $column").repartition(4).write.parquet(path.toString)
        val run = "WITH (fileCount = 4, force = true)"
        keepsRows(path)(done(zorder(path, s"BY ($column, a) $run")))
        for (strict <- Seq("true", "false"))
          withConf("spark.sql.ansi.enabled" -> strict, "spark.sql.ansi.enforceReservedKeywords" -> strict) {
            assert(status(zorder(path, run)) === "NOTHING_TO_DO")
            assert(spark.sql(s"SELECT * FROM clustering_information('$path')").count() > 0)
          }
        spark.sql(s"ZORDER INDEX '$path'").collect()
        val file = s"SELECT count(DISTINCT zorder_file('path:$path', $column, a)) FROM parquet.`$path`"
        assert(spark.sql(file).head().getLong(0) === 4)
        assert(status(one(s"ZORDER ROLLBACK '$path'")) === "ROLLED_BACK")
      }
    }

  test(
    "a column named as Spark's own of files: a sample takes rows by their place all the same",
    SameOnAllLines) {
    for (column <- Seq("b", "named_struct('row_index', 7)")) withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 260000, 1, 4).selectExpr(
        "id",
        "cast(pmod(xxhash64(id, 1), 1000) as int) a",
        "pmod(xxhash64(id, 2), 1000) b").selectExpr("id", "a", s"$column AS _metadata")
        .write.parquet(path.toString)
      val row = done(zorder(path, "FULL BY (a) WITH (fileCount = 8, verify = 'checksum')"))
      assert(metric[Long](row, "sampledRows") < 230000 && metric[Long](row, "sampledRows") > 170000)
      assert(spark.read.parquet(path.toString).count() === 260000)
    }
  }

  test("names of a run's own columns are refused before any work", SameOnAllLines) {
    for (name <- Seq("_zorder_route", "_zorder_seed", "_ZORDER_position", "_zorder_path"))
      withTempDir { dir =>
        val path = dir.resolve("t")
        numbers(2000).selectExpr("id", "a", s"b AS $name").repartition(2).write.parquet(path.toString)
        val why = Seq(name, "a name that a run needs", "rename it")
        refused(path, s"ZORDER TABLE '$path' BY (id, a) WITH (fileCount = 4, force = true)", why: _*)
        refused(path, s"ZORDER TABLE '$path' FULL BY ($name, a) WITH (fileCount = 4)", why: _*)
      }
  }

  test("defaults of the catalog's columns: a run by the name keeps them, one by the path is refused") {
    withTempDir { dir =>
      withTable("defaults") {
        val path = dir.resolve("t")
        spark.sql(s"CREATE TABLE defaults (id BIGINT) USING parquet LOCATION '$path'")
        spark.sql("INSERT INTO defaults SELECT id FROM range(100)")
        spark.sql("ALTER TABLE defaults ADD COLUMN c BIGINT DEFAULT 5")
        spark.sql("INSERT INTO defaults SELECT id, 7 FROM range(100, 200)")
        def sums = spark.sql("SELECT count(*), sum(c) FROM defaults").head().toSeq
        assert(sums === Seq(200L, 1200L))
        val e = intercept[ZOrderException](zorder(path, "FULL BY (id)"))
        assert(
          e.condition === "ZORDER_TABLE_REFUSED.DEFAULTS_BY_PATH" && e.getMessage.contains("name the table"))
        done(one("ZORDER TABLE defaults FULL BY (id) WITH (verify = 'checksum')"))
        assert(sums === Seq(200L, 1200L))
      }
    }
  }

  test("defaults of a table whose partitions are listed and not in the catalog: a run keeps them, too") {
    withTempDir { dir =>
      withTable("listed") {
        withConf("spark.sql.hive.manageFilesourcePartitions" -> "false") {
          val path = dir.resolve("t")
          spark.sql("CREATE TABLE listed (id BIGINT, p INT) USING parquet PARTITIONED BY (p) " +
            s"LOCATION '$path'")
          spark.sql("INSERT INTO listed SELECT id, id % 2 FROM range(100)")
          spark.sql("ALTER TABLE listed ADD COLUMN c BIGINT DEFAULT 5")
          spark.sql("INSERT INTO listed SELECT id, 7, id % 2 FROM range(100, 200)")
          def sums = spark.sql("SELECT count(*), sum(c), sum(p) FROM listed").head().toSeq
          assert(sums === Seq(200L, 1200L, 100L))
          done(one("ZORDER TABLE listed FULL BY (id) WITH (verify = 'checksum')"))
          assert(sums === Seq(200L, 1200L, 100L))
        }
      }
    }
  }

  test("columns that Spark makes of directories, though the catalog names no partitions, keep their values") {
    withTempDir { dir =>
      withTable("inferred") {
        val path = dir.resolve("t")
        for (a <- 1 to 2) spark.range(0, 100, 1, 2).write.parquet(s"$path/a=$a")
        spark.sql(s"CREATE TABLE inferred (id BIGINT, a INT) USING parquet LOCATION '$path'")
        def sums = spark.sql("SELECT count(*), sum(a) FROM inferred").head().toSeq
        assert(sums === Seq(200L, 300L))
        val e = intercept[ZOrderException](one("ZORDER TABLE inferred FULL BY (id) WITH (location = 'move')"))
        assert(e.condition === "ZORDER_TABLE_REFUSED.PARTITIONS_NOT_DECLARED")
        assert(e.getMessage.contains("directories such as a=") && e.getMessage.contains("PARTITIONED BY (a)"))
        done(one("ZORDER TABLE inferred FULL BY (id) WITH (verify = 'checksum')"))
        assert(sums === Seq(200L, 300L))
        val columns = spark.table("inferred").inputFiles.map(f => spark.read.parquet(f).columns.toSeq)
        assert(columns.toSet === Set(Seq("id")))
      }
    }
  }

  test("a default that a file has brought along from another table is none of this one's") {
    withTempDir { dir =>
      withTable("source", "plain") {
        val path = dir.resolve("t")
        spark.sql(s"CREATE TABLE source (id BIGINT, c BIGINT DEFAULT 5) USING parquet LOCATION '$dir/source'")
        spark.sql("INSERT INTO source SELECT id, 7 FROM range(100, 200)")
        spark.sql(s"CREATE TABLE plain (id BIGINT) USING parquet LOCATION '$path'")
        spark.sql("INSERT INTO plain SELECT id FROM range(100)")
        spark.sql("ALTER TABLE plain ADD COLUMN c BIGINT")
        spark.table("source").write.mode("append").parquet(path.toString)
        spark.sql("REFRESH TABLE plain")
        def sums = spark.sql("SELECT count(*), count(c), sum(c) FROM plain").head().toSeq
        assert(sums === Seq(200L, 100L, 700L))
        done(one("ZORDER TABLE plain FULL BY (id) WITH (verify = 'checksum')"))
        assert(sums === Seq(200L, 100L, 700L))
      }
    }
  }

  test("a default has microseconds though the files' own timestamps have milliseconds") {
    withTempDir { dir =>
      withTable("millis") {
        val path = dir.resolve("t")
        withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MILLIS") {
          spark.sql(s"CREATE TABLE millis (id BIGINT, at TIMESTAMP) USING parquet LOCATION '$path'")
          spark.sql("INSERT INTO millis SELECT id, timestamp_millis(id) FROM range(100)")
        }
        spark.sql("ALTER TABLE millis ADD COLUMN u TIMESTAMP DEFAULT TIMESTAMP'2026-01-01 00:00:00.123456'")
        def us = spark.sql("SELECT DISTINCT date_format(u, 'SSSSSS') FROM millis").head().getString(0)
        assert(us === "123456")
        val refused = intercept[ZOrderException](one("ZORDER TABLE millis FULL BY (id)"))
        assert(refused.getMessage.contains("TIMESTAMP(MILLIS,true)"), refused)
        done(one("ZORDER TABLE millis FULL BY (id) WITH (timestampType = 'micros')"))
        assert(us === "123456")
      }
    }
  }
}
