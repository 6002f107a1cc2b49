package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types.StructType
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Files that Delta took over with columns in another case than the table has them: Delta takes them for the same. */
@SameOnAllLines
class DeltaSpellingSuite extends AnyFunSuite with UncomparedCommits {
  private val four = "WITH (fileCount = 4, verify = 'checksum')"

  private def taken(path: Path, files: DataFrame*): Unit = {
    files.foreach(_.repartition(3).write.mode("append").parquet(path.toString))
    spark.sql(s"CONVERT TO DELTA parquet.`$path`")
    ()
  }

  /** `cased`, whose files have other names than the table. */
  private def converted(path: Path): Unit = {
    numbers(4000).selectExpr("id AS customerId", "a", "named_struct('userId', b, 'tags', array(s)) AS S")
      .repartition(3).write.parquet(path.toString)
    spark.sql(
      "CREATE TABLE cased (customerid BIGINT, a INT, s STRUCT<userid: BIGINT, Tags: ARRAY<STRING>>) " +
        s"USING parquet LOCATION '$path'")
    spark.sql("CONVERT TO DELTA cased")
    ()
  }

  private def rows(): Seq[String] = spark.table("cased").collect().map(_.toString).sorted.toSeq

  for (session <- Seq(false, true))
    test(
      s"a table of the catalog keeps its values, in a session with caseSensitive = $session",
      LongTest.unless(!session): _*) {
      withTempDir(dir =>
        withTable("cased") {
          converted(dir.resolve("t"))
          val before = rows()
          withConf("spark.sql.caseSensitive" -> session.toString)(
            done(one(s"ZORDER TABLE cased FULL BY (a) $four")))
          assert(rows() === before && before.length === 4000)
          assert(before.forall(!_.contains("null")))
          val row = done(one(s"ZORDER TABLE cased FULL BY (customerid, s.userid) $four"))
          assert(share(row, 0, "files", "measured") < 0.8)
          assert(rows() === before)
          val written = spark.table("cased").inputFiles.toSeq.map(f => spark.read.parquet(f).schema)
          written.foreach { schema =>
            assert(schema.fieldNames.toSeq === Seq("customerid", "a", "s"))
            assert(schema("s").dataType.asInstanceOf[StructType].fieldNames.toSeq === Seq("userid", "Tags"))
          }
        })
    }

  test("files that spell a column in two ways: no value is lost") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      taken(
        path,
        numbers(2000).selectExpr("id AS Id", "a"),
        numbers(4000).where("id >= 2000").selectExpr("id AS id", "a"))
      done(keeps(path)(zorder(path, s"FULL BY (a) $four")))
      assert(read(path).where("id IS NOT NULL").count() === 4000)
      done(keeps(path)(zorder(path, s"FULL BY (ID) $four")))
    }
  }

  test("a file with two columns that are one for Delta is refused before the work") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      taken(path, numbers(2000).selectExpr("id", "a"))
      withConf("spark.sql.caseSensitive" -> "true")(
        numbers(2000).selectExpr("id", "a", "b AS A").repartition(1).write.parquet(s"$dir/two"))
      DeltaFiles.add(spark, path, dir.resolve("two"))
      refused(
        path,
        s"ZORDER TABLE '$path' FULL BY (id) $four",
        "has columns A and a, which",
        "takes for one")
    }
  }
}
