package org.apache.spark.sql.zorder.stats

import java.nio.file.{Files, Path, Paths}

import org.apache.parquet.io.api.Binary
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.NanoTime
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.stats.schema.{SchemaUnion, TruncatedTimestamps}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, OrderedBits, Zone}

/** Files that Spark does not write itself, by Parquet's own writer. */
class OddTypesSuite extends AnyFunSuite with StatsFixture {
  private val odd =
    """message m {
      |  optional int64 u64 (INTEGER(64,false));
      |  optional int32 u8 (INTEGER(8,false));
      |  optional int64 nanos (TIMESTAMP(NANOS,true));
      |  optional int64 millis (TIMESTAMP(MILLIS,true));
      |  optional int64 ntz_millis (TIMESTAMP(MILLIS,false));
      |  optional fixed_len_byte_array(16) uuid (UUID);
      |  optional binary kind (ENUM);
      |  optional binary doc (JSON);
      |  optional fixed_len_byte_array(3) fixed;
      |  optional fixed_len_byte_array(4) dec (DECIMAL(9,2));
      |  optional int32 plain (INTEGER(32,true));
      |}""".stripMargin

  private def writeOdd(dir: Path): Unit = exampleFile(dir.resolve("odd.parquet"), odd) { (g, i) =>
    g.append("u64", -1L - i).append("u8", 200 + i).append("nanos", 5L + i).append("millis", 7L + i)
      .append("ntz_millis", 7L + i)
    g.append("uuid", Binary.fromConstantByteArray(Array.fill(16)(i.toByte))).append("kind", "k" + i)
      .append("doc", "{}").append("fixed", Binary.fromConstantByteArray(Array(1, 2, i.toByte)))
      .append("dec", Binary.fromConstantByteArray(Array[Byte](-1, -1, -1, (-1 - i).toByte)))
      .append("plain", i)
  }

  test("zones of types that Spark reads but does not write") {
    inTempDir { dir =>
      writeOdd(dir)
      val zones = footers(
        dir,
        StatColumn(Seq("u64"), DecimalType(20, 0)),
        StatColumn(Seq("u8"), ShortType),
        StatColumn(Seq("nanos"), TimestampType),
        StatColumn(Seq("millis"), TimestampType),
        StatColumn(Seq("fixed"), BinaryType),
        StatColumn(Seq("dec"), DecimalType(9, 2)),
        StatColumn(Seq("dec"), DecimalType(9, 3)),
        StatColumn(Seq("dec"), DecimalType(20, 2)),
        StatColumn(Seq("plain"), LongType),
        StatColumn(Seq("kind"), StringType)).head.block((0 until 10).map(Some(_))).zones
      def wide(v: Long) = NormalizedBytes(OrderedBits.ofBigInteger(java.math.BigInteger.valueOf(v)))
      assert(zones(0) == Zone.Unknown && zones(1) == Zone.Unknown && zones(2) == Zone.Unknown)
      // not written by Spark 3: before 1900 in doubt, but 1970 is not
      assert(zones(3) == Zone.Between(NormalizedLong(7000), NormalizedLong(9000)))
      assert(zones(4) == Zone.Between(NormalizedBytes(Array(1, 2, 0)), NormalizedBytes(Array(1, 2, 2))))
      assert(zones(5) == Zone.Between(NormalizedLong(-3), NormalizedLong(-1)))
      assert(zones(6) == Zone.Unknown)
      assert(zones(7) == Zone.Between(wide(-3), wide(-1)))
      assert(zones(8) == Zone.Between(NormalizedLong(0), NormalizedLong(2)))
      assert(zones(9) == Zone.Between(NormalizedBytes("k0".getBytes), NormalizedBytes("k2".getBytes)))
    }
  }

  test("types that would not come back are named with file and column") {
    inTempDir { dir =>
      writeOdd(dir)
      val union = SchemaUnion.of(footers(dir), None, caseSensitive = false)
      val all = union.refusals.map(_.sentence) ++ union.losses
      Seq("u64", "u8", "nanos", "ntz_millis", "uuid", "kind", "doc", "fixed").foreach { c =>
        assert(all.exists(s => s.startsWith(s"Column $c of file ") && s.contains("odd.parquet")), s"$c: $all")
      }
      Seq("dec", "plain", "millis").foreach { c =>
        assert(!all.exists(_.startsWith(s"Column $c ")), s"$c: $all")
      }
      assert(union.timestamps == "TIMESTAMP_MILLIS")
      val micros = SchemaUnion.of(footers(dir), None, caseSensitive = false, timestampType = "micros")
      assert(micros.timestamps == "TIMESTAMP_MICROS")
      assert(!micros.losses.exists(_.startsWith("Column millis ")))
    }
  }

  test("old list shapes are a loss, other names of the three levels are none") {
    inTempDir { dir =>
      exampleFile(
        dir.resolve("l.parquet"),
        """message m {
          |  optional group old (LIST) { repeated int32 array; }
          |  optional group arrow (LIST) { repeated group list { optional int32 item; } }
          |  repeated int32 bare;
          |}""".stripMargin) { (g, i) =>
        g.addGroup("old").append("array", i)
        g.addGroup("arrow").addGroup("list").append("item", i)
        g.append("bare", i)
      }
      val footer = footers(dir).head
      assert(footer.schema.leaves.map(_.name) == Seq("old.element", "arrow.element", "bare.element"))
      val union = SchemaUnion.of(Seq(footer), None, caseSensitive = false)
      assert(union.refusals.isEmpty)
      assert(union.losses.size == 1 && union.losses.head.startsWith("Column old.element of file "))
      assert(union.losses.head.endsWith("(likewise column bare.element)."))
      assert(union.schema("arrow").dataType == ArrayType(IntegerType))
    }
  }

  test("INT96 timestamps that Spark would cut, at any depth, in dictionaries and in pages") {
    val day = 2440588
    val schema =
      """message m {
        |  optional int96 micros; optional int96 nanos; optional int96 never; optional int96 far;
        |  optional group s { optional group l (LIST) { repeated group list { optional int96 element; } } }
        |}""".stripMargin
    def fill(g: Group, i: Int): Unit = {
      g.append("micros", new NanoTime(day, i * 1000L))
      if (i % 2 == 0) g.append("nanos", new NanoTime(day, i * 501L))
      g.append("far", new NanoTime(if (i == 8) Int.MaxValue else -i, 0L))
      val list = g.addGroup("s").addGroup("l")
      (0 until i % 3).foreach(n =>
        list.addGroup("list").append(
          "element",
          new NanoTime(day, if (i == 8) 86400000000000L else n * 1000L)))
    }
    inTempDir { dir =>
      ForeignFile.write(dir.resolve("a.parquet"), schema, 9)(_.withDictionaryEncoding(true))(fill)
      ForeignFile.write(dir.resolve("b.parquet"), schema, 9)(_.withDictionaryEncoding(false))(fill)
      ForeignFile.write(dir.resolve("c.parquet"), schema, 3)(identity)((g, i) =>
        g.append("micros", new NanoTime(day, i * 1000L)))
      val all = footers(dir)
      assert(all.take(2).map(_.schema.leaves.map(_.physical).distinct) == Seq(Seq("INT96"), Seq("INT96")))
      for (some <- Seq(all.take(1), all.slice(1, 2), all)) {
        val losses = TruncatedTimestamps.losses(session, some)
        assert(losses.size == 1)
        val one = losses.head
        assert(one.startsWith("Column nanos of file ") && one.contains("microseconds"))
        assert(one.contains("(likewise column far, column s.l.element)."), one)
        assert(one.contains(" and 1 more ") == (some.size == 3), one)
      }
      assert(TruncatedTimestamps.losses(session, all.drop(2)) == Nil)
    }
  }

  test("a row group without rows, as pyarrow writes an empty file, has no value of INT96 that is cut") {
    inTempDir { dir =>
      Files.copy(Paths.get("tests/shared/golden/no-rows-int96.parquet"), dir.resolve("a.parquet"))
      val read = footers(dir)
      assert(read.map(_.schema.leaves.map(_.physical)) == Seq(Seq("INT96")))
      assert(TruncatedTimestamps.losses(session, read) == Nil)
    }
  }

  test("a file with a damaged page of INT96 is named") {
    inTempDir { dir =>
      val path = dir.resolve("a.parquet")
      ForeignFile.write(path, "message m { optional int96 t; }", 1000)(
        _.withDictionaryEncoding(false).withCompressionCodec(CompressionCodecName.GZIP))((g, i) =>
        g.append("t", new NanoTime(2440588, i * 1000L)))
      val read = footers(dir)
      val bytes = Files.readAllBytes(path)
      val page = bytes.indexOfSlice(Seq(0x1f.toByte, 0x8b.toByte))
      assert(page > 0, "no page is compressed")
      bytes(page) = 0
      Files.write(path, bytes)
      Files.delete(dir.resolve(".a.parquet.crc"))
      val e = intercept[ZOrderException](TruncatedTimestamps.losses(session, read))
      assert(e.condition == "ZORDER_FILE_UNREADABLE.DAMAGED", e)
      assert(e.getMessageParameters.get("file").endsWith("/a.parquet"), e)
    }
  }

  test("field ids of the catalog that files have for other columns") {
    inTempDir { dir =>
      exampleFile(dir.resolve("i.parquet"), "message m { optional int32 c = 1; optional int32 a = 2; }")(
        (g, i) =>
          g.append("c", i).append("a", i))
      def losses(ids: (String, Long)*) = SchemaUnion.of(
        footers(dir),
        Some(StructType(ids.map { case (name, id) =>
          StructField(
            name,
            IntegerType,
            metadata = new MetadataBuilder().putLong("parquet.field.id", id).build())
        })),
        caseSensitive = false).losses
      assert(losses("c" -> 1, "a" -> 2).isEmpty)
      val swapped = losses("a" -> 1, "c" -> 2)
      assert(
        swapped.size == 2 && swapped.head.contains("i.parquet has field id 1, and a has 1 in the catalog"))
      assert(losses("c" -> 1, "a" -> 3).head.contains("Column a of file"))
    }
  }

  test("field ids are kept where Spark has a place for them") {
    inTempDir { dir =>
      exampleFile(
        dir.resolve("i.parquet"),
        """message m {
          |  optional int32 a = 4;
          |  optional group s = 5 { optional int32 f = 6; }
          |  optional group l (LIST) = 7 { repeated group list { optional int32 element = 8; } }
          |}""".stripMargin)((g, i) => g.append("a", i).addGroup("s").append("f", i))
      val union = SchemaUnion.of(footers(dir), None, caseSensitive = false)
      assert(union.schema("a").metadata.getLong("parquet.field.id") == 4)
      val nested = union.schema("s").dataType.asInstanceOf[StructType]("f")
      assert(nested.metadata.getLong("parquet.field.id") == 6)
      assert(union.losses.size == 1 && union.losses.head.startsWith("The field id of l.element of file "))
      spark.read.schema(union.schema).parquet(dir.toString).write.parquet(dir.resolve("out").toString)
      val ids = footers(dir.resolve("out")).head.schema.leaves.map(l => l.name -> l.fieldId).toMap
      assert(ids == Map("a" -> Some(4), "s.f" -> Some(6), "l.element" -> None))
    }
  }
}
