package org.apache.spark.sql.zorder.skipping.index

import java.time.zone.ZoneRulesProvider
import java.util.Locale

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.SPARK_VERSION_SHORT
import org.apache.spark.sql.catalyst.expressions.{
  Cast,
  Expression,
  InitCap,
  Literal,
  Lower,
  Murmur3Hash,
  RuntimeReplaceable,
  Upper,
  XxHash64
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{
  AtomicType,
  DataType,
  DateType,
  NullType,
  StringType,
  StructType,
  TimestampNTZType,
  TimestampType
}
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.unsafe.types.UTF8String

/**
 * What an expression computes, as a text: equal texts compute equal values from equal rows, for expressions
 * of [[IndexableFunctions]]. The SQL text does not do, since it says nothing of the time zone and of the type
 * of each part: a product of decimals has another scale under another setting. The versions of Spark and Java
 * and the settings that name old ways of functions are part of it, because what `lower` gives may change with
 * them.
 */
private[skipping] object ExpressionMeaning {
  private val Defaults = new SQLConf
  private val Settings =
    Seq("spark.sql.legacy.", "spark.sql.icu.", "spark.sql.ansi.", "spark.sql.readSideCharPadding")

  /** A longer one, such as of a long list of literals, is not worth its place in an index. */
  private val MostCharacters = 10000

  /** The meaning of an optimized expression; None if it cannot be written, or is too long. */
  def of(e: Expression, conf: SQLConf): Option[String] =
    try {
      val tree = new StringBuilder
      write(e, conf.caseSensitiveAnalysis, tree)
      if (tree.length > MostCharacters) None
      else Some(
        (Seq(Format, s"Spark $line", s"Java $javaVersion") ++ clocks(e) ++ language(e) ++ settings(conf) :+
          tree.toString).mkString(" "))
    } catch { case NonFatal(_) => None }

  /** Whether a meaning was written down by this version of ours: those before it left out what matters. */
  def isCurrent(meaning: String): Boolean = meaning.startsWith(Format + " ")

  private val Format = "3"

  private val line: String = SPARK_VERSION_SHORT.split('.').take(2).mkString(".")

  /** It has its own texts of numbers, and its own upper and lower cases. */
  private val javaVersion: String = System.getProperty("java.specification.version")

  /** The rules of time zones, where moments are computed with. */
  private def clocks(e: Expression): Option[String] =
    if (e.exists(_.dataType == TimestampType)) Some(s"tz ${ZoneRulesProvider.getVersions("UTC").lastKey}")
    else None

  /** The language of the JVM, where letters become upper or lower case: Turkish has its own rules. */
  private def language(e: Expression): Option[String] =
    if (e.exists { case _: Lower | _: Upper | _: InitCap => true; case _ => false })
      Some(Locale.getDefault.getLanguage).filter(OwnCases)
    else None

  /** Languages with their own upper or lower case of some letter. */
  private val OwnCases = Set("tr", "az", "lt")

  /** The settings that are not at their defaults. */
  private def settings(conf: SQLConf): Seq[String] =
    conf.getAllConfs.filter { case (key, value) =>
      Settings.exists(key.startsWith) && !Try(Defaults.getConfString(key)).toOption.contains(value)
    }.toSeq.sorted.map { case (key, value) => s"$key=$value" }

  /** Stops when it is too long: of a filter of thousands of parts, each part is asked for. */
  private def write(e: Expression, caseSensitive: Boolean, to: StringBuilder): Unit = ColumnPath.of(e) match {
    case _ if to.length > MostCharacters =>
    case Some(path) =>
      val name = ColumnPath.sql(path)
      to.append(if (caseSensitive) name else name.toLowerCase(Locale.ROOT))
      to.append(":").append(TypeText.of(e.dataType))
      ()
    case None =>
      val own = e match {
        case l: Literal => Seq(TypeText.of(l.dataType), value(l.value))
        case _ => e.productIterator.filterNot(isExpression).map(text).toSeq
      }
      to.append(e.getClass.getName).append("(").append(own.mkString(", "))
      e.children.zipWithIndex.foreach { case (child, i) =>
        if (own.nonEmpty || i > 0) to.append(", ")
        write(child, caseSensitive, to)
      }
      to.append("):").append(TypeText.of(e.dataType))
      ()
  }

  private def isExpression(argument: Any): Boolean = argument match {
    case _: Expression | Some(_: Expression) => true
    case s: Seq[_] => s.nonEmpty && s.forall(isExpression)
    // a branch of CASE; there is an ELSE if the number of children is odd
    case (_: Expression, _: Expression) => true
    case _ => false
  }

  private def text(argument: Any): String = argument match {
    case t: DataType => TypeText.of(t)
    case Some(x) => s"Some(${text(x)})"
    case values: Set[_] => values.toSeq.map(value).sorted.mkString("{", " ", "}")
    case other => String.valueOf(other)
  }

  /**
   * As Spark computes with it: one text a value, whatever the session's time zone is and whatever bytes a
   * text has.
   */
  private def value(of: Any): String = of match {
    case s: UTF8String => hex(s.getBytes)
    case bytes: Array[Byte] => hex(bytes)
    case other => String.valueOf(other)
  }

  private def hex(bytes: Array[Byte]): String = bytes.map("%02x".format(_)).mkString("x", "", "")
}

/**
 * The functions that an index can hold values of: what they give depends on their arguments, the session's
 * time zone and ANSI mode, and on nothing else. A list of settings that change a function is never complete;
 * so this is a list of functions, each of which a test computes under every setting of Spark.
 *
 * Left out, for example: functions of JSON, CSV and XML (options of generators and parsers), formats of dates
 * and numbers (parser policies, locales), everything that makes arrays, maps or structs.
 */
object IndexableFunctions {

  /** By the class of the optimized expression; some are of one Spark line only. */
  private[skipping] val Names: Set[String] = Set(
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
   * @param sql
   *   its text
   */
  def refused(optimized: Expression, written: Expression, sql: String): Option[String] =
    written.collectFirst { case e if OfNow(e.getClass.getSimpleName) => e.prettyName }
      .orElse(if (written.exists(isMoment)) TextOfNow.findFirstIn(sql) else None)
      .orElse(outside(optimized).map(found => outside(written).getOrElse(found).prettyName))

  /** Optimized, these are the literals of one moment; an index outlives it. */
  private val OfNow = Set("CurrentDate", "CurrentTime", "CurrentTimestamp", "LocalTimestamp", "Now")

  /**
   * Texts that become moments of the day on which they are read, `'10:00'` among them. Of a literal such as
   * `DATE'today'` the parser leaves nothing but the day.
   */
  private val TextOfNow =
    "(?i)['\"][\\x00-\\x20]*(?:(?:now|today|tomorrow|yesterday)\\b|t?\\d{1,2}:)[^'\"]*['\"]".r

  private def isMoment(e: Expression): Boolean = e.foldable && (e.dataType match {
    case DateType | TimestampType | TimestampNTZType => true
    case _ => false
  })

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
    e.children.forall(c => isPlain(c.dataType) || (OfAnyColumn(name) && isWholeColumn(c))) &&
    !isOfToday(e) && !isHashOfCollation(e)
  }

  /**
   * Whether a struct is NULL depends on which of its fields a query reads, where a file has none of these.
   */
  private def isWholeColumn(e: Expression): Boolean =
    ColumnPath.of(e).isDefined && !e.dataType.isInstanceOf[StructType]

  /** A text that is a time of day alone becomes that time of the day on which it is read. */
  private def isOfToday(e: Expression): Boolean = e match {
    case c: Cast => c.child.dataType.isInstanceOf[StringType] && c.dataType == TimestampType
    case _ => false
  }

  /** What it gives differs between versions of Spark 4.0, and a meaning names only the line. */
  private def isHashOfCollation(e: Expression): Boolean = e match {
    case _: Murmur3Hash | _: XxHash64 => e.children.exists(c => TypeText.hasCollation(c.dataType))
    case _ => false
  }

  /** Values of other types are shown, compared and hashed in ways that settings change. */
  private def isPlain(dataType: DataType): Boolean = dataType match {
    case NullType => true
    case _: AtomicType => dataType.typeName != "variant"
    case _ => false
  }
}
