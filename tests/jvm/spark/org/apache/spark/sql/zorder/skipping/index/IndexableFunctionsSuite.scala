package org.apache.spark.sql.zorder.skipping.index

import java.sql.{Date, Timestamp}

import scala.collection.JavaConverters._
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, BindReferences, EqualTo, Expression, Literal, Or}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderSession
import sparkzorder.LongTest

/** What is indexed has one value for each row, whatever the settings are; or the settings are part of its meaning. */
class IndexableFunctionsSuite extends AnyFunSuite with ZOrderSession {

  private val schema = StructType.fromDDL(
    "i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(20,10), m DECIMAL(20,10), w DECIMAL(38,10), s STRING, x BINARY, " +
      "b BOOLEAN, dt DATE, t TIMESTAMP, u TIMESTAMP_NTZ, arr ARRAY<INT>, mp MAP<STRING, INT>, st STRUCT<a: INT, c: STRING>")

  private val rows = Seq(
    row(
      1,
      5L,
      1.5f,
      -2.5,
      "3.3333333333",
      "7.25",
      "12345678901234567890.5",
      "Ab c",
      "616263",
      true,
      19675,
      1700000000123L),
    row(
      -7,
      1L << 40,
      0.1f,
      1e10,
      "-0.0000000001",
      "99",
      "0.0000000001",
      "\u0130stanbul \u00e4",
      "00ff",
      false,
      -1,
      -1L),
    row(0, 0L, 0f, 0.0, "1", "3", "5", "", "", true, 0, 1710053999000L),
    Row.fromSeq(Seq.fill(16)(null)))

  private def row(
      i: Int,
      l: Long,
      f: Float,
      d: Double,
      n: String,
      m: String,
      w: String,
      s: String,
      x: String,
      b: Boolean,
      day: Int,
      ms: Long): Row = Row(
    i,
    l,
    f,
    d,
    new java.math.BigDecimal(n),
    new java.math.BigDecimal(m),
    new java.math.BigDecimal(w),
    s,
    x.grouped(2).filter(_.nonEmpty).map(Integer.parseInt(_, 16).toByte).toArray,
    b,
    Date.valueOf(java.time.LocalDate.ofEpochDay(day.toLong)),
    new Timestamp(ms),
    java.time.LocalDateTime.ofEpochSecond(ms / 1000, 0, java.time.ZoneOffset.UTC),
    Seq(i, 2),
    Map("k" -> i),
    Row(i, s))

  /** Each function of the list at least once, and those on which settings are known to have a say with unlike types. */
  private val samples: Seq[String] = Seq(
    "b AND i > 0",
    "b OR i < 0",
    "NOT b",
    "CASE WHEN i > 0 THEN s WHEN i < 0 THEN 'x' ELSE 'y' END",
    "coalesce(i, 3)",
    "i <=> 3",
    "i = 3",
    "n = m",
    "i >= 3",
    "i <= 3",
    "greatest(i, l)",
    "least(s, 'b')",
    "if(b, i, 7)",
    "i IN (1, 2)",
    s"i IN (${(1 to 40).mkString(", ")})",
    "isnan(d)",
    "s IS NOT NULL",
    "arr IS NULL",
    "nanvl(d, 1.5D)",
    "nullif(i, 0)",
    "nvl2(s, i, 5)",
    "i BETWEEN 1 AND 5",
    "abs(i)",
    "abs(n)",
    "i + l",
    "n + m",
    "w + w",
    "n - w",
    "n * m",
    "w * n",
    "n / m",
    "w / n",
    "i / 3",
    "d / 3",
    "l div 3",
    "n % m",
    "i % 3",
    "pmod(i, 3)",
    "-n",
    "bround(d, 1)",
    "round(n, 2)",
    "round(d, 1)",
    "i & 6",
    "~i",
    "i | 8",
    "i ^ 5",
    "cbrt(d)",
    "ceil(d)",
    "ceil(n)",
    "ceil(n, 1)",
    "floor(d)",
    "floor(n, 1)",
    "exp(f)",
    "ln(d * d + 1)",
    "log10(d * d + 1)",
    "log2(d * d + 1)",
    "power(d, 2)",
    "shiftleft(i, 2)",
    "shiftright(i, 2)",
    "shiftrightunsigned(i, 2)",
    "sign(d)",
    "sqrt(d * d)",
    "cast(i as string)",
    "cast(d as string)",
    "cast(f as double)",
    "cast(n as string)",
    "cast(w as string)",
    "cast(n as decimal(12, 2))",
    "cast(d as decimal(20, 3))",
    "cast(n as int)",
    "cast(t as string)",
    "cast(t as date)",
    "cast(t as bigint)",
    "cast(t as timestamp_ntz)",
    "cast(u as timestamp)",
    "cast(dt as string)",
    "cast(dt as timestamp)",
    "cast(x as string)",
    "cast(s as binary)",
    "cast(b as string)",
    "cast(cast(i as string) as int)",
    "cast(cast(d as string) as double)",
    "cast(cast(dt as string) as date)",
    "cast(cast(t as string) as timestamp_ntz)",
    "ascii(s)",
    "bit_length(s)",
    "char(i + 70)",
    "concat(s, 'x', s)",
    "s || i",
    "s LIKE '%b%'",
    "crc32(x)",
    "s LIKE '%c'",
    "hex(x)",
    "hex(l)",
    "hex(s)",
    "initcap(s)",
    "length(s)",
    "length(x)",
    "s LIKE 'A_ %c'",
    "lower(s)",
    "upper(s)",
    "md5(x)",
    "hash(s, i)",
    "hash(d)",
    "octet_length(s)",
    "s RLIKE '^[A-Z]'",
    "regexp_extract(s, '([a-z]+)', 1)",
    "regexp_replace(s, '[a-c]', '-')",
    "reverse(s)",
    "sha(x)",
    "sha2(x, 256)",
    "s LIKE 'A%'",
    "instr(s, 'b')",
    "lpad(s, 7, '*')",
    "locate('b', s, 1)",
    "rpad(s, 7, '*')",
    "repeat(s, 2)",
    "replace(s, 'b', 'zz')",
    "translate(s, 'bc', 'xy')",
    "trim(s)",
    "ltrim(s)",
    "rtrim(s)",
    "trim(BOTH 'A' FROM s)",
    "substring(s, 2, 2)",
    "substring(x, 1, 1)",
    "left(s, 2)",
    "right(s, 2)",
    "substring_index(s, ' ', 1)",
    "unhex(hex(s))",
    "xxhash64(s, n)",
    "add_months(dt, 1)",
    "date_add(dt, 3)",
    "dt + INTERVAL '1' MONTH",
    "datediff(dt, date'2020-01-01')",
    "date_from_unix_date(i)",
    "date_sub(dt, i)",
    "day(dt)",
    "dayofweek(dt)",
    "dayofyear(dt)",
    "from_utc_timestamp(t, 'Asia/Tokyo')",
    "hour(t)",
    "hour(u)",
    "last_day(dt)",
    "make_date(2020, 2, abs(i) + 1)",
    "timestamp_micros(l)",
    "timestamp_millis(l)",
    "minute(t)",
    "month(dt)",
    "month(t)",
    "months_between(t, timestamp_ntz'2020-01-01 00:00:00')",
    "next_day(dt, 'MON')",
    "quarter(dt)",
    "second(t)",
    "timestamp_seconds(i)",
    "extract(SECOND FROM t)",
    "t + INTERVAL '1' HOUR",
    "u + INTERVAL '1' DAY",
    "timestampadd(HOUR, 3, t)",
    "t + INTERVAL '1' MONTH",
    "timestampdiff(DAY, timestamp_seconds(0), t)",
    "to_utc_timestamp(t, 'Asia/Tokyo')",
    "trunc(dt, 'MM')",
    "date_trunc('WEEK', t)",
    "t >= timestamp'2024-03-10 01:00:00'",
    "coalesce(t, timestamp'2024-03-10 01:00:00')",
    "unix_date(dt)",
    "unix_micros(t)",
    "unix_millis(t)",
    "unix_seconds(t)",
    "weekday(dt)",
    "weekofyear(dt)",
    "year(dt)",
    "year(t)",
    "extract(YEAROFWEEK FROM dt)",
    "arr[0]",
    "mp['k']",
    "st.a + 1",
    "lower(st.c)",
    "to_date(t)",
    "to_date(s IS NULL)".replace("to_date(s IS NULL)", "ifnull(s, 'z')"))

  private val zone = "America/St_Johns"

  private lazy val table: DataFrame = spark.createDataFrame(rows.asJava, schema)
    .queryExecution.toRdd.map(_.copy()).collect() match {
    case internal =>
      held = internal.toSeq
      spark.createDataFrame(spark.sparkContext.parallelize(rows, 1), schema)
  }
  private var held: Seq[InternalRow] = Nil

  /** What a session makes of some expressions: its meaning and its values; None where it fails. */
  private def made(all: Seq[String]): Seq[Option[(Option[String], Seq[Any])]] =
    Try(planned(all)).toOption match {
      case Some(found) => found.map { case (e, bound) =>
          Try((
            ExpressionMeaning.of(e, SQLConf.get),
            held.map(r =>
              bound.eval(r) match {
                case bytes: Array[Byte] => bytes.toSeq
                case other => other
              }))).toOption
        }
      case None if all.length > 1 => all.flatMap(s => made(Seq(s)))
      case None => Seq(None)
    }

  private def planned(all: Seq[String]): Seq[(Expression, Expression)] = {
    val plan = table.select(all.map(expr(_)): _*).queryExecution.optimizedPlan
    plan match {
      case Project(list, child) =>
        val found = list.map {
          case Alias(e, _) => e
          case e => e
        }
        found.map(e => e -> BindReferences.bindReference(e, child.output))
      case other => throw new IllegalStateException(other.toString)
    }
  }

  private def base[T](body: => T): T =
    withConf("spark.sql.session.timeZone" -> zone, "spark.sql.ansi.enabled" -> "false")(body)

  private def differences(settings: Seq[(String, String)]): (Int, Seq[String]) = {
    val expected = base(made(samples))
    assert(
      expected.forall(_.exists(_._1.isDefined)),
      samples.zip(expected).filter(!_._2.exists(_._1.isDefined)).map(_._1))
    var tried = 0
    val found = settings.flatMap { case (key, value) =>
      base(if (Try(spark.conf.set(key, value)).isFailure) Nil
      else
        try {
          tried += 1
          samples.zip(expected.zip(made(samples))).collect {
            case (sample, (Some((meaning, values)), Some((now, others))))
                if meaning == now && values != others =>
              s"$sample under $key = $value: $others for $values"
          }
        } finally spark.conf.unset(key))
    }
    (tried, found)
  }

  test("every function of the list is tested here, and nothing else is") {
    base {
      val _ = table
      val all = planned(samples).map(_._1)
      val refused = samples.zip(all).flatMap { case (s, e) =>
        IndexableFunctions.refused(e, e, s).map(s -> _)
      }
      assert(refused.isEmpty)
      val wholeStruct = planned(Seq("st IS NULL")).head._1
      assert(IndexableFunctions.refused(wholeStruct, wholeStruct, "s").isDefined)
      val seen = all.flatMap(_.collect { case e => e.getClass.getSimpleName }).toSet
      val there = IndexableFunctions.Names.filter(n =>
        Try(Class.forName(s"org.apache.spark.sql.catalyst.expressions.$n")).isSuccess)
      assert((there -- seen).isEmpty)
    }
  }

  test("hashes of collated texts are refused (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no collations")
    base {
      val collated = "CAST(s AS STRING COLLATE UNICODE)"
      def refused(text: String): Boolean = {
        val e = planned(Seq(text)).head._1
        IndexableFunctions.refused(e, e, text).isDefined
      }
      assert(!refused(s"lower($collated)"))
      assert(refused(s"hash(i, $collated)") && refused(s"xxhash64($collated)"))
    }
  }

  test("a filter of thousands of parts has no meaning that an index would hold") {
    def chain(terms: Int) =
      (1 to terms).map(n => EqualTo(Literal(n), Literal(n))).reduceLeft[Expression](Or(_, _))
    assert(ExpressionMeaning.of(chain(2), SQLConf.get).exists(_.contains("expressions.Or(")))
    assert(ExpressionMeaning.of(chain(2000), SQLConf.get).isEmpty)
  }

  test("settings that change expressions are part of their meaning, or change no value") {
    val (tried, found) = differences(Seq(
      "spark.sql.decimalOperations.allowPrecisionLoss" -> "false",
      "spark.sql.ansi.enabled" -> "true",
      "spark.sql.session.timeZone" -> "Asia/Kathmandu",
      "spark.sql.jsonGenerator.ignoreNullFields" -> "false",
      "spark.sql.legacy.timeParserPolicy" -> "LEGACY",
      "spark.sql.legacy.castComplexTypesToString.enabled" -> "true",
      "spark.sql.datetime.java8API.enabled" -> "true",
      "spark.sql.timestampType" -> "TIMESTAMP_NTZ",
      "spark.sql.legacy.interval.enabled" -> "true",
      "spark.sql.optimizer.inSetConversionThreshold" -> "1"))
    assert(found.isEmpty)
    assert(tried >= 9)
  }

  test("every setting of Spark, one by one", LongTest) {
    // those that Spark keeps to itself, too
    val all = SQLConf.getClass.getMethod("getConfigEntries").invoke(SQLConf)
    val entries = all.asInstanceOf[java.util.Collection[ConfigEntry[_]]].asScala.toSeq
      .filterNot(e => SQLConf.isStaticConfigKey(e.key)).sortBy(_.key)
    val words = Seq(
      "LEGACY",
      "CORRECTED",
      "EXCEPTION",
      "ANSI",
      "STRICT",
      "LAST_WIN",
      "TIMESTAMP_NTZ",
      "UTF8",
      "HEX",
      "1")
    val (tried, found) = differences(entries.flatMap { e =>
      e.defaultValueString match {
        case "true" => Seq(e.key -> "false")
        case "false" => Seq(e.key -> "true")
        case default =>
          words.filter(w => w != default && Try(e.valueConverter(w)).isSuccess).take(4).map(e.key -> _)
      }
    })
    info(s"$tried settings, ${samples.length} expressions each")
    assert(found.isEmpty)
    assert(tried > 300)
  }
}
