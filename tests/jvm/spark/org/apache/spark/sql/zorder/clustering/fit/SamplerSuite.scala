package org.apache.spark.sql.zorder.clustering.fit

import org.apache.spark.sql.{DataFrame, SparkSession}
import sparkzorder.curve.build.CurveRegistry
import sparkzorder.curve.cost.ShareRead
import sparkzorder.curve.page.PageCut
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.mark.SameOnAllLines

@SameOnAllLines
class SamplerSuite extends AnyFunSuite with BeforeAndAfterAll {
  private lazy val spark: SparkSession = SparkSession.builder()
    .master("local[2]").config("spark.sql.shuffle.partitions", 4).config("spark.ui.enabled", "false")
    .config("spark.sql.warehouse.dir", java.nio.file.Files.createTempDirectory("sampler").toString)
    .getOrCreate()

  override def afterAll(): Unit = spark.stop()

  private val Rows = 200000

  private def rows(columns: String*): DataFrame =
    spark.range(0, Rows, 1, 4).selectExpr(columns: _*)

  private def all(df: DataFrame): Sample = Sampler.collect(df, 1, (_, _, _) => true).head

  private def longs(s: Sample, c: Int): Array[Long] = s.columns(c) match {
    case l: LongSample => l.normalized
    case other => fail(s"$other")
  }

  private def bounded(df: DataFrame, most: Int, wanted: Int): Sample =
    Sampler.collectBounded(df, SampleBound(most, Long.MaxValue), SampleBound(wanted, Long.MaxValue))

  private def lengths(s: Sample): Array[Long] = s.columns.head match {
    case b: BytesSample => b.normalized.map(_.length.toLong)
    case other => fail(s"$other")
  }

  test("the same rows at every try") {
    val df = rows("id AS a", "0 AS route")
    val (x, y) =
      (Sampler.collect(df, 1, Sampler.byPlace(0.05)), Sampler.collect(df, 1, Sampler.byPlace(0.05)))
    assert(longs(x.head, 0).sameElements(longs(y.head, 0)))
  }

  test("about the share asked for, evenly over sorted input") {
    val sample = Sampler.collect(rows("id AS a", "0 AS route"), 1, Sampler.byPlace(0.05)).head
    assert(math.abs(sample.rows - 0.05 * Rows) < 400)
    val tenths = longs(sample, 0).groupBy(v => v * 10 / Rows).map { case (k, v) => k -> v.length }
    assert(tenths.size == 10 && tenths.values.forall(n => math.abs(n - 1000) < 150), tenths)
    assert(Sampler.collect(rows("id AS a", "0 AS route"), 1, Sampler.byPlace(1.0)).head.rows == Rows)
    assert(Sampler.collect(rows("id AS a", "0 AS route"), 1, Sampler.byPlace(0.0)).head.rows == 0)
  }

  test("of an unknown number of rows, no task keeps more than it is told") {
    val sample = bounded(rows("id AS a"), 1000, 4000)
    assert(sample.rows <= 4000 && sample.rows > 3000)
    assert(bounded(rows("id AS a").limit(10), 1000, 4000).rows == 10)
  }

  test("a task with nearly all rows leaves no small sample, nor one that prefers the rows of others") {
    val skewed = spark.range(0, Rows, 1, 1).union(spark.range(0, 200, 1, 20)).selectExpr("id AS a")
    val sample = bounded(skewed, 1000, 20000)
    assert(math.abs(sample.rows - 20000) < 1000)
    assert(math.abs(longs(sample, 0).count(_ < Rows / 2) - 10000) < 1000)
    assert(bounded(skewed, 1000, 2 * Rows).rows == Rows + 200)
  }

  private val Long10k = "rpad(CAST(id AS STRING), 10000, 'x') AS a"

  test("of long rows, no task keeps more bytes than it is told") {
    val df = spark.range(0, 5000, 1, 1).selectExpr(Long10k)
    val most = SampleBound(5000, 4L << 20)
    val kept = lengths(Sampler.collectBounded(df, most, most))
    assert(kept.sum <= most.bytes && kept.length > 300)
  }

  test("a task with nearly all bytes leaves no small sample, and a second job no more than is wanted") {
    val long = spark.range(0, 2000, 1, 1).selectExpr(Long10k)
    val short = spark.range(0, 200, 1, 20).selectExpr("CAST(id AS STRING) AS a")
    val wanted = SampleBound(5000, 2L << 20)
    val kept = lengths(Sampler.collectBounded(long.union(short), SampleBound(5000, 100L << 10), wanted))
    assert(kept.count(_ == 10000) > 100)
    assert(kept.filter(_ == 10000).sum <= wanted.bytes)
  }

  test("routes: every row in its own sample, a route without rows has none") {
    val samples = Sampler.collect(
      rows("id AS a", "CAST(id AS STRING) AS b", "CAST(id % 3 AS INT) AS route"),
      4,
      (_, _, _) => true)
    assert(samples.map(_.rows) == Seq(66667, 66667, 66666, 0))
    (0 until 3).foreach(r => assert(longs(samples(r), 0).forall(_ % 3 == r)))
  }

  test("a share for each route") {
    val df = rows("id AS a", "CAST(id % 2 AS INT) AS route")
    val samples = Sampler.collect(df, 2, Sampler.byPlace(Map(0 -> 0.05, 1 -> 1.0)))
    assert(math.abs(samples.head.rows - 0.05 * Rows / 2) < 400)
    assert(samples(1).rows == Rows / 2)
  }

  test("rows are counted by number, and split where parts begin; a part without rows has none") {
    val counted = Sampler.counted(rows("id AS a", "CAST(id % 5 AS INT) AS n"), 7, (_, _, row) => row % 10 < 5)
    assert(counted.rows.toSeq == Seq(40000, 40000, 40000, 40000, 40000, 0, 0))
    val parts = counted.split(Array(0, 2, 5))
    assert(parts.map(_.rows.toSeq) == Seq(Seq(40000, 40000), Seq(40000, 40000, 40000), Seq(0, 0)))
    assert(parts.map(_.sample.rows) == Seq(40000, 60000, 0))
    for ((part, first) <- parts.zip(Seq(0, 2, 5)))
      assert(longs(part.sample, 0).map(a => (a % 5).toInt - first).sameElements(part.number))
  }

  test("a plan without partitions gives an empty sample, and an empty sample a layout of one file") {
    val df =
      spark.emptyDataFrame.selectExpr("CAST(1 AS BIGINT) AS a", "'x' AS b", "0 AS route").where("a = 2")
    val sample = all(df)
    assert(sample.rows == 0 && sample.columns.length == 2)
    val columns = Seq(FitColumn("a", "BIGINT"), FitColumn("b", "STRING"))
    for (curve <- CurveRegistry.names)
      assert(Fit.choose(sample, columns, 8, curve, Nil, 1.0).layout.files == 1, curve)
  }

  test("NULLs and strings arrive as they are") {
    val sample = all(rows("IF(id % 2 = 0, NULL, CAST(id AS STRING)) AS a", "0 AS route").limit(10))
    sample.columns.head match {
      case b: BytesSample =>
        assert(b.isNull.count(identity) == 5)
        assert(
          b.normalized.zip(
            b.isNull).filterNot(_._2).map(w => new String(w._1, "UTF-8").toInt).forall(_ % 2 == 1))
      case other => fail(s"$other")
    }
  }

  private val tables = Seq(
    "wide" -> Seq("hash(id) AS a", "xxhash64(id) AS b"),
    "skewed" -> Seq(
      "CAST(1 / (1e-6 + pmod(xxhash64(id), 1000000) / 1e6) AS BIGINT) AS a",
      "pmod(hash(id, 1), 1000) AS b"),
    "strings, NULLs" -> Seq(
      "IF(pmod(hash(id, 5), 10) < 3, NULL, CAST(pmod(hash(id), 100000) AS STRING)) AS a",
      "concat('long/common/prefix/', pmod(hash(id, 3), 1000000)) AS b"))

  for ((name, columns) <- tables; (curve, files) <- Seq(("zorder", 64), ("auto", 50), ("lexical", 20)))
    test(s"forecast within 5 % of what the whole table then shows: $name, $curve, $files files") {
      val df = rows(columns :+ "0 AS route": _*)
      val (fitted, heldOut) = Sampler.collect(df, 1, Sampler.byPlace(0.25)).head.halves
      val layout = Fit.choose(fitted, columns.map(c => FitColumn(c, "")), files, curve, Nil, 3.2).layout
      val pageRows = Rows / files / 3.2
      val forecast = LayoutForecast.blocks(heldOut, layout, Rows, PageCut(pageRows, pageRows * 2))
      val whole = all(df)
      val measured = LayoutForecast.blocks(whole, layout, Rows, PageCut(pageRows, pageRows * 2))
      val told = heldOut.columns.map(_.sorted)
      val actual = whole.columns.map(_.sorted)
      Seq(
        ("files", forecast.files, measured.files),
        ("row groups", forecast.rowGroups, measured.rowGroups),
        ("pages", forecast.pages, measured.pages)).foreach { case (level, f, m) =>
        val (x, y) = (ShareRead.ofColumns(f, told), ShareRead.ofColumns(m, actual))
        info(
          s"$level: forecast ${x.map(v => f"$v%.4f").mkString(" ")} measured ${y.map(v => f"$v%.4f").mkString(" ")}")
        x.zip(y).foreach { case (a, b) => assert(math.abs(a - b) <= 0.05 * b + 0.002, level) }
      }
      assert(measured.files.map(_.rows).sum == Rows && measured.pages.map(_.rows).sum == Rows)
      assert(measured.pages.forall(_.rows <= pageRows + 1))
    }
}
