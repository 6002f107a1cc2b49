package org.apache.spark.sql.zorder.skipping.predicate

import scala.collection.mutable
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.expr.Normalization
import sparkzorder.LongTest
import sparkzorder.curve.cost.Condition

/** What Spark makes of comparisons of each type with constants of other types, and which of that skips files. */
class CoercedCastsSuite extends AnyFunSuite with ZOrderSession {
  private val zone = "Europe/Berlin"

  /** Types of columns, with texts of values. Clocks changed on 2024-03-31 and 2024-10-27. */
  private val columns: Seq[(String, Seq[String])] = {
    val numbers = Seq("-7", "0", "5", "6", "105", "127")
    val halves = numbers ++ Seq("-7.5", "5.5", "105.25")
    val texts = Seq("", "-7", "5", "5.5", "05", "105", "true", "x", "2024-03-06", "2024-03-31 02:30:00", "z")
    val moments = Seq(
      "1969-12-31 23:59:59",
      "2024-03-06 00:00:00",
      "2024-03-31 01:30:00",
      "2024-03-31 02:30:00",
      "2024-03-31 03:00:00",
      "2024-03-31 03:30:00",
      "2024-03-31 04:30:00",
      "2024-10-27 02:30:00",
      "9999-12-31 00:00:00")
    Seq(
      "tinyint" -> numbers,
      "smallint" -> numbers,
      "int" -> (numbers ++ Seq("16777217", "2147483647")),
      "bigint" -> (numbers ++ Seq("9007199254740993", "9223372036854775807")),
      "float" -> (halves ++ Seq("NaN", "Infinity")),
      "double" -> (halves ++ Seq("NaN", "-0.0")),
      "decimal(9,2)" -> halves,
      "decimal(20,4)" -> (halves :+ "12345678901234567.5"),
      "decimal(38,10)" -> (halves :+ "12345678901234567.5"),
      "string" -> texts,
      "varchar(20)" -> texts,
      "char(20)" -> texts.map(_.padTo(20, ' ')),
      "binary" -> texts,
      "boolean" -> Seq("true", "false"),
      "date" -> Seq("1969-12-31", "2024-03-05", "2024-03-06", "2024-03-31", "9999-12-31"),
      "timestamp" -> moments,
      "timestamp_ntz" -> moments,
      "interval month" -> Seq("INTERVAL '-5' MONTH", "INTERVAL '5' MONTH", "INTERVAL '30' MONTH"),
      "interval day" -> Seq("INTERVAL '-5' DAY", "INTERVAL '5' DAY", "INTERVAL '30' DAY"))
  }

  private val constants = Seq(
    "5Y",
    "5",
    "5L",
    "16777217L",
    "5.5BD",
    "5.125BD",
    "12345678901234567.5BD",
    "5.00000000000000000001BD",
    "float(5.5)",
    "5.5D",
    "'105'",
    "'x'",
    "'2024-03-06'",
    "'2024-03-31 02:30:00'",
    "true",
    "X'35'",
    "DATE'2024-03-06'",
    "TIMESTAMP'2024-03-31 03:30:00'",
    "TIMESTAMP'2024-10-27 02:30:00'",
    "TIMESTAMP_NTZ'2024-03-31 02:30:00'",
    "INTERVAL '2' YEAR",
    "INTERVAL '1-2' YEAR TO MONTH",
    "INTERVAL '5 00:00:00' DAY TO SECOND")

  /** What does not skip files, and why. */
  private val unused = Map(
    "string to number" -> "05, 5 and ' 5.0' are one number, and 10 comes before 9",
    "string to day or moment" -> "2024-3-6 is 2024-03-06, and 10000-01-01 comes before 9999-12-31",
    "string to boolean" -> "t, yes and 1 are true",
    "number to fewer digits before the point" -> "numbers that do not fit are NULL or an error",
    "number to string" -> "texts are in another order than numbers: only = and IN are answered",
    "STRING to STRING" -> "Spark 4.1 casts a VARCHAR once more in a list of numbers, and nobody asks for such lists",
    "interval to string" -> "nobody asks for lists of such texts",
    "char" -> "a file may hold values that are padded only when they are read: it has no bounds for CHAR")

  /** What stands between a column and the comparison. */
  private def kind(filter: Expression): String =
    if (filter.exists { case _: StaticInvoke | _: StringRPad => true; case _ => false }) "char"
    else filter.collect { case c: Cast => (c.child.dataType, c.dataType) }.reverse match {
      case Seq((_: StringType, _: NumericType)) => "string to number"
      case Seq((_: StringType, DateType | TimestampType | TimestampNTZType)) => "string to day or moment"
      case Seq((_: StringType, BooleanType)) => "string to boolean"
      case Seq((_: NumericType, _: StringType)) => "number to string"
      case Seq((_: YearMonthIntervalType | _: DayTimeIntervalType, _: StringType)) => "interval to string"
      case casts @ (first, _) +: _ if casts.exists { case (_, to) =>
            digits(to).exists(_ < digits(first).get)
          } =>
        "number to fewer digits before the point"
      case casts => casts.map { case (a, b) => s"${a.sql} to ${b.sql}" }.mkString(", ")
    }

  private def digits(dataType: DataType): Option[Int] = dataType match {
    case d: DecimalType => Some(d.precision - d.scale)
    case LongType => Some(19)
    case _ => None
  }

  private def holds(c: Condition, value: Any, dataType: DataType): Boolean =
    if (value == null) c.orNull
    else {
      val normalized = Normalization.of(dataType).get.normalize(value)
      c.intervals.exists(_.meets(normalized, normalized))
    }

  /** NULL, and the values that the texts are. */
  private def values(sql: String, texts: Seq[String]): Seq[Any] = {
    val as = if (sql.contains("char(")) "string" else sql
    val casts = texts.map(t => s"CAST(${if (sql.startsWith("interval")) t else s"'$t'"} AS $as)")
    val row = spark.sql(casts.mkString("SELECT ", ", ", "")).queryExecution.toRdd.map(_.copy()).first()
    null +: texts.indices.map(row.get(_, CatalystSqlParser.parseDataType(as)))
  }

  /** What Spark makes of the tests, but for those that it refuses. */
  private def optimized(tests: Seq[String]): Seq[Expression] = {
    def of(some: Seq[String]): Try[Seq[Expression]] = Try {
      spark.sql(s"SELECT ${some.mkString(", ")} FROM coerced").queryExecution.optimizedPlan match {
        case Project(list, _) => list.map { case Alias(e, _) => e; case e => e }
        case other => throw new IllegalStateException(other.toString)
      }
    }
    // one plan of all takes less time than a plan of each
    of(tests.filter(t => Try(spark.sql(s"SELECT $t FROM coerced")).isSuccess)).getOrElse(tests.flatMap(t =>
      of(Seq(t)).getOrElse(Nil)))
  }

  private val momentsOfBothKinds = "TIMESTAMP_NTZ to TIMESTAMP"

  /**
   * Gives what does not skip files.
   *
   * @param must
   *   a cast that has to be among those that are answered: Spark 4.1 takes those of moments out of some tests by itself
   */
  private def check(
      ansi: Boolean,
      tests: (String, String) => Seq[String],
      must: String = "BIGINT to DOUBLE"): Set[String] = {
    val answered, ignored = mutable.SortedSet.empty[String]
    var left = 0
    withConf("spark.sql.ansi.enabled" -> "false", "spark.sql.session.timeZone" -> zone) {
      columns.zipWithIndex.foreach { case ((sql, texts), i) =>
        val rows = values(sql, texts)
        withConf("spark.sql.ansi.enabled" -> ansi.toString) {
          optimized(constants.flatMap(tests(s"c$i", _))).filter(_.references.nonEmpty).foreach { filter =>
            val sets = new OfColumn
            val condition = Predicates.whereTrue(filter, sets)
            (if (sets.understood) answered else ignored) += kind(filter)
            val column = filter.references.head
            val bound = BindReferences.bindReference(filter, AttributeSeq(Seq(column)))
            rows.foreach { v =>
              // with ANSI, a text that is no number is an error
              val matches = Try(bound.eval(InternalRow(v)) == true).getOrElse(false)
              val held = holds(condition, v, column.dataType)
              assert(held || !matches, s"$sql, ${filter.sql}: $v is left out of $condition")
              if (!held) left += 1
            }
          }
        }
      }
    }
    info(s"answered: ${answered.mkString("; ")}")
    assert(ignored.diff(unused.keySet).isEmpty)
    assert(answered(must) && left > 500, left)
    ignored.toSet
  }

  private def inTable(body: => Unit): Unit = {
    val names = columns.zipWithIndex.map { case ((sql, _), i) => s"c$i $sql" }
    spark.sql(s"CREATE TABLE coerced (${names.mkString(", ")}) USING parquet")
    try body
    finally { val _ = spark.sql("DROP TABLE coerced") }
  }

  private def ranges(column: String, constant: String): Seq[String] = Seq(s"$column < $constant")
  private def lists(column: String, constant: String): Seq[String] =
    Seq(s"$column IN ($constant, $constant, NULL)")
  private def others(column: String, constant: String): Seq[String] =
    Seq("=", ">=", "<=>", "<>").map(test =>
      s"$column $test $constant") :+ s"$column NOT IN ($constant, $constant)"

  test("all that Spark writes is answered, or there is a reason") {
    inTable(assert(!check(ansi = false, lists, momentsOfBothKinds)("number to string")))
  }

  test("the same of ranges, in ANSI mode", LongTest)(inTable {
    val _ = check(ansi = true, ranges)
  })
  test("the same of other comparisons", LongTest) {
    inTable {
      check(ansi = true, lists, momentsOfBothKinds)
      check(ansi = false, ranges)
      Seq(false, true).foreach(check(_, others))
    }
  }
}
