package org.apache.spark.sql.zorder.skipping.index

import java.util.Locale

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.SPARK_VERSION_SHORT
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, RuntimeReplaceable}
import org.apache.spark.sql.functions.{col, count, expr, lit, max, min}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{AtomicType, DataType, NullType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileStatistics, StatColumn}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import sparkzorder.curve.{NormalizedBytes, NormalizedValue, Zone}

/** The rows of a file, and what the index says of each expression over them. */
final private[index] case class ComputedFile(rows: Long, columns: IndexedSeq[FileColumn])

/**
 * Least and greatest values of expressions, file by file: one job reads the columns that they are made of, as a query
 * would.
 *
 * @param session
 *   that reads, of the user's settings; see [[ExpressionRanges.reader]]
 * @param table
 *   what messages call it
 * @param rows
 *   the relation of these partitions of the table
 * @param columns
 *   the expressions
 * @param dated
 *   the dates and times that each of them is computed from. How a query sees those of old writers depends on its
 *   settings: nothing is said of a file where they have no bounds that can be trusted.
 */
final class ExpressionRanges(
    session: ClassicSession,
    table: String,
    rows: IndexedSeq[PinnedPartition] => InputRelation,
    val columns: IndexedSeq[IndexedColumn],
    val dated: IndexedSeq[Seq[StatColumn]]) {

  /** The computed ranges by the paths of the files. A file without rows, or one that could not be read, is left out. */
  private[index] def of(files: Seq[DataFile]): Map[String, ComputedFile] =
    if (columns.isEmpty || files.isEmpty) Map.empty
    else {
      val relation = rows(files.map(f => PinnedPartition(f.partition, Seq(f))).toIndexedSeq)
      val file = col(InputRelation.RouteColumn)
      val values = columns.indices.map(c => expr(columns(c).sql).as(s"e$c"))
      val bounds = columns.indices.flatMap { c =>
        val value = col(s"e$c")
        Seq[Column](min(value).as(s"min$c"), max(value).as(s"max$c"), count(value).as(s"count$c"))
      }
      val found = Shims.ofRows(session, relation.plan).select(file +: values: _*)
        .groupBy(file).agg(count(lit(1)).as("rows"), bounds: _*)
      computing(found.queryExecution.toRdd.map(_.copy()).collect()).map(row =>
        files(row.getInt(0)).path -> computed(row)).toMap
    }

  /** Names the table and the expressions where a value cannot be computed, since Spark's error names neither. */
  private def computing[A](job: => A): A =
    try job
    catch {
      case NonFatal(e) =>
        val cause = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toSeq.last
        throw ZOrderException.over(
          e,
          "ZORDER_INDEX_REFUSED.EXPRESSION_NOT_COMPUTED",
          "columns" -> columns.map(_.sql).mkString(", "),
          "table" -> table,
          "cause" -> ZOrderException.firstLine(cause))
    }

  private def computed(row: InternalRow): ComputedFile = {
    val rows = row.getLong(1)
    ComputedFile(
      rows,
      columns.indices.map { c =>
        val at = 2 + 3 * c
        val nulls = rows - row.getLong(at + 2)
        if (nulls == rows) FileColumn(RangeSet.OnlyNulls, nulls)
        else FileColumn(bounded(normalized(row, at, columns(c)), normalized(row, at + 1, columns(c))), nulls)
      }
    )
  }

  private def normalized(row: InternalRow, at: Int, column: IndexedColumn): NormalizedValue =
    Normalization.of(column.dataType).get.normalize(row.get(at, column.dataType))

  private def bounded(min: NormalizedValue, max: NormalizedValue): RangeSet =
    if (Seq(min, max).exists(ExpressionRanges.tooLong)) RangeSet.Unknown
    else RangeSet(ColumnRanges.Bounded, IndexedSeq((min, max)))
}

private[skipping] object ExpressionRanges {

  /** Longer strings are not kept. */
  private val MostBytes = 1024

  private def tooLong(normalized: NormalizedValue): Boolean = normalized match {
    case NormalizedBytes(bytes) => bytes.length > MostBytes
    case _ => false
  }

  /** Whether the dates and times that an expression is made of are seen alike by all queries. */
  private[index] def trusts(file: FileStatistics, dated: Seq[Int]): Boolean =
    !file.footer.opaque &&
      dated.forall(c => !file.footer.rowGroups.exists(_.zones(c) == Zone.Unknown))

  /** What is different from the user's session: files that are gone or damaged count as unknown. */
  private val Settings = Seq(
    "spark.sql.files.ignoreMissingFiles" -> "true",
    "spark.sql.files.ignoreCorruptFiles" -> "true",
    "spark.sql.parquet.datetimeRebaseModeInRead" -> "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead" -> "CORRECTED",
    // fields are found by their places in the whole struct
    "spark.sql.optimizer.nestedSchemaPruning.enabled" -> "false"
  )

  /** A session that reads as the user's does. */
  def reader(session: ClassicSession): ClassicSession = {
    val own = Shims.cloneSession(session)
    Settings.foreach { case (key, value) => own.conf.set(key, value) }
    own
  }
}

/**
 * What an expression computes, as a text: equal texts compute equal values from equal rows, for expressions of
 * [[IndexableFunctions]]. The SQL text does not do, since it says nothing of the time zone and of the type of each part:
 * a product of decimals has another scale under another setting. The version of Spark and the settings that name old
 * ways of functions are part of it, because what `lower` gives may change with them.
 */
private[skipping] object ExpressionMeaning {
  private val Defaults = new SQLConf
  private val Settings = Seq("spark.sql.legacy.", "spark.sql.icu.", "spark.sql.ansi.")

  /** The SQL text of an optimized expression; None if it cannot be written. */
  def of(e: Expression, conf: SQLConf): Option[String] =
    try Some((Seq(Format, s"Spark $line") ++ settings(conf) :+ tree(
        e,
        conf.caseSensitiveAnalysis)).mkString(" "))
    catch { case NonFatal(_) => None }

  /** Whether a meaning was written down by this version of ours: those before it left out what matters. */
  def isCurrent(meaning: String): Boolean = meaning.startsWith(Format + " ")

  private val Format = "2"

  private val line: String = SPARK_VERSION_SHORT.split('.').take(2).mkString(".")

  /** The settings that are not at their defaults. */
  private def settings(conf: SQLConf): Seq[String] =
    conf.getAllConfs.filter { case (key, value) =>
      Settings.exists(key.startsWith) && !Try(Defaults.getConfString(key)).toOption.contains(value)
    }.toSeq.sorted.map { case (key, value) => s"$key=$value" }

  private def tree(e: Expression, caseSensitive: Boolean): String = ColumnPath.of(e) match {
    case Some(path) =>
      val name = ColumnPath.sql(path)
      s"${if (caseSensitive) name else name.toLowerCase(Locale.ROOT)}:${e.dataType.json}"
    case None =>
      val own = e match {
        case l: Literal => Seq(l.dataType.json, l.sql)
        case _ => e.productIterator.filterNot(isExpression).map(text).toSeq
      }
      val parts = own ++ e.children.map(tree(_, caseSensitive))
      parts.mkString(s"${e.getClass.getName}(", ", ", s"):${e.dataType.json}")
  }

  private def isExpression(argument: Any): Boolean = argument match {
    case _: Expression | Some(_: Expression) => true
    case s: Seq[_] => s.nonEmpty && s.forall(_.isInstanceOf[Expression])
    case _ => false
  }

  private def text(argument: Any): String = argument match {
    case t: DataType => t.json
    case Some(x) => s"Some(${text(x)})"
    case other => String.valueOf(other)
  }
}

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
