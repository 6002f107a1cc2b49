package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import sparkzorder.curve.layout.{InFileOrder, Layout, LayoutColumn, Leaf, ScaleBuilder}
import sparkzorder.mark.SameOnAllLines

/** CHAR values that are shorter than their type: Hive and others store them so, and Spark pads them when it reads. */
@SameOnAllLines
class CharColumnsSuite extends AnyFunSuite with RunFixture {
  private val two = "WITH (fileCount = 2, force = true, verify = 'checksum')"

  private def rows(): Seq[String] =
    spark.table("chars").collect().map(r => s"<${r.mkString("|")}>").sorted.toSeq

  private def directories(root: Path): Set[String] = {
    val all = Files.list(root)
    try all.iterator.asScala.map(_.getFileName.toString).filter(_.startsWith("p=")).toSet
    finally all.close()
  }

  private def partitions(): Set[String] =
    spark.sql("SHOW PARTITIONS chars").collect().map(_.getString(0)).toSet

  for (place <- Seq("exchange", "move"))
    test(s"partitions and values stay without blanks, $place") {
      withTempDir(dir =>
        withTable("chars") {
          val root = dir.resolve("t")
          spark.range(3000).selectExpr(
            "id",
            "cast(id % 97 as int) a",
            "concat('v', id % 7) c",
            "concat('x', id % 2) p").repartition(3).write.partitionBy("p").parquet(root.toString)
          withConf("spark.sql.legacy.charVarcharAsString" -> "true") {
            spark.sql("CREATE TABLE chars (id BIGINT, a INT, c CHAR(4), p CHAR(5)) USING parquet " +
              s"PARTITIONED BY (p) LOCATION '$root'")
            for (v <- Seq("x0", "x1"))
              spark.sql(s"ALTER TABLE chars ADD PARTITION (p = '$v') LOCATION '$root/p=$v'")
          }
          val (before, known, there) = (rows(), partitions(), directories(root))
          assert(known === Set("p=x0", "p=x1") && before.exists(_.endsWith("|x0   >")))
          val where = if (place == "move") ", location = 'move')" else ")"
          done(one(s"ZORDER TABLE chars FULL BY (a, id) ${two.stripSuffix(")")}$where"))
          assert(rows() === before && partitions() === known)
          if (place == "exchange") assert(directories(root) === there)
          done(one(s"ZORDER TABLE chars FULL WHERE p = 'x1' BY (id, a) ${two.stripSuffix(")")}$where"))
          assert(rows() === before && partitions() === known)
          withConf("spark.sql.readSideCharPadding" -> "false") {
            val files = spark.table("chars").inputFiles.toSeq
            assert(spark.read.parquet(files: _*).where("length(c) <> 2").isEmpty)
          }
        })
    }

  test("a layout names a VARCHAR alike in sessions that keep its length and in others") {
    assume(spark.version.head >= '4', "Spark 3.5 keeps no length")
    def column: DataType = spark.sql("SELECT CAST('a' AS VARCHAR(9)) c").schema.head.dataType
    val kept = withConf("spark.sql.preserveCharVarcharTypeInfo" -> "true")(column)
    assert(kept.sql.startsWith("VARCHAR(9)") && column.sql === "STRING")
    assert(Seq(kept, column).map(Normalization.typeName) === Seq("STRING", "STRING"))
    // earlier builds named it with its length, and such a layout is of the sessions that keep it
    val scale = ScaleBuilder.ofLongs(Array(0L, 1L), 0)
    def layout(named: String): LayoutRef = new LayoutRef(
      named,
      Layout(IndexedSeq(LayoutColumn("c", named, scale)), Leaf(1), "zorder", InFileOrder.Hilbert))
    assert(Seq(kept, column).map(t => layout("STRING").fits(Seq(t))) === Seq(true, true))
    assert(Seq(kept, column).map(t => layout("VARCHAR(9)").fits(Seq(t))) === Seq(true, false))
  }
}
