package org.apache.spark.sql.zorder.stats.schema

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.{InputProperties, StatsFixture, Verification}

class SchemaUnionSuite extends AnyFunSuite with StatsFixture {
  private def write(dir: Path, name: String, columns: String*): Unit =
    spark.range(10).selectExpr(columns: _*).coalesce(1).write.parquet(dir.resolve(name).toString)

  private def union(dir: Path, catalog: Option[StructType] = None, caseSensitive: Boolean = false) =
    SchemaUnion.of(footers(dir), catalog, caseSensitive)

  test("the union holds a column that only one of two files has, where Spark's default loses it") {
    inTempDir { dir =>
      write(dir, "a", "id", "struct(id as f) as s")
      write(dir, "b", "id", "struct(id as f, 'x' as g) as s", "id + 1 as More")
      val result = union(dir)
      assert(result.refusals.isEmpty && result.losses.isEmpty)
      assert(result.schema.catalogString == "struct<id:bigint,s:struct<f:bigint,g:string>,More:bigint>")
      val paths = parquetFiles(dir).map(_.path)
      assert(!spark.read.parquet(paths: _*).columns.contains("More"))
      val whole = spark.read.schema(result.schema).parquet(paths: _*)
      assert(whole.where("More is not null").count() == 10)
      whole.write.parquet(dir.resolve("out").toString)
      val (in, out) = footers(dir).partition(!_.file.path.contains("/out/"))
      assert(Verification.compare(in, out) == Nil)
    }
  }

  test("the catalog's columns come first, the files spell them") {
    inTempDir { dir =>
      write(dir, "a", "id as UserId", "1 as late", "'x' as vc", "id as extra")
      val catalog = StructType.fromDDL("early int, vc string, late int, userid bigint")
      val result = union(dir, Some(catalog))
      assert(result.schema.fieldNames.toSeq == Seq("early", "vc", "late", "UserId", "extra"))
      assert(result.refusals.isEmpty)
      assert(result.losses.size == 1 && result.losses.head.startsWith("Column extra of file "))
      assert(union(dir, Some(catalog), caseSensitive = true).losses.exists(_.startsWith("Column UserId ")))
    }
  }

  test("columns that conflict are refused by file and name") {
    inTempDir { dir =>
      write(dir, "a", "id", "cast(id as string) as x", "struct(id as f) as s")
      write(dir, "b", "id", "id as x", "struct(array(id) as f) as s")
      assert(union(dir).refusals.map(_.condition).distinct == Seq("ZORDER_SCHEMA_CONFLICT.TYPE"))
      val refusals = union(dir).refusals.map(_.sentence)
      assert(refusals.size == 2, refusals)
      assert(refusals.exists(_.matches("Column x is bigint in file .* and string in other files: .*")))
      assert(refusals.exists(_.contains("Column s.f is array<bigint>")))
    }
  }

  test("a widened number is a loss, not a refusal") {
    inTempDir { dir =>
      write(dir, "a", "cast(id as int) as x")
      write(dir, "b", "id as x")
      val result = union(dir)
      assert(result.refusals.isEmpty && result.schema("x").dataType == LongType)
      assert(result.losses.size == 1)
      assert(result.losses.head.contains("is INT32, which Spark would write back as INT64"))
    }
  }

  test("a and A are refused, unless they are two columns") {
    inTempDir { dir =>
      write(dir, "a", "id as a")
      write(dir, "b", "id as A")
      assert(union(dir).refusals.exists(_.sentence.startsWith("Column A of file ")))
      val two = union(dir, caseSensitive = true)
      assert(two.refusals.isEmpty && two.schema.fieldNames.toSeq == Seq("a", "A"))
      setting("spark.sql.caseSensitive" -> "true")(write(dir, "c", "id as a", "id as A"))
      assert(union(dir).refusals.exists(_.sentence.contains("has columns a and A")))
    }
  }

  test("timestamps are kept while files agree, and asked-for changes are no loss") {
    inTempDir { dir =>
      def times(name: String, stored: String): Unit =
        setting("spark.sql.parquet.outputTimestampType" -> stored) {
          write(dir, name, "timestamp_micros(id) as t")
        }
      times("a", "INT96")
      assert(union(dir).timestamps == "INT96" && union(dir).losses.isEmpty)
      times("b", "TIMESTAMP_MICROS")
      val mixed = union(dir)
      assert(mixed.timestamps == "TIMESTAMP_MICROS" && mixed.losses.isEmpty)
      times("c", "TIMESTAMP_MILLIS")
      assert(union(dir).losses.map(_.takeWhile(_ != '/')) == Seq("Column t of file file:"))
      val micros = SchemaUnion.of(footers(dir), None, caseSensitive = false, timestampType = "micros")
      assert(micros.losses.isEmpty)
      assert(InputProperties.of(footers(dir)).int96.map(_.name).distinct == Seq("t"))
    }
  }

  test("intervals and maps of arrays come back as they are") {
    inTempDir { dir =>
      write(
        dir,
        "a",
        "make_ym_interval(1, 2) as ym",
        "make_dt_interval(1, 2) as dt",
        "map(id, array(id)) as m")
      val result = union(dir)
      assert(result.refusals.isEmpty && result.losses.isEmpty)
      assert(result.schema("ym").dataType == YearMonthIntervalType())
      assert(result.schema("dt").dataType == DayTimeIntervalType())
    }
  }

  test("a column that Parquet has no type for is refused by name") {
    inTempDir { dir =>
      write(dir, "a", "id")
      val refusals = union(dir, Some(StructType.fromDDL("id bigint, nothing interval"))).refusals
      assert(refusals.map(_.condition) == Seq("ZORDER_COLUMN_REFUSED.NOT_WRITABLE"))
      assert(refusals.head.getMessageParameters.get("column") == "nothing")
    }
  }

  test("codec, row groups and common footer entries of the inputs") {
    inTempDir { dir =>
      spark.range(200000).selectExpr("id", "uuid() as u").coalesce(1).write.option("compression", "gzip")
        .option("parquet.block.size", 1000000).parquet(dir.resolve("a").toString)
      spark.range(10).coalesce(1).write.option("compression", "snappy").parquet(dir.resolve("b").toString)
      val inputProperties = InputProperties.of(footers(dir))
      assert(inputProperties.codec.contains("gzip"))
      assert(inputProperties.rowGroupBytes.exists(b => b > 100000 && b < 2000000), inputProperties)
      assert(
        inputProperties.keyValues.isEmpty && inputProperties.refusals.isEmpty && inputProperties.int96.isEmpty)
      val own = Map("owner" -> "us")
      val marked = footers(dir).map(f => f.copy(keyValues = f.keyValues ++ own + ("n" -> f.rows.toString)))
      assert(InputProperties.of(marked).keyValues == own)
      // of most files
      val filtered = footers(dir).map(_.copy(filtered = Set(Seq("id"))))
      assert(InputProperties.of(filtered).blooms == Seq(Seq("id")))
      assert(InputProperties.of(filtered.take(1) ++ footers(dir).drop(1)).blooms.isEmpty)
    }
  }
}
