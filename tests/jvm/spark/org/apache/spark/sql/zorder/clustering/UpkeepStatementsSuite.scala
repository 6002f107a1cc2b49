package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import sparkzorder.mark.SameOnAllLines

/** History, rollback, vacuum and removal as statements of a session. */
@SameOnAllLines
class UpkeepStatementsSuite extends AnyFunSuite with RunFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"

  /** Literal of a path in SQL. */
  private def quoted(path: Path): String = "'" + path.toString.replace("\\", "\\\\").replace("'", "\\'") + "'"

  private def history(table: String): Seq[Row] =
    spark.sql(s"SELECT * FROM zorder_history($table)").collect().toSeq

  private def parses(statement: String): Unit = {
    val plan = spark.sessionState.sqlParser.parsePlan(statement)
    assert(plan.nodeName.startsWith("ZOrder"), statement)
    ()
  }

  test("every recorded statement can be said again") {
    withTempDir { dir =>
      withTable("`1st`") {
        val path = dir.resolve("it's a \\ table")
        numbers(2000).write.parquet(path.toString)
        done(one(s"ZORDER TABLE ${quoted(path)} WHERE id >= 0 AND s <> 'x;\\'y' $run -- a comment\n;"))
        one(s"ZORDER ROLLBACK ${quoted(path)}")
        done(one(s"OPTIMIZE ${quoted(path)} FULL ZORDER BY a, b USING CURVE lexical WITH (force = true)"))
        one(s"ZORDER ROLLBACK ${quoted(path)}")
        done(one(s"ZORDER TABLE ${quoted(path)} $run INTO ${quoted(dir.resolve("copy"))}"))
        numbers(2000).write.saveAsTable("`1st`")
        done(one(s"ZORDER TABLE `1st` $run"))
        one("ZORDER ROLLBACK default.`1st`")
        val rows = history(quoted(path)) ++ history(quoted(dir.resolve("copy"))) ++ history("'`1st`'")
        val said = rows.map(_.getAs[String]("statement"))
        assert(rows.map(_.getAs[String]("operation")).count(_ == "ROLLBACK") === 3 && rows.length === 7)
        said.foreach(parses)
        assert(said(1) === s"ZORDER ROLLBACK ${quoted(path)}")
        assert(said.last === "ZORDER ROLLBACK default.`1st`")
      }
    }
  }

  // Spark takes functions of extensions in temporary views alone
  test("a function in a view means a table of the database in which the view was made") {
    spark.sql("CREATE DATABASE viewed")
    try {
      spark.sql("USE viewed")
      numbers(2000).write.saveAsTable("seen_t")
      done(one(s"ZORDER TABLE seen_t $run"))
      spark.sql("CREATE TEMPORARY VIEW seen_runs AS SELECT * FROM zorder_history('seen_t')")
      spark.sql(
        "CREATE TEMPORARY VIEW seen_files AS SELECT zorder_file('table:seen_t', a, b) AS file FROM seen_t")
      spark.sql("USE default")
      assert(spark.table("seen_runs").count() === 1 && spark.table("seen_files").count() === 2000)
      val other = intercept[Exception](history("'seen_t'")).getMessage
      assert(other.contains("There is no table seen_t"), other)
    } finally {
      Seq("seen_runs", "seen_files").foreach(spark.catalog.dropTempView)
      spark.sql("USE default")
      spark.sql("DROP DATABASE viewed CASCADE")
    }
  }

  test("a directory without Parquet, an empty one, one without any trace of ours") {
    withTempDir { dir =>
      val csv = dir.resolve("csv")
      numbers(100).write.csv(csv.toString)
      Seq("ROLLBACK", "REMOVE", "VACUUM").foreach(s =>
        refused(csv, s"ZORDER $s '$csv'", "not Parquet", "give the directory"))
      val empty = Files.createDirectory(dir.resolve("empty"))
      assert(one(s"ZORDER REMOVE '$empty'").getAs[String]("status") === "NOTHING_TO_DO")
      refused(empty, s"ZORDER ROLLBACK '$empty'", "There is no run of")
      val plain = dir.resolve("plain")
      numbers(2000).write.parquet(plain.toString)
      assert(one(s"ZORDER REMOVE '$plain'").getAs[String]("status") === "NOTHING_TO_DO")
      done(zorder(plain, run))
      assert(one(s"ZORDER REMOVE '$plain'").getAs[String]("status") === "REMOVED")
      assert(one(s"ZORDER REMOVE '$plain'").getAs[String]("status") === "NOTHING_TO_DO")
    }
  }

  private def ids(df: DataFrame): Long = df.selectExpr("sum(id)").head().getLong(0)

  test("a session goes on with a path that it has read, cached or not") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def frame = spark.read.parquet(path.toString)
      numbers(2000).write.parquet(path.toString)
      val cached = frame.cache()
      try {
        val sum = ids(cached)
        done(zorder(path, run))
        assert(ids(frame) === sum && ids(cached) === sum && cached.count() === 2000)
        numbers(2000).limit(10).write.mode("append").parquet(path.toString)
        assert(frame.count() === 2010 && cached.count() === 2010)
        one(s"ZORDER ROLLBACK '$path'")
        assert(frame.count() === 2010 && cached.count() === 2010)
        one(s"ZORDER VACUUM '$path' RETAIN 0 HOURS")
        assert(frame.count() === 2010 && cached.count() === 2010)
      } finally cached.unpersist()
    }
  }

  Seq("u_plain" -> Nil, "u_parts" -> Seq("p")).foreach { case (name, partitions) =>
    test(s"a session goes on with a table that it has read, cached or not: $name") {
      withTable(name) {
        val rows = numbers(2000).selectExpr("*", "1 AS p")
        rows.write.partitionBy(partitions: _*).saveAsTable(name)
        val (before, cached) = (spark.table(name), spark.table(name).where("id >= 0").cache())
        try {
          assert(ids(before) === ids(cached))
          done(one(s"ZORDER TABLE $name $run"))
          assert(spark.table(name).count() === 2000 && before.where(
            "a >= 0").count() === 2000 && cached.count() === 2000)
          spark.sql(s"INSERT INTO $name SELECT id + 5000, a, b, s, d, p FROM $name WHERE id < 10")
          assert(spark.table(name).count() === 2010)
          one(s"ZORDER ROLLBACK $name")
          assert(spark.table(name).count() === 2010)
          one(s"ZORDER VACUUM $name RETAIN 0 HOURS")
          assert(spark.table(name).count() === 2010 && spark.table(name).where("id >= 0").count() === 2010)
        } finally cached.unpersist()
      }
    }
  }

  test("a table of the catalog that is clustered by its path") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).write.parquet(path.toString)
      withTable("u_at") {
        spark.sql(s"CREATE TABLE u_at USING parquet LOCATION '$path'")
        assert(spark.table("u_at").count() === 2000)
        done(zorder(path, run))
        assert(spark.table("u_at").count() === 2000)
      }
    }
  }
}
