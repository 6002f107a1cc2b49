package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import scala.util.Try

import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.NanoTime
import org.apache.parquet.io.api.Binary
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.{Footers, ForeignFile}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.SameOnAllLines

/** Types, codecs and encodings of other writers: kept, refused, or listed as what `force` accepts. */
class ForeignTypesSuite extends AnyFunSuite with RunFixture {
  private val two = "BY (a, b) WITH (fileCount = 2)"
  private val forced = "BY (a, b) WITH (fileCount = 2, force = true)"

  private def bytes(n: Int): Binary = Binary.fromConstantByteArray(Array.fill(n)(1.toByte))

  /** A table of one file with columns a, b and these; each with its value in all rows. */
  private def table(dir: Path, columns: (String, Group => Unit)*): Path = {
    val path = dir.resolve("t")
    val schema =
      ("required int32 a;" +: "optional int64 b;" +: columns.map(_._1)).mkString("message m {", " ", "}")
    ForeignFile.write(Files.createDirectories(path).resolve("f.parquet"), schema, 1000)(identity) { (g, i) =>
      g.append("a", i * 7919 % 1000).append("b", i * 104729L % 1000)
      columns.foreach(_._2(g))
    }
    path
  }

  private def types(path: Path): Map[String, String] = {
    val files = dataFiles(path).keys.toSeq.map(f => path.resolve(f))
    Footers.read(Shims.classic(spark), files.map(f => DataFile(f.toUri.toString, Files.size(f), 0L, "")))
      .flatMap(_.schema.leaves).map(l => l.name -> l.typeText).toMap
  }

  test("decimals of few digits as byte strings, by which Spark's vectorized reader fails") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val schema = "message m { required int32 a; optional binary n (DECIMAL(9,2)); " +
        "optional group s { optional binary x (DECIMAL(18,0)); } optional binary w (DECIMAL(30,1)); }"
      def number(v: Long) = Binary.fromConstantByteArray(java.math.BigInteger.valueOf(v).toByteArray)
      ForeignFile.write(Files.createDirectories(path).resolve("f.parquet"), schema, 4000)(identity) {
        (g, i) =>
          g.append("a", i * 7919 % 1000)
          if (i % 7 > 0) g.append("n", number(i * 104729L % 200003 - 100000))
          g.addGroup("s").append("x", number(i * 1000000007L))
          g.append("w", number(-i.toLong))
      }
      val row = withConf("spark.sql.parquet.enableVectorizedReader" -> "false") {
        val expected = read(path).collect().map(_.toString).sorted.toSeq
        val done = withConf("spark.sql.parquet.enableVectorizedReader" -> "true") {
          this.done(zorder(path, "BY (n, s.x) WITH (fileCount = 4, verify = 'checksum')"))
        }
        assert(read(path).collect().map(_.toString).sorted.toSeq === expected && expected.length === 4000)
        done
      }
      for (c <- 0 to 1) assert(share(row, c, "files", "measured") < 0.7)
      assert(types(path)("n") === "INT32 DECIMAL(9,2)" && read(path).where("n IS NULL").count() === 572)
    }
  }

  test("types that are kept") {
    withTempDir { dir =>
      val path = table(
        dir,
        "optional boolean c1;" -> (_.append("c1", true)),
        "optional int32 c2 (INTEGER(8,true));" -> (_.append("c2", -3)),
        "optional int32 c3 (INTEGER(16,true));" -> (_.append("c3", -3)),
        "optional int32 c4 (DATE);" -> (_.append("c4", 3)),
        "optional int32 c5 (DECIMAL(5,2));" -> (_.append("c5", 3)),
        "optional int64 c6 (DECIMAL(12,2));" -> (_.append("c6", 3L)),
        "optional fixed_len_byte_array(16) c7 (DECIMAL(38,2));" -> (_.append("c7", bytes(16))),
        "optional float c8;" -> (_.append("c8", 3f)),
        "optional double c9;" -> (_.append("c9", 3d)),
        "optional binary c10 (STRING);" -> (_.append("c10", "x")),
        "optional binary c11;" -> (_.append("c11", bytes(2))),
        "optional int64 c12 (TIMESTAMP(MILLIS,true));" -> (_.append("c12", 3L)),
        "optional int64 c13 (TIMESTAMP(MICROS,false));" -> (_.append("c13", 3L)),
        "optional group c14 { required int64 f; }" -> (_.addGroup("c14").append("f", 3L)),
        "optional group c15 (LIST) { repeated group list { optional int64 item; } }" ->
          (_.addGroup("c15").addGroup("list").append("item", 3L)),
        "optional group c16 (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }" ->
          (_.addGroup("c16").addGroup("key_value").append("key", "k").append("value", 3)))
      val before = types(path)
      val row = done(zorder(path, "BY (a, b) WITH (fileCount = 2, verify = 'checksum')"))
      assert(types(path) === before)
      assert(reason(row).endsWith(" A rewrite makes required columns optional: a, c14.f."), reason(row))
    }
  }

  test("old dates of files that name no calendar stay what the session reads") {
    def seen(path: Path) =
      read(path).selectExpr(
        "cast(c1 as string)",
        "cast(c2 as string)").distinct().collect().map(_.toString).toSeq
    for (mode <- Seq("LEGACY", "CORRECTED", "EXCEPTION")) withTempDir { dir =>
      val path = table(
        dir,
        "optional int32 c1 (DATE);" -> (_.append("c1", -400000)),
        "optional int64 c2 (TIMESTAMP(MICROS,true));" -> (_.append("c2", -400000L * 86400 * 1000 * 1000)))
      val reading = "spark.sql.parquet.datetimeRebaseModeInRead"
      // by default Spark refuses to read them
      val before = withConf(reading -> (if (mode == "EXCEPTION") "CORRECTED" else mode))(seen(path))
      withConf(reading -> mode) {
        done(zorder(path, "BY (a, b) WITH (fileCount = 2, verify = 'checksum')"))
        assert(seen(path) === before, mode)
      }
    }
  }

  test("types that are refused, and that force accepts and lists", SameOnAllLines) {
    withTempDir { dir =>
      // column -> what it would be written back as
      val lost = Seq[(String, String, Group => Unit)](
        ("int32 u8 (INTEGER(8,false))", "INT32 INTEGER(16,true)", _.append("u8", 200)),
        ("int32 u16 (INTEGER(16,false))", "INT32", _.append("u16", 60000)),
        ("int32 u32 (INTEGER(32,false))", "INT64", _.append("u32", -1)),
        ("int64 u64 (INTEGER(64,false))", "FIXED_LEN_BYTE_ARRAY(9) DECIMAL(20,0)", _.append("u64", -1L)),
        ("int64 millis (TIMESTAMP(MILLIS,false))", "INT64 TIMESTAMP(MICROS,false)", _.append("millis", 3L)),
        ("fixed_len_byte_array(3) fixed", "BINARY", _.append("fixed", bytes(3))),
        ("binary kind (ENUM)", "BINARY STRING", _.append("kind", "k")),
        ("binary json (JSON)", "BINARY STRING", _.append("json", "{}")),
        ("binary bson (BSON)", "BINARY", _.append("bson", bytes(5))))
      val path = table(dir, lost.map { case (column, _, fill) => s"optional $column;" -> fill }: _*)
      val names = lost.map(_._1.split(' ')(1))
      val each = names.map(n => s"Column $n of file file:$path/f.parquet is ")
      for (more <- Seq("", " DRY RUN"))
        refused(path, s"ZORDER TABLE '$path' $two$more", each :+ "WITH (force = true) accepts all this": _*)
      val row = done(keepsRows(path)(zorder(path, forced)))
      assert(each.forall(reason(row).contains) && reason(row).contains("Accepted by force:"), reason(row))
      assert(names.map(types(path)) === lost.map(_._2))
    }
  }

  test("INT96 with nanoseconds is refused, also in a dry run; Spark's own is not looked at", SameOnAllLines) {
    withTempDir { dir =>
      val path = table(dir, "optional int96 t;" -> (_.append("t", new NanoTime(2440588, 1234567L))))
      val words = Seq(s"Column t of file file:$path/f.parquet has INT96", "nanoseconds", "force")
      for (more <- Seq("", " DRY RUN")) refused(path, s"ZORDER TABLE '$path' $two$more", words: _*)
      val why = "Accepted by force: Column t of file"
      assert(reason(zorder(path, s"$forced DRY RUN")).contains(why))
      val (row, watch) = JobWatch(spark)(done(zorder(path, forced)))
      assert(reason(row).contains(why))
      assert(watch.jobs.exists(_.contains("INT96 timestamps of 1 files")), watch.jobs)
      val (_, later) =
        JobWatch(spark)(done(zorder(path, "FULL BY (b, a) WITH (fileCount = 2, force = true)")))
      assert(!later.jobs.exists(_.contains("INT96")), later.jobs)
    }
  }

  /** A file that pyarrow has made; see make.py beside it. */
  private def arrow(dir: Path, name: String): Path = {
    val path = Files.createDirectories(dir.resolve(name))
    Files.copy(getClass.getResourceAsStream(s"/foreign/$name.parquet"), path.resolve("f.parquet"))
    path
  }

  private val byA = "BY (a) WITH (fileCount = 2, force = true)"

  test("a column of no type is refused, and becomes a column of integers by force") {
    withTempDir { dir =>
      val path = arrow(dir, "null")
      refused(path, s"ZORDER TABLE '$path' BY (a) WITH (fileCount = 2)", "Column x of file", "INT32 UNKNOWN")
      assert(reason(done(zorder(path, byA))).contains("Accepted by force: Column x of file"))
    }
  }

  test("types and codecs that this Spark cannot read: file, column and what to do", SameOnAllLines) {
    withTempDir { dir =>
      for ((name, remedy) <- Seq("float16" -> "a float", "brotli" -> "zstd")) {
        val path = arrow(dir, name)
        refused(
          path,
          s"ZORDER TABLE '$path' $byA",
          " of file file:",
          s"$name/f.parquet",
          "cannot read",
          remedy)
      }
      for ((column, remedy) <- Seq(
          "int64 x (TIMESTAMP(NANOS,true))" -> "microseconds",
          "int32 x (TIME(MILLIS,true))" -> "a string",
          "fixed_len_byte_array(16) x (UUID)" -> "a string")) {
        val path = table(Files.createTempDirectory(dir, "x"), s"optional $column;" -> (_ => ()))
        refused(
          path,
          s"ZORDER TABLE '$path' $forced",
          s"Column x of file file:$path/f.parquet",
          "cannot read",
          remedy)
      }
      // beside a file that Spark can read, and in a table whose columns nobody has to infer
      val mixed = dir.resolve("mixed")
      numbers(100).selectExpr("a").coalesce(1).write.parquet(mixed.toString)
      Files.copy(dir.resolve("float16/f.parquet"), mixed.resolve("z.parquet"))
      refused(mixed, s"ZORDER TABLE '$mixed' $byA", "Column x of file", "z.parquet", "cannot read")
      withTable("foreign_types") {
        spark.sql(
          s"CREATE TABLE foreign_types (a INT, x INT) USING parquet LOCATION '${dir.resolve("float16")}'")
        refused(dir.resolve("float16"), s"ZORDER TABLE foreign_types $byA", "Column x of file", "cannot read")
      }
    }
  }

  test("encodings and widened numbers: refused where Spark itself cannot read them") {
    withTempDir { dir =>
      val split = Files.createDirectories(dir.resolve("split"))
      ForeignFile.write(
        split.resolve("f.parquet"),
        "message m { optional int32 a; optional double x; }",
        100)(
        _.withDictionaryEncoding(false).withByteStreamSplitEncoding(true))((g, i) =>
        g.append("a", i).append("x", 1d * i))
      val wide = Files.createDirectories(dir.resolve("wide"))
      for (x <- Seq("int32", "int64"))
        ForeignFile.write(
          wide.resolve(s"$x.parquet"),
          s"message m { optional int32 a; optional $x x; }",
          100)(identity) {
          (g, i) =>
            if (x == "int32") g.append("a", i).append("x", i) else g.append("a", i).append("x", i.toLong)
        }
      def values(path: Path) = spark.read.schema("a int, x bigint").parquet(path.toString)
      def readable(path: Path) = Try(values(path).collect()).isSuccess
      if (Try(spark.read.parquet(split.toString).collect()).isSuccess) done(zorder(split, byA))
      else {
        refused(
          split,
          s"ZORDER TABLE '$split' $byA",
          "Column x of file",
          "BYTE_STREAM_SPLIT",
          "enableVectorizedReader")
        withConf("spark.sql.parquet.enableVectorizedReader" -> "false")(done(zorder(split, byA)))
      }
      if (readable(wide)) {
        refused(
          wide,
          s"ZORDER TABLE '$wide' BY (a) WITH (fileCount = 2)",
          "int32.parquet is INT32",
          "INT64",
          "force")
        val before = values(wide).collect().map(_.toString).sorted.toSeq
        assert(reason(done(zorder(wide, byA))).contains("Accepted by force"))
        assert(values(wide).collect().map(_.toString).sorted.toSeq === before)
      } else
        refused(
          wide,
          s"ZORDER TABLE '$wide' $byA",
          "Column x is int in file",
          "int32.parquet",
          "bigint",
          "one type first")
    }
  }
}
