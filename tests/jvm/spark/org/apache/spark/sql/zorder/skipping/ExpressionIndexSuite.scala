package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.functions.{col, hash}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.index.{IndexStore, StatisticsIndex}
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** Ranges of expressions: files are left out by what a query computes from their rows. */
@SameOnAllLines
class ExpressionIndexSuite extends AnyFunSuite with SkippedScans with Steps {

  private def read(path: Path): DataFrame = spark.read.parquet(path.toString)

  private def indexed(path: Path): Seq[String] =
    spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[String]("column")).toSeq

  /** Eight files; the case of a letter, a status or the sign of a number spoils every column's own range. */
  private def people: DataFrame = spark.range(0, 8000, 1, 8).selectExpr(
    "id",
    "concat(if(id % 2 = 0, 'User', 'user'), lpad(cast(id as string), 5, '0')) email",
    "if(id div 1000 = 3 AND id % 5 = 0, 'OPEN', if(id % 2 = 0, 'DONE', 'SENT')) status",
    "if(id % 2 = 0, 1, -1) * id v",
    "timestamp_seconds(id * 3600) ts",
    "named_struct('x', -(id % 2) * 2 * id + id) st")

  private def written(dir: Path): Path = {
    val path = dir.resolve("t")
    withConf(
      "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS")(people.write.parquet(path.toString))
    path
  }

  private val Expressions =
    "lower(email), status = 'OPEN', abs(v), date_trunc('WEEK', ts), abs(st.x) + 1, v % 2, hour(ts)"

  test("a filter on an expression opens the files that can match") {
    withTempDir { dir =>
      val path = written(dir)
      val made = index(path, s"id, $Expressions")
      assert((made.getAs[Long]("files"), made.getAs[Long]("columns")) === ((8L, 8L)))
      def t = read(path)
      quick {
        for ((filter, files) <- Seq(
            "lower(email) = 'user03141'" -> 1,
            "LOWER(EMAIL) IN ('user03141', 'user07000')" -> 2,
            "lower(email) < 'user01500'" -> 2,
            "lower(email) IS NULL" -> 0,
            "upper(email) = 'USER03141'" -> 8,
            "status = 'OPEN'" -> 1,
            "NOT (status = 'OPEN')" -> 8,
            "status = 'OPEN' AND id < 3000" -> 0,
            "status = 'OPEN' OR abs(v) = 7001" -> 2,
            "abs(v) BETWEEN 1999 AND 2000" -> 2,
            "abs(v) > 7999" -> 0,
            "NOT (abs(v) >= 1000)" -> 1,
            "abs(st.x) + 1 = 5001" -> 1,
            "v % 2 = 5" -> 0,
            "v % 2 <=> NULL" -> 0,
            "hour(ts) = 25" -> 0,
            "v = 5000" -> 8
          )) assert(opens(t.where(filter)) === files, filter)
        assert(opens(t.where("date_trunc('WEEK', ts) = timestamp'1970-03-02'")) <= 2)
      }
    }
  }

  test("what an expression makes of CHAR depends on whether the session fills it up with blanks") {
    withTempDir { dir =>
      withTable("of_char") {
        spark.sql(s"CREATE TABLE of_char (id BIGINT, c CHAR(5)) USING parquet LOCATION '${dir.resolve("c")}'")
        val Padding = "spark.sql.readSideCharPadding"
        // others may have written without the blanks
        people.selectExpr("id", "'ab' c").write.mode("append").parquet(dir.resolve("c").toString)
        spark.sql("REFRESH TABLE of_char")
        aged(dir.resolve("c"))
        def found(length: Int): Long =
          spark.sql(s"SELECT id FROM of_char WHERE octet_length(c) = $length").count()
        for (padded <- Seq(true, false)) withConf(Padding -> padded.toString) {
          spark.sql("ZORDER INDEX of_char COLUMNS (octet_length(c))")
          for (asked <- Seq(true, false)) withConf(Padding -> asked.toString)(
            for (length <- Seq(2, 5)) {
              val all = withConf("spark.zorder.skipping.enabled" -> "false")(found(length))
              assert(found(length) === all, s"$length bytes, index padded: $padded, query: $asked")
            })
        }
      }
    }
  }

  test("ranges are kept up, and what only they know of a file is read again where it has changed") {
    withTempDir { dir =>
      val path = written(dir)
      index(path, "lower(email)")
      assert(indexed(path) === Seq("lower(email)"))
      people.where("id < 10").selectExpr("id", "'ZZ' email", "status", "v", "ts", "st").coalesce(1)
        .write.mode("append").parquet(path.toString)
      step("a new file is unknown until the next refresh")(
        assert(opens(read(path).where("lower(email) = 'user03141'")) === 2))
      step("a refresh reads what has another time, and no more") {
        aged(path)
        assert(one(s"ZORDER REFRESH INDEX '$path'").getAs[Long]("footers_read") === 9)
        assert(opens(read(path).where("lower(email) = 'user03141'")) === 1)
        assert(opens(read(path).where("lower(email) = 'zz'")) === 1)
        assert(one(s"ZORDER REFRESH INDEX '$path'").getAs[Long]("footers_read") === 0)
      }
      step("a run by the expression keeps its ranges") {
        spark.sql(s"ZORDER TABLE '$path' BY (lower(email), abs(v)) WITH (fileCount = 16, force = true)")
        assert(opens(read(path).where("lower(email) = 'user03141'")) <= 4)
      }
      step("after it an index without a list of columns has the expressions, too") {
        spark.sql(s"ZORDER INDEX '$path'")
        assert(indexed(path).filter(_.contains("(")) === Seq("lower(email)", "abs(v)"))
        assert(opens(read(path).where("abs(v) = 3141 AND lower(email) = 'user03141'")) <= 2)
      }
      step("and a further run keeps them") {
        spark.sql(s"ZORDER TABLE '$path' BY (abs(v)) WITH (fileCount = 4, force = true)")
        assert(opens(read(path).where("abs(v) = 3141")) === 1)
      }
    }
  }

  test("an expression that means another thing in this session is not answered") {
    withTempDir { dir =>
      val path = written(dir)
      withConf("spark.sql.session.timeZone" -> "UTC")(index(path, "hour(ts), cast(ts as string), abs(v)"))
      def t = read(path)
      withConf("spark.sql.session.timeZone" -> "UTC")(assert(opens(t.where("hour(ts) = 24")) === 0))
      withConf("spark.sql.session.timeZone" -> "Asia/Kathmandu") {
        assert(opens(t.where("hour(ts) = 24")) === 8)
        assert(opens(t.where("cast(ts as string) = '1970-01-01 05:30:00'")) === 8)
      }
      val ansi = spark.conf.get("spark.sql.ansi.enabled")
      assert(opens(t.where("abs(v) = 3141")) === 1)
      withConf("spark.sql.ansi.enabled" -> (!ansi.toBoolean).toString)(
        assert(opens(t.where("abs(v) = 3141")) === 8))
      // Spark 3.5 and 4 have different defaults
      val default = SQLConf.LEGACY_TIME_PARSER_POLICY.defaultValueString
      val other = if (default == "CORRECTED") "LEGACY" else "CORRECTED"
      withConf("spark.sql.legacy.timeParserPolicy" -> other)(assert(opens(t.where("abs(v) = 3141")) === 8))
      // a default that is written out is the default
      withConf("spark.sql.legacy.timeParserPolicy" -> default)(
        assert(opens(t.where("abs(v) = 3141")) === 1))
      // the same text over a column that this reader gives another type
      val bytes = spark.read.schema("id BIGINT, email BINARY").parquet(path.toString)
      index(path, "hex(email) = 'x'")
      assert(opens(t.where("hex(email) = 'x'")) === 0)
      assert(opens(bytes.where("hex(email) = 'x'")) === 8)
    }
  }

  test("files without the column, without rows, and with timestamps of old kinds") {
    withTempDir { dir =>
      val path = written(dir)
      spark.range(10).selectExpr("id", "'x' email").coalesce(1).write.mode("append").parquet(path.toString)
      spark.range(10).where("id < 0").selectExpr("id", "'x' email").coalesce(1)
        .write.mode("append").parquet(path.toString)
      withConf("spark.sql.parquet.outputTimestampType" -> "INT96")(
        people.where("id = 4000").coalesce(1).write.mode("append").parquet(path.toString))
      withConf("spark.sql.parquet.mergeSchema" -> "true") {
        index(path, "coalesce(v, -5), abs(v), hour(ts) + 1")
        def t = read(path).select("id", "v", "ts")
        assert(opens(t.where("coalesce(v, -5) = -5")) >= 1)
        assert(t.where("coalesce(v, -5) = -5").count() === 11)
        // one has no such column, the other no rows
        assert(opens(t.where("abs(v) IS NULL")) === 2)
        assert(opens(t.where("abs(v) = 4000")) === 2)
        // nobody knows what a query sees in the file of INT96
        assert(opens(t.where("hour(ts) + 1 = 0")) === 1)
      }
    }
  }

  test("of a damaged file that could be read in part nothing is known") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 40000, 1, 2).selectExpr("id", "cast(hash(id) as string) s").write
        .option("parquet.block.size", "20000").option("parquet.page.size", "2000")
        .option("parquet.enable.dictionary", "false").parquet(path.toString)
      val file =
        Files.list(path).iterator().asScala.filter(_.toString.endsWith(".parquet")).toSeq.minBy(_.toString)
      val bytes = Files.readAllBytes(file)
      java.util.Arrays.fill(bytes, bytes.length / 2, bytes.length / 2 + 4000, 0xff.toByte)
      Files.write(file, bytes)
      index(path, "id, length(s) + id")
      val row = spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().last
      assert((row.getAs[Long]("with_ranges"), row.getAs[Long]("unknown")) === ((1L, 1L)))
      withConf("spark.sql.files.ignoreCorruptFiles" -> "true")(
        assert(opens(read(path).where("length(s) + id = -1")) === 1))
    }
  }

  test("explained: by the expression's range, and why not more") {
    withTempDir { dir =>
      val path = written(dir)
      index(path, s"id, ${Expressions.toUpperCase(java.util.Locale.ROOT)}")
      val rows = spark.sql(
        s"ZORDER EXPLAIN SELECT * FROM parquet.`$path` WHERE lower(email) = 'user03141' AND upper(email) = 'X'")
        .collect()
      def line(filter: String): Row = rows.find(_.getAs[String]("filter") == filter).get
      val lower = line("(lower(email) = 'user03141')")
      assert((lower.getAs[Long]("pruned"), lower.getAs[String]("pruned_by")) === ((7L, "range (7)")))
      assert(lower.getAs[String]("reason") === "the ranges of 1 file meet it")
      assert(line("(upper(email) = 'X')").getAs[String]("reason") ===
        "function does not keep order: upper(email)")
    }
  }

  test("expressions that no index can hold are refused, each in a sentence") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      people.selectExpr("*", "id div 4000 p", "array(ts) a", "map(id, v) m").write.partitionBy("p").parquet(
        path.toString)
      aged(path)
      spark.udf.register("my_lower", (s: String) => s.toLowerCase(java.util.Locale.ROOT))
      for ((column, said) <- Seq(
          "my_lower(email)" -> "Spark's own deterministic functions",
          "rand() + v" -> "Spark's own deterministic functions",
          "1 + 1" -> "columns of one row",
          "p + 1" -> "partition column",
          "P + 1" -> "partition column",
          "nothing + 1" -> "cannot be resolved",
          "map(v, v)" -> "no order",
          "cast(a as string)" -> "name the field",
          "sum(v)" -> "not an expression over one row",
          "to_json(named_struct('id', id))" -> "to_json",
          "lower(date_format(ts, 'yyyy'))" -> "computed by date_format",
          "size(a) + 1" -> "name the field",
          "size(m) + 1" -> "computed by size",
          "ts > current_timestamp()" -> "computed by current_timestamp",
          "cast(ts as date) = current_date()" -> "computed by current_date",
          "cast(ts as date) = DATE'today'" -> "computed by 'today'",
          "ts > TIMESTAMP_NTZ /* of that day */ ' Now '" -> "computed by ' Now '",
          "ts > 'yesterday UTC'" -> "computed by 'yesterday UTC'",
          "ts > '10:00'" -> "computed by '10:00'",
          "cast(email as timestamp)" -> "computed by cast",
          "cast(named_struct('v', v) as string) = 'x'" -> "no index can hold it"
        )) {
        val e = intercept[ZOrderException](spark.sql(s"ZORDER INDEX '$path' COLUMNS (id, $column)"))
        assert(e.getMessage.contains(said) && e.getMessage.contains(column), e.getMessage)
      }
      withConf("spark.sql.ansi.enabled" -> "true") {
        val e = intercept[ZOrderException](spark.sql(s"ZORDER INDEX '$path' COLUMNS (cast(email as int))"))
        assert(e.getMessage.contains("cannot be computed for every row ("), e.getMessage)
      }
      assert(status(one(s"ZORDER REFRESH INDEX IF EXISTS '$path'")) === "NOTHING_TO_DO")
      index(path, "abs(v)")
      assert(opens(read(path).where("p = 1 AND abs(v) = 5000")) === 1)
    }
  }

  /** The rows that a filter finds, and what a session finds that skips nothing. */
  private def sameIds(path: Path, filter: String): Seq[Long] = {
    def ids = read(path).where(filter).select("id").collect().map(_.getLong(0)).sorted.toSeq
    val found = ids
    assert(found === withConf("spark.zorder.skipping.enabled" -> "false")(ids), filter)
    found
  }

  test("literals are what they stand for, not how they are written") {
    withTempDir { dir =>
      val path = written(dir)
      withConf("spark.sql.session.timeZone" -> "UTC") {
        val _ = index(
          path,
          "ts >= TIMESTAMP '1970-06-01 08:00:00'",
          "coalesce(ts, TIMESTAMP '1970-02-01 12:00:00')")
      }
      Seq("UTC", "Asia/Tokyo", "America/Juneau").foreach { zone =>
        withConf("spark.sql.session.timeZone" -> zone) {
          assert(sameIds(path, "ts >= TIMESTAMP '1970-06-01 08:00:00'").nonEmpty, zone)
          sameIds(path, "coalesce(ts, TIMESTAMP '1970-02-01 12:00:00') = TIMESTAMP '1970-02-01 12:00:00'")
        }
      }
      // the same text of one hour that comes twice
      withConf("spark.sql.session.timeZone" -> "Europe/Berlin") {
        index(path, "ts = TIMESTAMP '1970-10-25 02:00:00+01:00'")
        Seq("+01:00", "+02:00", "+00:00").foreach(o =>
          sameIds(path, s"ts = TIMESTAMP '1970-10-25 02:00:00$o'"))
      }
    }
  }

  test("long lists and bytes that are no text are told apart") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 4, 1, 4).selectExpr(
        "id",
        "case id when 0 then 'a, b' when 1 then 'a' when 2 then 'b, c' else cast(X'FF' as string) end s")
        .write.parquet(path.toString)
      val rest = (1 to 12).map(i => s"'$i'").mkString(", ")
      index(path, s"s IN ('a, b', 'c', $rest)", "instr(s, cast(X'FF' as string)) > 0")
      quick {
        assert(sameIds(path, s"s IN ('a, b', 'c', $rest)") === Seq(0))
        assert(sameIds(path, s"s IN ('a', 'b, c', $rest)") === Seq(1, 2))
        assert(sameIds(path, "instr(s, cast(X'FF' as string)) > 0") === Seq(3))
        assert(sameIds(path, "instr(s, cast(X'FE' as string)) > 0") === Nil)
      }
    }
  }

  test("of texts too long for an index nothing is known") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 40, 1, 4)
        .selectExpr("id", "if(id < 20, repeat(chr(97 + cast(id AS int)), 3000), concat('K', id)) body")
        .write.parquet(path.toString)
      index(path, "lower(body)")
      quick {
        assert(opens(read(path).where("lower(body) = 'k35'")) === 3)
        assert(opens(read(path).where("lower(body) = repeat('b', 3000)")) === 2)
      }
    }
  }

  test("the same comparison by another collation is another expression (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no collations")
    withTempDir { dir =>
      val path = written(dir)
      index(path, "status = 'open' COLLATE UNICODE, status = 'OPEN' COLLATE UNICODE")
      assert(opens(read(path).where("status = 'OPEN' COLLATE UNICODE")) === 1)
      assert(sameIds(path, "status = 'open' COLLATE UNICODE_CI").size === 200)
      assert(sameIds(path, "status = 'open' COLLATE UNICODE").isEmpty)
    }
  }

  test("CASE is found again, and each has its own meaning") {
    withTempDir { dir =>
      val path = written(dir)
      // other branches become conditions of the columns alone
      val whole = "CASE WHEN v > 0 THEN id div 1000 ELSE id div 2000 END"
      val open = "CASE WHEN v > 0 THEN id div 1000 WHEN v < 0 THEN id div 2000 END"
      index(path, whole, open)
      quick {
        assert(opens(read(path).where(s"$whole = 7")) === 1)
        assert(opens(read(path).where(s"$open = 7")) === 1)
        assert(opens(read(path).where(s"$whole IS NULL")) === 0)
        assert(opens(read(path).where(s"$open IS NULL")) === 1)
      }
    }
  }

  test("a product of decimals has another scale under another setting") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      (0 until 4).foreach(n =>
        spark.range(10).selectExpr(
          s"cast(id + ${n * 10} as decimal(20, 10)) a",
          "cast(10 as decimal(20, 10)) b").coalesce(1).write.mode("append").parquet(path.toString))
      index(path, "a * b, b / (a + 1)")
      for ((lossy, all) <- Seq("true" -> false, "false" -> true))
        withConf("spark.sql.decimalOperations.allowPrecisionLoss" -> lossy) {
          assert(opens(read(path).where("a * b = 100")) === (if (all) 4 else 1))
          assert(opens(read(path).where("a * b > 200").selectExpr("a")) === (if (all) 4 else 2))
        }
    }
  }

  test("what an older version computed is not used, and is said to be there") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      (0 until 3).foreach(n =>
        spark.range(4).selectExpr("cast(null as int) a", s"'k$n' b").coalesce(1)
          .write.mode("append").parquet(path.toString))
      index(path, "b, upper(b)")
      val json = "to_json(named_struct('a', a, 'b', b))"
      val store = IndexStore.of(Shims.classic(spark), new org.apache.hadoop.fs.Path(s"file:$path"))
      val made = store.newest().get._2
      // as it was written then: without a sign of the version, and of a function that settings change
      val older = made.columns.map { c =>
        c.expression.fold(c)(e =>
          c.copy(sql = json, expression = Some(e.copy(e.meaning.split(" ", 2).last, Seq("a", "b")))))
      }
      store.write(new StatisticsIndex(made.files, older, made.caseSensitive, made.rangesAt(_)))
      val filter = json + " = '{\"b\":\"k1\"}'"
      for (ignored <- Seq("true", "false"))
        withConf("spark.sql.jsonGenerator.ignoreNullFields" -> ignored)(
          assert(opens(read(path).where(filter)) === 3))
      assert(opens(read(path).where("upper(b) = 'K1'")) === 3)
      def notes: Seq[String] =
        spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[String]("note")).toSeq
      assert(notes.head === null && notes(1).contains("computed by to_json"))
      val reason = spark.sql(s"ZORDER EXPLAIN SELECT * FROM parquet.`$path` WHERE $filter").head()
        .getAs[String]("reason")
      assert(reason.contains("older version") && reason.contains("ZORDER REFRESH INDEX"))
      spark.sql(s"ZORDER REFRESH INDEX '$path'")
      assert(indexed(path) === Seq("b"))
      // an expression that is current, in a session that computes it in another way
      index(path, "hour(timestamp_seconds(a)), upper(b)")
      assert(notes === Seq(null, null))
      withConf("spark.sql.session.timeZone" -> "Asia/Kathmandu") {
        assert(notes.head.contains("other settings") && notes(1) === null)
      }
    }
  }

  test("values at random: the same rows with skipping and without", LongTest)(
    atRandom(0 until 1, values = 1, every = 2))

  test("more values at random: the same rows with skipping and without", LongTest)(
    atRandom(0 until 12, values = 2, every = 1))

  /** @param every how many comparisons lie between two that are tried */
  private def atRandom(seeds: Seq[Int], values: Int, every: Int): Unit = {
    val all = Seq(
      "abs(d)",
      "-d",
      "d * 2",
      "d > 1.5D",
      "isnan(d)",
      "i % 3",
      "i > 0",
      "coalesce(i, 0)",
      "cast(i as string)",
      "lower(s)",
      "upper(s)",
      "concat(s, 'x')",
      "substr(s, 1, 1)",
      "length(s)",
      "s = 'a'",
      "s LIKE '%a'",
      "n / 2",
      "hex(x)",
      "year(t)",
      "not b",
      "b <=> null",
      "nvl2(s, i, length(hex(x)))")
    withConf(
      "spark.sql.ansi.enabled" -> "false",
      "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS",
      "spark.sql.parquet.datetimeRebaseModeInWrite" -> "CORRECTED") {
      for (seed <- seeds) withTempDir { dir =>
        val expressions = all.indices.filter(_ % 2 == seed % 2).map(all(_))
        val random = new RandomFilters(5000L + seed)
        val path = dir.resolve("t")
        (0 until 8).foreach { _ =>
          val rows = Seq.fill(random.nextInt(4))(random.row())
          Shims.ofRows(
            Shims.classic(spark),
            LocalRelation(random.columns, rows)).coalesce(1).write.mode("append").parquet(path.toString)
        }
        index(path, expressions.mkString(", "))
        val t = read(path)
        var (left, possible) = (0L, 0L)
        quick(expressions.foreach { e =>
          val dataType = t.selectExpr(e).schema.head.dataType
          val some =
            t.selectExpr(s"$e e").distinct().orderBy(hash(col("e"))).limit(values).collect().map(_.get(0))
          for (value <- some; filter <- comparisons(e, literal(value, dataType)).grouped(every).map(_.head)) {
            val query = t.where(filter).drop("x")
            left += 8 - opens(query)
            possible += 8 - t.where(filter).select("_metadata.file_path").distinct().count()
          }
        })
        assert(left > possible / 2, s"$left of $possible")
      }
    }
  }

  private def comparisons(e: String, literal: String): Seq[String] =
    Seq("=", "<", ">=", "<=>").map(op => s"($e) $op $literal") :+ s"NOT (($e) <=> $literal)"

  private def literal(value: Any, dataType: DataType): String = value match {
    case null => s"cast(null as ${dataType.sql})"
    case s: String => s"cast(unhex('${s.getBytes("UTF-8").map(b => f"$b%02X").mkString}') as string)"
    case d: java.sql.Date => s"date_from_unix_date(${d.toLocalDate.toEpochDay})"
    case other => s"cast('$other' as ${dataType.sql})"
  }
}
