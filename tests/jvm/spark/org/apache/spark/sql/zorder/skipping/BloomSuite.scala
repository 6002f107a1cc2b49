package org.apache.spark.sql.zorder.skipping

import java.io.ByteArrayInputStream
import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.parquet.format.Util
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, In, Literal}
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.index.{IndexStore, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.scan.FilesThatMayMatch
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** Tables whose index has Bloom filters. */
@SameOnAllLines
class BloomSuite extends AnyFunSuite with SkippedScans with Steps {

  private def indexBlooms(path: Path, columns: String, budget: String): Row =
    indexWith(path, s"bloom = '$columns', bloomBudget = '$budget'")

  private def stored(path: Path): StatisticsIndex = {
    val root = new org.apache.hadoop.fs.Path(path.toUri)
    IndexStore.of(Shims.classic(spark), root).newest().get._2
  }

  /** Every file has ids of the whole range. */
  private def scattered(ids: Int, files: Int): DataFrame =
    spark.range(0, ids.toLong, 1, 4).selectExpr("id", "id div 10 session", "concat('k', id) s")
      .repartition(files, org.apache.spark.sql.functions.expr("id"))

  private def described(path: Path): Map[String, (Long, Long)] =
    spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(r =>
      r.getAs[String]("column") -> ((r.getAs[Long]("bloom_files"), r.getAs[Long]("bloom_bytes")))).toMap

  /** Takes all bits out of the Bloom filters of a file. */
  private def emptied(file: Path): Unit = {
    val conf = spark.sparkContext.hadoopConfiguration
    val path = new org.apache.hadoop.fs.Path(file.toUri)
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf))
    val offsets =
      try reader.getRowGroups.asScala.flatMap(_.getColumns.asScala).map(_.getBloomFilterOffset).filter(_ >= 0)
      finally reader.close()
    val bytes = Files.readAllBytes(file)
    offsets.foreach { at =>
      val in = new ByteArrayInputStream(bytes, at.toInt, bytes.length - at.toInt)
      val length = Util.readBloomFilterHeader(in).getNumBytes
      val from = bytes.length - in.available()
      java.util.Arrays.fill(bytes, from, from + length, 0.toByte)
    }
    Files.delete(file.resolveSibling(s".${file.getFileName}.crc"))
    val _ = Files.write(file, bytes)
  }

  test("a unique id over 24 files: the file of the id and few others")(uniqueId(24))

  test("a unique id over 100 files: the file of the id and few others", LongTest)(uniqueId(100))

  private def uniqueId(count: Int): Unit = {
    withTempDir { dir =>
      val path = dir.resolve("t")
      scattered(count * 1000, count).write.parquet(path.toString)
      def t = spark.read.parquet(path.toString)
      val made = indexBlooms(path, "id, s", "50%")
      assert(made.getAs[Long]("bloom_files_read") === count)
      val matching = new FilesThatMayMatch(stored(path), _ => false)
      val id = AttributeReference("id", LongType)()
      def files(ids: Long*): Int = matching(Seq(In(id, ids.map(Literal(_))))).cardinality
      val found = (0 until 1000).map(i => files(i * 23L))
      info(s"${found.sum / 1000.0} files on the mean, ${made.getAs[Long]("bloom_bytes")} bytes in all")
      assert(found.forall(_ >= 1) && found.sum <= 1500)
      // between the least and the greatest id of every file, and in none
      val absent = (0 until 1000).map(i => if (i % 2 == 0) files(-1L - i) else files(i * 23L, -7L))
      assert(absent.sum <= 800)
      assert(opens(t.where("id = 4711")) <= 3)
      assert(opens(t.where("s = 'k4711' OR id <=> 1")) <= 5)
      assert(opens(t.where("id IN (1, 2, 3, 7000) AND s LIKE 'k%' AND NOT (s <> 'k2')")) <= 3)
      assert(opens(t.where("id BETWEEN 4711 AND 4712")) > count * 0.9)
    }
  }

  test("every value of every type is found in its file, however the file stores it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val types =
        "tinyint b, smallint h, int i, bigint l, string s, binary x, date d, timestamp ts, timestamp_ntz n, " +
          "decimal(7,2) d1, decimal(15,3) d2, decimal(30,5) d3"
      val columns = types.split(", ").map(_.split(" ")).map(c => c(1) -> c(0)).toSeq
      def value(name: String): String = name match {
        case "s" => "concat('v', v)"
        case "x" => "cast(concat('v', v) as binary)"
        case "d" => "date_add(date'2020-01-01', v)"
        case "ts" => "timestamp_seconds(v * 86399)"
        case "n" => "cast(timestamp_seconds(v * 86399) as timestamp_ntz)"
        case "b" => "cast(v % 100 as tinyint)"
        case n => s"cast(v * 7 - 300 as ${columns.find(_._1 == n).get._2})"
      }
      val rows = spark.range(0, 600, 1, 1)
        .selectExpr("cast(pmod(hash(id), 1000) as int) v", "id % 13 = 0 none", "cast(id as int) id")
        .selectExpr("id" +: columns.map { case (n, _) => s"if(none, null, ${value(n)}) $n" }: _*)
      Seq("false", "true").foreach { legacy =>
        withConf(
          "spark.sql.parquet.writeLegacyFormat" -> legacy,
          "spark.sql.parquet.outputTimestampType" ->
            (if (legacy == "true") "TIMESTAMP_MILLIS" else "TIMESTAMP_MICROS")) {
          rows.where(s"id % 2 = ${if (legacy == "true") 1 else 0}").repartition(4)
            .write.mode("append").option("parquet.enable.dictionary", (legacy == "true").toString)
            .parquet(path.toString)
        }
      }
      indexBlooms(path, columns.map(_._1).mkString(", "), "900%")
      val index1 = stored(path)
      assert(described(path).filter(_._1 != "id").values.map(_._1).toSeq === Seq.fill(columns.length)(8L))
      val table = spark.read.parquet(path.toString)
      val fileOf = table.selectExpr("*", "_metadata.file_name f").queryExecution.toRdd.map(_.copy()).collect()
      val all = fileOf.map(r => r.getUTF8String(columns.length + 1).toString)
      val number = index1.files.paths.zipWithIndex.toMap
      val matching = new FilesThatMayMatch(index1, _ => false)
      columns.zipWithIndex.foreach { case ((name, _), c) =>
        val dataType = table.schema(name).dataType
        val attribute = AttributeReference(name, dataType)()
        val values = fileOf.map(r => if (r.isNullAt(c + 1)) null else r.get(c + 1, dataType))
        val byValue = values.zip(all).filter(_._1 != null).groupBy { case (v, _) => Literal(v, dataType) }
        var (kept, possible) = (0, 0)
        byValue.foreach { case (v, holding) =>
          val holders = holding.map(h => number(h._2)).distinct
          Seq(EqualTo(attribute, v), In(attribute, Seq(v, Literal(null, dataType)))).foreach { filter =>
            val found = matching(Seq(filter))
            assert(holders.forall(found.get), s"$filter")
            kept += found.cardinality - holders.length
            possible += 8 - holders.length
          }
        }
        info(s"$name: $kept of $possible kept without need")
        assert(kept <= 0.02 * possible + 2, name)
      }
    }
  }

  test("filters are kept up by refreshes and runs, until an index is made without them") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      scattered(8000, 8).write.parquet(path.toString)
      indexBlooms(path, "id", "100%")
      def t = spark.read.parquet(path.toString)
      def refreshed(): Row = one(s"ZORDER REFRESH INDEX '$path'")
      step("a refresh reads files that are new or changed") {
        (1 to 2).foreach { round =>
          scattered(8000, 2).selectExpr(s"id + ${round * 8000} id", "session", "s")
            .write.mode("append").parquet(path.toString)
          assert(opens(t.where("id = 17")) <= 4)
          Files.delete(Files.list(path).filter(_.toString.endsWith(".parquet")).sorted().findFirst().get)
          aged(path)
          // files that were there before have another time now
          val row = refreshed()
          assert(row.getAs[Long]("bloom_files_read") === row.getAs[Long]("footers_read"))
        }
      }
      step("a refresh reads no other files") {
        assert(refreshed().getAs[Long]("bloom_files_read") === 0)
        val added = dir.resolve("more")
        scattered(1000, 1).selectExpr("id + 100000 id", "session", "s").write.parquet(added.toString)
        aged(added)
        Files.list(added).filter(_.toString.endsWith(".parquet")).forEach { f =>
          Files.move(f, path.resolve(f.getFileName))
          ()
        }
        val row = refreshed()
        assert(row.getAs[Long]("bloom_files_read") === 1)
        assert(described(path)("id")._1 === row.getAs[Long]("files"))
      }
      step("small segments have become one of each size") {
        assert(stored(path).blooms.columns.values.head.stored.segments.map(_.blocks).distinct.length ===
          stored(path).blooms.columns.values.head.stored.segments.length)
        Seq(17, 16017, 100017).foreach(id => assert(opens(t.where(s"id = $id")) <= 3))
      }
      step("a run keeps the filters up") {
        spark.sql(s"ZORDER TABLE '$path' BY (s, session) WITH (fileCount = 6, force = true)")
        assert(described(path)("id")._1 === 6)
        assert(opens(t.where("id = 100017")) <= 2)
      }
      step("made without filters, the index has none, and asks for none when it is kept up") {
        spark.sql(s"ZORDER INDEX '$path'")
        assert(described(path)("id") === ((0, 0)))
      }
    }
  }

  /** Eight files with Bloom filters of their own. */
  private def withFilters(path: Path): Unit =
    scattered(20000, 8).write.option("parquet.bloom.filter.enabled#id", "true")
      .option("parquet.bloom.filter.enabled#s", "true").option("parquet.enable.dictionary", "false")
      .option("parquet.block.size", "65536").parquet(path.toString)

  test("filters that the files have themselves are taken, and no data is read") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withFilters(path)
      val made = indexBlooms(path, "id, s", "100%")
      assert(made.getAs[Long]("bloom_files_read") === 0)
      def t = spark.read.parquet(path.toString)
      (0 until 3).foreach { i =>
        assert(opens(t.where(s"id = ${i * 1999}")) <= 2)
        assert(opens(t.where(s"s = 'k${i * 1999}'")) <= 2)
      }
      assert((100000 until 100003).map(i => opens(t.where(s"id = $i"))).sum <= 1)
      // as large as the values need, not as the files have them
      assert(made.getAs[Long]("bloom_bytes") < 8 * 2 * 2500 * 40 / 8)
    }
  }

  test("filters of files that have not got what their row group has are not taken") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withFilters(path)
      def t = spark.read.parquet(path.toString)
      emptied(Files.list(path).filter(_.toString.endsWith(".parquet")).sorted().findFirst().get)
      assert(indexBlooms(path, "id", "100%").getAs[Long]("bloom_files_read") === 1)
      (0 until 5).foreach(i => assert(opens(t.where(s"id = ${i * 1999}")) <= 2))
    }
  }

  test("files of another integer type than the table's, and values that they cannot hold") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      scattered(4000, 4).selectExpr("cast(id as int) id").write.parquet(path.toString)
      scattered(4000, 4).selectExpr("id + 4294967296 id").write.mode("append").parquet(path.toString)
      aged(path)
      withTable("widened") {
        // not every Spark can read such a table
        spark.sql(s"CREATE TABLE widened (id BIGINT) USING parquet LOCATION '$path'")
        spark.sql("ZORDER INDEX widened WITH (bloom = 'id', bloomBudget = '90%')")
        assert(described(path)("id")._1 === 8)
        val widened = stored(path)
        val id = AttributeReference("id", LongType)()
        def files(ids: Long*): Set[String] = {
          val found = new FilesThatMayMatch(widened, _ => false)(Seq(In(id, ids.map(Literal(_)))))
          widened.files.paths.indices.filter(found.get).map(widened.files.paths(_)).toSet
        }
        widened.files.paths.foreach { file =>
          val held =
            spark.read.parquet(path.resolve(file).toString).selectExpr("cast(id as bigint)").limit(50)
              .collect().map(_.getLong(0))
          held.foreach(v => assert(files(v).contains(file)))
          assert(held.count(v => files(v).size > 1) <= 3)
          assert(files(held.map(_ + 8589934592L).toSeq: _*).isEmpty)
        }
      }
    }
  }

  test("a budget that does not suffice is refused before data is read, with need and budget", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      scattered(20000, 4).write.parquet(path.toString)
      aged(path)
      val refused = intercept[ZOrderException](indexBlooms(path, "id", "1%")).getMessage
      assert(
        refused.matches(".*take about [0-9.]+ KiB, and the budget of .* is [0-9.]+ (KiB|B) .*1%.*"),
        refused)
      assert(!Files.exists(path.resolve("_zorder/index/index-1")))
    }
  }

  test("the need of a column of few values is told from some files", LongTest) {
    withTempDir { dir =>
      val few = dir.resolve("few")
      spark.range(0, 20000, 1, 4).selectExpr("id div 1000 session", "id").write.parquet(few.toString)
      assert(indexBlooms(few, "session", "2k").getAs[Long]("bloom_bytes") <= 2048)
    }
  }

  test("a run does not fail for a small budget", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      scattered(20000, 4).write.parquet(path.toString)
      assert(indexBlooms(path, "id", "44k").getAs[Long]("bloom_bytes") > 0)
      spark.sql(s"ZORDER TABLE '$path' BY (s, session) WITH (fileCount = 6, force = true)")
      assert(described(path)("id")._1 === 6)
    }
  }

  /** One row; most of its columns can have no filters. */
  private def mixed(path: Path): Unit = spark.range(1).selectExpr(
    "id",
    "1.5D dd",
    "true flag",
    "array(id) arr",
    "named_struct('f', id) st",
    "id part").write.partitionBy("part").parquet(path.toString)

  test("columns that can have no filters are refused with a sentence") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      mixed(path)
      def refused(columns: String): String =
        intercept[ZOrderException](indexWith(path, s"bloom = '$columns'")).getMessage
      assert(refused("idd").contains("no column idd to make Bloom filters of. Did you mean dd?"))
      assert(refused("dd").contains("dd (DOUBLE) can have no Bloom filters: 0.0 and -0.0 are equal"))
      assert(refused("flag").contains("two values only"))
      assert(refused("arr").contains("no keys of that type"))
      assert(refused("st").contains("no column st"))
      assert(refused("part").contains("partition column"))
    }
  }

  test("a field of a struct can have filters") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      mixed(path)
      assert(indexBlooms(path, "st.f", "1m").getAs[Long]("bloom_bytes") > 0)
      assert(opens(spark.read.parquet(path.toString).where("st.f = 0")) === 1)
    }
  }

  test("options of filters that cannot be meant are refused with a hint") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      mixed(path)
      def wrong(options: String): String = intercept[ZOrderException](indexWith(path, options)).getMessage
      assert(wrong("blom = 'id'").contains("Did you mean bloom?"))
      for (budget <- Seq("0%", "-1%", "1001%", "100000%", "x%"))
        assert(wrong(s"bloom = 'id', bloomBudget = '$budget'").contains("such as 10%, of at most 1000%"))
    }
  }

  test("CHAR columns can have no filters, VARCHAR columns beside them can") {
    withTempDir { dir =>
      withTable("chars") {
        spark.sql(
          s"CREATE TABLE chars (c CHAR(5), v VARCHAR(5)) USING parquet LOCATION '${dir.resolve("c")}'")
        spark.sql("INSERT INTO chars VALUES ('a', 'a'), ('b', 'b')")
        spark.sql("INSERT INTO chars VALUES ('c', 'c'), ('a', 'aa')")
        aged(dir.resolve("c"))
        val refused =
          intercept[ZOrderException](spark.sql("ZORDER INDEX chars WITH (bloom = 'c')")).getMessage
        assert(refused.contains("padded"))
        spark.sql("ZORDER INDEX chars WITH (bloom = 'v', bloomBudget = '90%')")
        assert(opens(spark.table("chars").where("v = 'aa' AND c = 'a'")) === 1)
      }
    }
  }

  test("old calendars, INT96 and NULLs: no row is lost") {
    withTempDir { dir =>
      val old = dir.resolve("old")
      withConf(
        "spark.sql.parquet.datetimeRebaseModeInWrite" -> "LEGACY",
        "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
        Seq("1500-01-01", "0001-01-01", "2020-01-01", "1890-01-01").foreach { d =>
          spark.sql(s"SELECT date'$d' d, timestamp'$d 00:00:00' ts UNION ALL SELECT date'0001-01-02', timestamp'0001-01-02 00:00:00' " +
            "UNION ALL SELECT date'2025-01-01', timestamp'2025-01-01 00:00:00'").coalesce(1)
            .write.mode("append").parquet(old.toString)
        }
      }
      withConf("spark.sql.parquet.outputTimestampType" -> "INT96") {
        spark.sql("SELECT date'2021-01-01' d, timestamp'2021-01-01 00:00:00' ts UNION ALL SELECT null, null")
          .coalesce(1).write.mode("append").parquet(old.toString)
      }
      indexBlooms(old, "d, ts", "100%")
      def t = spark.read.parquet(old.toString)
      Seq("1500-01-01", "0001-01-01", "2020-01-01", "1890-01-01", "2021-01-01").foreach { d =>
        assert(t.where(s"d = date'$d'").count() === 1, d)
        assert(t.where(s"ts = timestamp'$d 00:00:00'").count() === 1, d)
      }
      assert(opens(t.where("d = date'2020-01-01'")) === 1)
      assert(opens(t.where("d <=> null")) === 1)
      assert(opens(t.where("d = date'2020-01-01' OR d IS NULL")) === 2)
    }
  }
}
