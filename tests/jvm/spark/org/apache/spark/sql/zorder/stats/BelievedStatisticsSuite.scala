package org.apache.spark.sql.zorder.stats

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.parquet.internal.column.columnindex.{BoundaryOrder, ColumnIndexBuilder, OffsetIndexBuilder}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT32
import org.apache.parquet.schema.Types
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.{DataType, IntegerType}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue, Zone}

/** Footers of odd writers; test_audit_footers.py asks the reader in Python the same. */
class BelievedStatisticsSuite extends AnyFunSuite with StatsFixture {
  private val cases =
    new ObjectMapper().readTree(
      Files.readAllBytes(Paths.get("tests/shared/golden/statistics.json"))).elements()
      .asScala.toSeq

  private def hex(digits: String): Array[Byte] =
    digits.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray

  private def write(path: Path, footer: Array[Byte]): Unit = {
    val length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(footer.length).array
    val magic = "PAR1".getBytes
    Files.write(path, magic ++ footer ++ length ++ magic)
  }

  private def normalized(node: JsonNode): NormalizedValue =
    if (node.isTextual) NormalizedBytes(hex(node.asText)) else NormalizedLong(node.asLong)

  private def zone(node: JsonNode): Zone = node.asText match {
    case "unknown" => Zone.Unknown
    case "only NULL" => Zone.OnlyNulls
    case _ => Zone.Between(normalized(node.get(0)), normalized(node.get(1)))
  }

  test("which statistics are believed") {
    assert(cases.length > 50)
    inTempDir { dir =>
      cases.zipWithIndex.foreach { case (c, i) =>
        val name = c.get("name").asText
        val path = dir.resolve(s"$i.parquet")
        write(path, hex(c.get("footer").asText))
        val column = StatColumn(Seq("c"), DataType.fromDDL(c.get("type").asText), Zone.OnlyNulls)
        val file = parquetFiles(dir).find(_.path.endsWith(s"/$i.parquet")).get
        val footer = Footers.read(session, Seq(file), Seq(column)).head
        val group = footer.rowGroups.head
        assert(group.zones == IndexedSeq(zone(c.get("zone"))), name)
        assert(footer.zone(0) == group.zones.head, name)
        val nulls = if (c.get("nulls").isNull) -1L else c.get("nulls").asLong
        assert(footer.nulls == LeafNumbers(Seq(nulls)), name)
        assert(group.nullFree == (if (nulls == 0) Set(0) else Set.empty[Int]), name)
        assert(
          PageIndex.read(session, Seq(file), Seq(column)).head.pages(0) == Seq(10L -> group.zones.head),
          name)
      }
    }
  }

  test("page indexes that contradict themselves or the rows of the row group are none") {
    val stored = Types.optional(INT32).named("c")
    val decoder = ParquetZones.decoder(stored, StatColumn(Seq("c"), IntegerType), FileOrigin("", Map.empty))
    def int(v: Int) =
      ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(v).flip().asInstanceOf[ByteBuffer]
    def pages(starts: Seq[Long], nulls: Seq[Long], nullPages: Seq[Boolean], rows: Long = 10L) = {
      val offsets = OffsetIndexBuilder.getBuilder
      starts.zipWithIndex.foreach { case (start, i) => offsets.add(4L + 9 * i, 9, start) }
      def bound(v: Int) = nullPages.map(n => if (n) ByteBuffer.allocate(0) else int(v)).asJava
      val index = ColumnIndexBuilder.build(
        stored,
        BoundaryOrder.UNORDERED,
        nullPages.map(Boolean.box).asJava,
        nulls.map(Long.box).asJava,
        bound(3),
        bound(5))
      ParquetZones.ofPages(index, offsets.build(), rows, Zone.Unknown, None, decoder)
    }
    val zone = Zone.Between(NormalizedLong(3), NormalizedLong(5))
    val usual = pages(Seq(0, 4), Seq(0, 6), Seq(false, true)).get
    assert(usual.map(p => (p.rows, p.zones.head, p.nullFree)) ==
      Seq((4L, zone, Set(0)), (6L, Zone.OnlyNulls, Set.empty[Int])))
    Seq(
      pages(Seq(0, 4), Seq(0, 5), Seq(false, true)),
      pages(Seq(0, 4), Seq(5, 6), Seq(false, true)),
      pages(Seq(0, 4), Seq(0, 0), Seq(false, false), rows = 3),
      pages(Seq(1, 4), Seq(0, 0), Seq(false, false)),
      pages(Seq(0, 7, 4), Seq(0, 0, 0), Seq(false, false, false)),
      pages(Seq(0), Seq(0, 0), Seq(false, false))).foreach(p => assert(p.isEmpty))
  }
}
