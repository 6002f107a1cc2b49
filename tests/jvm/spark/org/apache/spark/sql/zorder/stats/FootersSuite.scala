package org.apache.spark.sql.zorder.stats

import java.io.FileNotFoundException
import java.net.URI
import java.nio.file.{Files, Paths}

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.fs.{Path => HPath}
import org.apache.parquet.crypto.FileEncryptionProperties
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.util.SizeEstimator
import sparkzorder.curve.{NormalizedLong, Zone}
import org.scalatest.funsuite.AnyFunSuite

class FootersSuite extends AnyFunSuite with StatsFixture {

  private def allTypes(rows: Int): DataFrame = {
    val values = Seq(
      "id % 3 = 0 as bool",
      "cast(id % 200 - 100 as byte) as i8",
      "cast(id * 7 - 500 as short) as i16",
      "cast(id * 700001 - 900000 as int) as i32",
      "id * 10000000019 - 17 as i64",
      "cast(id / 3 - 99 as float) as f32",
      "if(id % 5 = 0, -0.0d, id / 7 - 50) as f64",
      "cast(id - 300 as decimal(7, 2)) as d7",
      "cast(id * 100003 - 300 as decimal(18, 4)) as d18",
      "cast(id * 100003 - 300 as decimal(38, 10)) as d38",
      "concat('é', repeat('x', 70), id) as s",
      "cast(concat('b', id) as binary) as bin",
      "date_add(date'1999-12-30', cast(id as int)) as day",
      "timestamp_micros(id * 1234567891 - 5) as ts",
      "cast(timestamp_micros(id * 1234567891) as timestamp_ntz) as ntz",
      "make_ym_interval(cast(id as int) - 50, 3) as ym",
      "make_dt_interval(cast(id as int) - 50, 1, 2, 3.5) as dt")
    val nulled = values.map { v =>
      val at = v.lastIndexOf(" as ")
      s"if(id % 7 = 0, null, ${v.take(at)})${v.drop(at)}"
    }
    spark.range(rows).selectExpr((nulled :+ "id as k" :+ "struct(id - 4 as f) as st"): _*)
  }

  test("the zones of all types are Spark's own min and max, in files and over row groups") {
    inTempDir { dir =>
      setting("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
        allTypes(3000).repartitionByRange(6, org.apache.spark.sql.functions.col("k"))
          .write.option("parquet.block.size", 20000).option("parquet.page.size", 2000)
          .parquet(dir.resolve("t").toString)
      }
      val schema = spark.read.parquet(dir.resolve("t").toString).schema
      val paths = schema.fieldNames.filterNot(_ == "st").map(Seq(_)).toSeq :+ Seq("st", "f")
      val columns = paths.map(StatColumn.in(schema, _))
      val read = footers(dir.resolve("t"), columns: _*)
      assert(read.size == 6)
      assert(read.map(_.rows).sum == 3000)
      read.foreach { footer =>
        val df = spark.read.parquet(footer.file.path)
        trueZones(df, columns).zipWithIndex.foreach { case (zone, i) =>
          assert(footer.zone(i) == zone, columns(i))
        }
        assert(footer.rowGroups.size > 1 && footer.rowGroups.map(_.rows).sum == footer.rows)
        val byName =
          footer.schema.leaves.indices.map(i => footer.schema.leaves(i).name -> footer.nulls(i)).toMap
        assert(byName("i32") == df.where("i32 is null").count())
      }
      // bounds of long strings are cut in the page index, all others are exact
      PageIndex.read(session, read.map(_.file), columns).zip(read).foreach { case (pages, footer) =>
        columns.indices.foreach { i =>
          val all = ZoneAlgebra.union(pages.pages(i).map(_._2))
          assert(pages.pages(i).map(_._1).sum == footer.rows)
          assert(ZoneAlgebra.union(all, footer.zone(i)) == all)
          if (columns(i).dataType != StringType) assert(all == footer.zone(i), columns(i))
        }
      }
    }
  }

  test("footers come in the order of the files, from one job; a few files need none") {
    inTempDir { dir =>
      spark.range(0, 170, 1, 17).write.parquet(dir.resolve("t").toString)
      val files = parquetFiles(dir).reverse
      var descriptions = Seq.empty[String]
      val listener = new SparkListener {
        override def onJobStart(start: SparkListenerJobStart): Unit =
          descriptions :+= start.properties.getProperty("spark.job.description")
      }
      spark.sparkContext.addSparkListener(listener)
      spark.sparkContext.setJobDescription("the caller's")
      try {
        assert(Footers.read(session, files, Seq(StatColumn(Seq("id"), LongType))).map(_.file) == files)
        assert(Footers.read(session, files.take(4)).map(_.file) == files.take(4))
        assert(Footers.read(session, files.take(16)).map(_.file) == files.take(16))
        // of files that the driver reads, too, the first that is damaged fails the call
        val gone = files.take(16).updated(9, files(9).copy(path = dir.resolve("gone.parquet").toUri.toString))
        assert(ExceptionUtils.getThrowables(intercept[Exception](Footers.read(session, gone)))
          .exists(_.isInstanceOf[FileNotFoundException]))
        spark.sparkContext.listenerBus.waitUntilEmpty()
        assert(descriptions == Seq("spark-zorder: footers of 17 files"))
        assert(spark.sparkContext.getLocalProperty("spark.job.description") == "the caller's")
      } finally {
        spark.sparkContext.setJobDescription(null)
        spark.sparkContext.removeSparkListener(listener)
      }
    }
  }

  test("the footers of thousands of files are fewer bytes than Spark takes of a job") {
    inTempDir { dir =>
      val names = (0 until 20).map(i => s"c$i")
      spark.range(100).selectExpr(names.map(c => s"id $c"): _*).coalesce(1)
        .write.parquet(dir.resolve("t").toString)
      val file = parquetFiles(dir).head
      val (conf, key) = (spark.sparkContext.conf, "spark.driver.maxResultSize")
      val before = conf.getOption(key)
      conf.set(key, "2m")
      try {
        val columns = names.map(c => StatColumn(Seq(c), LongType))
        val read = Footers.read(session, Seq.fill(4000)(file), columns)
        assert(read.length == 4000 && read.forall(_.rows == 100))
      } finally before.fold(conf.remove(key))(text => conf.set(key, text))
    }
  }

  test("pages that are read with the footers are those that are read alone, of the first columns") {
    inTempDir { dir =>
      spark.range(0, 4000, 1, 3).selectExpr("id", "-id other").write
        .option("parquet.page.row.count.limit", "500").parquet(dir.resolve("t").toString)
      val files = parquetFiles(dir)
      val columns = Seq(StatColumn(Seq("id"), LongType), StatColumn(Seq("other"), LongType))
      val (footers, pages) = Footers.readWithSomePages(session, files, columns, paged = 1)
      assert(footers == Footers.read(session, files, columns))
      assert(pages == PageIndex.read(session, files, columns.take(1)) && pages.head.pages(0).length == 3)
      assert(Footers.readWithSomePages(session, files, columns, paged = 0)._2.isEmpty)
      // a file whose page indexes are damaged has a footer nevertheless, and the caller reads pages by itself
      val at = Paths.get(URI.create(files(1).path))
      Files.deleteIfExists(at.resolveSibling(s".${at.getFileName}.crc"))
      val reader =
        ParquetFileReader.open(HadoopInputFile.fromPath(
          new HPath(at.toUri),
          spark.sparkContext.hadoopConfiguration))
      val index =
        try reader.getFooter.getBlocks.get(0).getColumns.get(0).getColumnIndexReference
        finally reader.close()
      val bytes = Files.readAllBytes(at)
      val from = index.getOffset.toInt
      java.util.Arrays.fill(bytes, from, from + index.getLength, 0x7f.toByte)
      Files.write(at, bytes)
      val (again, none) = Footers.readWithSomePages(session, files, columns, paged = 1)
      assert(again == footers && none.isEmpty)
    }
  }

  test("footers that are known are not read again, but those of files that have changed are") {
    inTempDir { dir =>
      spark.range(0, 90, 1, 9).write.parquet(dir.resolve("t").toString)
      val files = parquetFiles(dir)
      val columns = Seq(StatColumn(Seq("id"), LongType))
      val known = Footers.read(session, files.take(8), columns)
      val changed = files.head.copy(deleted = Some(1L))
      val again = Footers.readOthers(session, (changed +: files.tail).reverse, columns, known)
      assert(again.map(_.file) == (changed +: files.tail).reverse)
      assert(again.filter(a => known.exists(_ eq a)).map(_.file) == files.slice(1, 8).reverse)
      assert(again.map(_.zone(0)) == Footers.read(session, files.reverse, columns).map(_.zone(0)))
    }
  }

  test("long texts have the bytes that they are read as, however well they are compressed") {
    inTempDir { dir =>
      spark.range(1000).selectExpr("id", "concat(cast(id as string), repeat('x', 5000)) AS t").coalesce(1)
        .write.parquet(dir.resolve("t").toString)
      val footer = footers(dir).head
      assert(footer.bytes(1) < 1000000 && footer.rawBytes(1) > 5000000 && footer.rawBytes(0) == 8000)
    }
  }

  test("what a footer says of each of many columns takes eight bytes a number") {
    inTempDir { dir =>
      spark.range(200).selectExpr((0 until 300).map(i => s"id + $i AS c$i"): _*).coalesce(1)
        .write.parquet(dir.resolve("t").toString)
      val footer = footers(dir).head
      assert(footer.schema.leaves.length == 300 && footer.values(299) == 200 && footer.bytes(299) > 127)
      for (numbers <- Seq[AnyRef](footer.nulls, footer.values, footer.bytes, footer.rawBytes))
        assert(SizeEstimator.estimate(numbers) <= 300 * 8 + 100)
    }
  }

  test("NULL-only, empty and absent columns") {
    inTempDir { dir =>
      def write(rows: Int, name: String): Unit =
        spark.range(rows).selectExpr("id", "cast(null as int) as n").coalesce(1)
          .write.parquet(dir.resolve(name).toString)
      write(10, "t")
      write(0, "none")
      val columns = Seq(
        StatColumn(Seq("n"), IntegerType),
        StatColumn(Seq("x"), IntegerType),
        StatColumn(Seq("x"), IntegerType, absent = Zone.OnlyNulls))
      val full = footers(dir.resolve("t"), columns: _*).head
      assert(full.block((0 until 3).map(Some(_))).zones == IndexedSeq(
        Zone.OnlyNulls,
        Zone.Unknown,
        Zone.OnlyNulls))
      val none = footers(dir.resolve("none"), columns: _*)
      assert(none.forall(f => f.rows == 0 && f.zone(0) == Zone.OnlyNulls))
    }
  }

  test("names are compared as the session compares them") {
    inTempDir { dir =>
      spark.range(10).selectExpr("id as ID").coalesce(1).write.parquet(dir.resolve("t").toString)
      val column = StatColumn(Seq("id"), LongType)
      assert(footers(dir, column).head.zone(0) == Zone.Between(NormalizedLong(0), NormalizedLong(9)))
      setting("spark.sql.caseSensitive" -> "true")(assert(footers(dir, column).head.zone(0) == Zone.Unknown))
    }
  }

  test("encrypted files are marked and refused, whether or not the footer is readable") {
    inTempDir { dir =>
      val schema = "message m { optional int64 a; }"
      def key = FileEncryptionProperties.builder("0123456789abcdef".getBytes)
      Seq("a" -> key.build(), "b" -> key.withPlaintextFooter().build()).foreach { case (name, keys) =>
        exampleFile(dir.resolve(s"$name.parquet"), schema, encryption = Some(keys)) { (g, i) =>
          g.append("a", i.toLong)
        }
      }
      val read = footers(dir, StatColumn(Seq("a"), LongType))
      assert(read.map(_.encrypted) == Seq(true, true))
      val refused = InputProperties.of(read).refusals.head
      assert(refused.condition == "ZORDER_FILE_UNREADABLE.ENCRYPTED")
      assert(refused.sentence.contains("a.parquet is encrypted and so are 1 more"))
    }
  }

  test("types that only Spark 4 has: TIME has zones, a collated string has none") {
    assume(spark.version >= "4.1", "TIME exists from Spark 4.1 on")
    inTempDir { dir =>
      spark.range(1, 9).selectExpr(
        "cast(make_time(1, 2, cast(id as decimal(16, 6))) as time(6)) as t",
        "cast(id as string) collate UTF8_LCASE as c").coalesce(1).write.parquet(dir.resolve("t").toString)
      val df = spark.read.parquet(dir.resolve("t").toString)
      val columns = Seq("t", "c").map(c => StatColumn.in(df.schema, Seq(c)))
      val read = footers(dir, columns: _*)
      assert(read.head.zone(0) == trueZones(df, columns.take(1)).head)
      assert(read.head.zone(1) == Zone.Unknown)
      val union = SchemaUnion.of(read, Some(df.schema), caseSensitive = false)
      assert(union.schema == df.schema && union.refusals.isEmpty && union.losses.isEmpty)
    }
  }

  test("a file without a field that has a default, at any depth, tells nothing of it") {
    val default = new MetadataBuilder().putString("EXISTS_DEFAULT", "9").build()
    val inner = new StructType().add("x", IntegerType).add("z", IntegerType, nullable = true, default)
    val schema = new StructType().add("st", inner)
    assert(StatColumn.in(schema, Seq("st", "z")).absent == Zone.Unknown)
    assert(StatColumn.in(schema, Seq("st", "x")).absent == Zone.OnlyNulls)
  }

  private def zones(path: java.nio.file.Path, types: (String, DataType)*): IndexedSeq[Zone] = {
    val columns = types.map { case (n, t) => StatColumn(Seq(n), t) }
    footers(path, columns: _*).head.block((0 until types.size).map(Some(_))).zones
  }

  test("what is in doubt is unknown: INT96, NaN, another type, repeated columns") {
    inTempDir { dir =>
      setting("spark.sql.parquet.outputTimestampType" -> "INT96") {
        spark.range(1, 9).selectExpr(
          "timestamp_micros(id) as t",
          "if(id = 3, double('NaN'), id) as x",
          "if(id = 3, float('NaN'), id) as y",
          "array(id) as a",
          "id")
          .coalesce(1).write.parquet(dir.resolve("t").toString)
      }
      val doubtful = zones(
        dir.resolve("t"),
        "t" -> TimestampType,
        "x" -> DoubleType,
        "y" -> FloatType,
        "a" -> LongType,
        "id" -> StringType,
        "id" -> IntegerType)
      assert(doubtful.toSet == Set(Zone.Unknown))
    }
  }

  test("days that the old calendar may have written are unknown") {
    inTempDir { dir =>
      def dates(mode: String, first: String): Zone = {
        setting("spark.sql.parquet.datetimeRebaseModeInWrite" -> mode) {
          spark.range(9).selectExpr(s"date_add(date'$first', cast(id as int)) as d").coalesce(1)
            .write.mode("overwrite").parquet(dir.resolve("d").toString)
        }
        zones(dir.resolve("d"), "d" -> DateType).head
      }
      assert(dates("LEGACY", "1500-01-01") == Zone.Unknown)
      assert(dates("LEGACY", "1970-01-01") == Zone.Between(NormalizedLong(0), NormalizedLong(8)))
      assert(dates("CORRECTED", "1500-01-01").isInstanceOf[Zone.Between])
    }
  }

  test("a file that is no Parquet has no raw footer, whatever number its last bytes make") {
    inTempDir { dir =>
      val conf = spark.sessionState.newHadoopConf()
      // as a length: -1, two gigabytes, and one byte more than there is before it
      val huge = Seq("PAR1", "zzzz").map(end => Array[Byte](-1, -1, -1, 127) ++ end.getBytes)
      for (end <- huge ++ Seq(Array.fill[Byte](8)(-1), Array[Byte](93, 0, 0, 0) ++ "PAR1".getBytes)) {
        val path = Files.write(dir.resolve("notes.parquet"), new Array[Byte](92) ++ end)
        val file = DataFile(path.toUri.toString, 100L, 0L, "")
        assert(RawFooter.unknownTypes(conf, file).isEmpty)
      }
    }
  }
}
