package org.apache.spark.sql.zorder.skip.index

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, RuntimeReplaceable}
import org.apache.spark.sql.types.{AtomicType, DataType, NullType}
import org.apache.spark.sql.zorder.expr.ColumnPath

/**
 * The functions that an index can hold values of: what they give depends on their arguments, the session's time zone
 * and ANSI mode, and on nothing else. A list of settings that change a function is never complete; so this is a list
 * of functions, each of which a test computes under every setting of Spark.
 *
 * Left out, for example: functions of JSON, CSV and XML (options of generators and parsers), formats of dates and
 * numbers (parser policies, locales), everything that makes arrays, maps or structs.
 */
object IndexableFunctions {

  /** By the class of the optimized expression; some are of one Spark line only. */
  private[skip] val Names: Set[String] = Set(
    // comparisons, logic and choice
    "And CaseWhen Coalesce EqualNullSafe EqualTo GreaterThan GreaterThanOrEqual Greatest If In InSet",
    "IsNaN IsNotNull IsNull Least LessThan LessThanOrEqual NaNvl Not Or",
    // numbers
    "Abs Add BRound BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Cbrt Ceil Divide Exp Floor",
    "IntegralDivide Log Log10 Log2 Multiply Pmod Pow Remainder Round RoundCeil RoundFloor ShiftLeft ShiftRight",
    "ShiftRightUnsigned Signum Sqrt Subtract UnaryMinus",
    // text and bytes
    "Ascii BitLength Chr Concat Contains Crc32 EndsWith Hex InitCap Length Like Lower Md5 Murmur3Hash OctetLength RLike",
    "RegExpExtract RegExpReplace Reverse Sha1 Sha2 StartsWith StringInstr StringLPad StringLocate StringRPad",
    "StringRepeat StringReplace StringTranslate StringTrim StringTrimLeft StringTrimRight Substring SubstringIndex",
    "Unhex Upper XxHash64",
    // dates and times
    "AddMonths DateAdd DateAddYMInterval DateDiff DateFromUnixDate DateSub DayOfMonth DayOfWeek DayOfYear",
    "FromUTCTimestamp Hour LastDay MakeDate MicrosToTimestamp MillisToTimestamp Minute Month MonthsBetween NextDay",
    "Quarter Second SecondsToTimestamp SecondWithFraction TimeAdd TimestampAdd TimestampAddInterval",
    "TimestampAddYMInterval TimestampDiff ToUTCTimestamp TruncDate TruncTimestamp UnixDate UnixMicros UnixMillis",
    "UnixSeconds WeekDay WeekOfYear Year YearOfWeek",
    // out of a column, which may be an array or a map
    "GetArrayItem GetMapValue"
  ).flatMap(_.split(' '))

  private val Package = "org.apache.spark.sql.catalyst.expressions."
  private val OfAnyColumn = Set("GetArrayItem", "GetMapValue", "IsNull", "IsNotNull")

  /**
   * The name of a function that no index can hold; None if all can be held.
   *
   * @param written
   *   the expression as a statement has it, analyzed: it has the names that users know
   */
  def refused(optimized: Expression, written: Expression): Option[String] =
    outside(optimized).map(found => outside(written).getOrElse(found).prettyName)

  private def outside(e: Expression): Option[Expression] =
    if (ColumnPath.of(e).isDefined || e.isInstanceOf[Literal]) None
    else e match {
      case r: RuntimeReplaceable => outside(r.replacement).map(_ => r)
      case _ if !isListed(e) => Some(e)
      case _ => e.children.flatMap(outside(_)).headOption
    }

  private def isListed(e: Expression): Boolean = {
    val name = e.getClass.getName.stripPrefix(Package)
    Names(name) && isPlain(e.dataType) &&
    e.children.forall(c => isPlain(c.dataType) || (OfAnyColumn(name) && ColumnPath.of(c).isDefined))
  }

  /** Values of other types are shown, compared and hashed in ways that settings change. */
  private def isPlain(dataType: DataType): Boolean = dataType match {
    case NullType => true
    case _: AtomicType => dataType.typeName != "variant"
    case _ => false
  }
}
