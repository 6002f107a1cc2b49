package org.apache.spark.sql.zorder.skipping

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Rows and filters at random over columns of unlike types, with the values at which mistakes show. */
final class RandomFilters(seed: Long) {
  private val random = new Random(seed)

  val columns: IndexedSeq[AttributeReference] = IndexedSeq(
    AttributeReference("i", IntegerType)(),
    AttributeReference("d", DoubleType)(),
    AttributeReference("s", StringType)(),
    AttributeReference("t", TimestampType)(),
    AttributeReference("b", BooleanType)(),
    AttributeReference("n", DecimalType(20, 2))(),
    AttributeReference("x", BinaryType)())

  def row(): InternalRow =
    InternalRow.fromSeq(columns.map(c => if (chance(0.15)) null else value(c.dataType)))

  def filter(depth: Int = 3): Expression =
    if (depth == 0 || chance(0.3)) atom()
    else
      random.nextInt(4) match {
        case 0 => And(filter(depth - 1), filter(depth - 1))
        case 1 => Or(filter(depth - 1), filter(depth - 1))
        case 2 => Not(filter(depth - 1))
        case _ => atom()
      }

  private def atom(): Expression = {
    val c = pick(columns)
    def v = if (chance(0.05)) Literal(null, c.dataType) else Literal(value(c.dataType), c.dataType)
    def sided(f: (Expression, Expression) => Expression) = if (chance(0.8)) f(c, v) else f(v, c)
    random.nextInt(14) match {
      case 0 => IsNull(c)
      case 1 => IsNotNull(c)
      case 2 | 3 => sided(EqualTo(_, _))
      case 4 => sided(EqualNullSafe(_, _))
      case 5 => sided(LessThan(_, _))
      case 6 => sided(LessThanOrEqual(_, _))
      case 7 => sided(GreaterThan(_, _))
      case 8 => sided(GreaterThanOrEqual(_, _))
      case 9 => In(c, Seq.fill(1 + random.nextInt(4))(v))
      case 10 => InSet(c, Seq.fill(1 + random.nextInt(4))(v.value).toSet)
      case 11 => text()
      case 12 => And(GreaterThanOrEqual(c, v), LessThanOrEqual(c, v))
      case _ => other()
    }
  }

  private def text(): Expression = {
    val s = columns(2)
    random.nextInt(4) match {
      case 0 => StartsWith(
          s,
          Literal.create(
            pick(RandomFilters.Prefixes.map(UTF8String.fromString) ++ RandomFilters.NoTexts),
            StringType))
      case 1 => Like(s, Literal(pick(RandomFilters.Prefixes) + "%"), '\\')
      case 2 => Like(s, Literal(pick(RandomFilters.Prefixes) + pick(Seq("_", "%a", "_%", "\\%", ""))), '\\')
      case _ => EndsWith(s, Literal(pick(RandomFilters.Prefixes)))
    }
  }

  /** Functions that keep order, and what ranges say nothing of. */
  private def other(): Expression = random.nextInt(9) match {
    case 5 => EqualTo(Year(date()), Literal(pick(Seq(1, 1969, 1970, 2023, 2024))))
    case 6 => GreaterThan(date(), Literal(pick(Seq(-719162, -1, 0, 1, 19675, 19676)), DateType))
    case 7 => LessThan(Cast(columns(0), DoubleType), Literal(pick(Seq(-1.5, 0.0, 2.5, 3.0, Double.NaN))))
    case 8 => In(Cast(columns(0), DecimalType(12, 1)), Seq("-1.0", "0.5", "2.0").map(d => decimal(d)))
    case 0 => EqualTo(Abs(columns(0), failOnError = false), Literal(random.nextInt(5)))
    case 1 => LessThan(columns(0), Length(columns(2)))
    case 2 => columns(4)
    case 3 => Literal(pick(Seq(true, false)))
    case _ => EqualTo(Cast(columns(0), LongType), Literal(random.nextInt(7).toLong - 3))
  }

  /** A zone whose clocks go back over midnight. */
  private def date(): Expression = Cast(columns(3), DateType, Some("America/St_Johns"))

  private def decimal(text: String): Literal = Literal(Decimal(BigDecimal(text), 12, 1), DecimalType(12, 1))

  def value(dataType: DataType): Any = pick(domain(dataType))

  /** The values that rows and literals have. */
  def domain(dataType: DataType): Seq[Any] = dataType match {
    case IntegerType => Seq(-3, -1, 0, 1, 2, 3, 7, Int.MinValue, Int.MaxValue)
    case DoubleType =>
      Seq(-0.0, 0.0, 1.5, -1.5, Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 3.0, 4.0)
    case StringType => RandomFilters.Texts.map(UTF8String.fromString) ++ RandomFilters.NoTexts
    case TimestampType =>
      Seq(-1L, 0L, 1L, 86400000000L, -62135596800000000L, Long.MaxValue, 1700000000000000L)
    case BooleanType => Seq(true, false)
    case d: DecimalType =>
      Seq("-1.00", "0.00", "0.01", "999999999999999999.99", "5.50").map(v =>
        Decimal(BigDecimal(v), d.precision, d.scale))
    case BinaryType =>
      Seq(Array.emptyByteArray, Array[Byte](0), Array[Byte](-1), Array[Byte](1, 2), Array[Byte](1, -2))
    case other => throw new IllegalArgumentException(other.sql)
  }

  def nextInt(n: Int): Int = random.nextInt(n)

  private def chance(p: Double): Boolean = random.nextDouble() < p

  private def pick[A](all: Seq[A]): A = all(random.nextInt(all.length))
}

object RandomFilters {
  val Prefixes: Seq[String] = Seq("", "a", "ab", "b", "\u00e9", "a%", "a\ufffd")

  /** Bytes that are no UTF-8: a file may hold any. */
  val NoTexts: Seq[UTF8String] =
    Seq("61" + "ff" * 17, "ff" * 20, "61ff", "61c3", "ff").map(digits =>
      UTF8String.fromBytes(digits.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray))
  val Texts: Seq[String] =
    Seq(
      "",
      "a",
      "a\u0000",
      "ab",
      "aba",
      "abb",
      "b",
      "ba",
      "a%",
      "a_b",
      "\u00e9",
      "\u00e9t\u00e9",
      "\uffff",
      "\ud83d\ude00",
      "z" * 40)
}

/** How many queries at random a format is asked in `make test-all`; `make random-test` asks many more. */
object RandomQueries {
  private val asked: Option[Int] = sys.env.get("SPARK_ZORDER_RANDOM_QUERIES").map(_.toInt)

  /**
   * Seeds of the tables of each test, and its name. There are several tests, so that one sees how far a long run is, and
   * another can go on with `-z "queries 6,001"`.
   *
   * @param ofTables
   *   how many queries the tables of one seed are asked
   * @param usual
   *   how many queries are asked where nobody wishes for more
   * @param part
   *   how many seeds one test has
   */
  def parts(ofTables: Int, usual: Int, part: Int): Seq[(Seq[Int], String)] =
    (1 to (asked.getOrElse(usual) + ofTables - 1) / ofTables).grouped(part).toSeq.map { seeds =>
      seeds -> f"queries ${(seeds.head - 1) * ofTables + 1}%,d to ${seeds.last * ofTables}%,d at random"
    }

  /** Of a table of Delta or Iceberg, whose making takes long. */
  val ofTables = 60
  def parts: Seq[(Seq[Int], String)] = parts(ofTables, usual = 300, part = 20)
}
