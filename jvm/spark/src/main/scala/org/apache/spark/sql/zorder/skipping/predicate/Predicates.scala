package org.apache.spark.sql.zorder.skipping.predicate

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Condition, Interval}

/** What resolved filter expressions say of columns. What is not understood may be true anywhere. */
private[zorder] object Predicates {

  /** The set for which the filter is true, or more. */
  def whereTrue[R](filter: Expression, sets: FilterSets[R]): R = where(filter, truth = true, sets)

  /**
   * The set for which the filter is not true, but false or NULL, or more: outside, it is true for all rows.
   */
  def whereNotTrue[R](filter: Expression, sets: FilterSets[R]): R =
    // where a constant is NULL the first set is everything: the second one takes a NULL for not false
    sets.or(whereNull(filter, sets), where(filter, truth = false, sets))

  /** The set for which the expression is `truth`, and not NULL. */
  private def where[R](e: Expression, truth: Boolean, sets: FilterSets[R]): R = {
    def part(e: Expression): R = where(e, truth, sets)
    e match {
      case Literal(value, BooleanType) => if (value == truth) sets.all else sets.none
      case And(l, r) => if (truth) all(e, truth, sets) else sets.or(part(l), part(r))
      case Or(l, r) => if (truth) sets.or(part(l), part(r)) else all(e, truth, sets)
      case Not(child) => where(child, !truth, sets)
      case _: AlwaysTrue => if (truth) sets.all else sets.none
      case _ if sets.unanswered(e) => sets.unknown(e)
      case _ if e.foldable => folded(e).fold(sets.unknown(e))(part)
      case _ =>
        def byOperands: R = tested(e, truth).fold(sets.unknown(e)) {
          case TestedColumn(column, condition, function) =>
            function.fold(sets.on(column, condition))(sets.onFunction(_, column, condition))
        }
        sets.asColumn(e, truth).fold(byOperands)(sets.and(_, byOperands))
    }
  }

  /** Where every part of a conjunction, or of a disjunction that is false, is as it must be. */
  private def all[R](e: Expression, truth: Boolean, sets: FilterSets[R]): R = {
    val parts = conjuncts(e, truth)
    val each = parts.tail.foldLeft(where(parts.head._1, parts.head._2, sets)) { case (found, (part, so)) =>
      sets.and(found, where(part, so, sets))
    }
    if (!sets.testsAlone) each
    else
      together(parts, sets).foldLeft(each) { case (found, (column, condition)) =>
        sets.and(found, sets.on(column, condition))
      }
  }

  private def conjuncts(e: Expression, truth: Boolean): Seq[(Expression, Boolean)] = e match {
    case And(l, r) if truth => conjuncts(l, truth) ++ conjuncts(r, truth)
    case Or(l, r) if !truth => conjuncts(l, truth) ++ conjuncts(r, truth)
    case Not(child) => conjuncts(child, !truth)
    case other => Seq(other -> truth)
  }

  /** The set for which the filter is NULL, or more. */
  private def whereNull[R](filter: Expression, sets: FilterSets[R]): R = filter match {
    case _: And => anyPartNull(conjuncts(filter, truth = true), sets)
    case _: Or => anyPartNull(conjuncts(filter, truth = false), sets)
    case Not(child) => whereNull(child, sets)
    case _: IsNull | _: IsNotNull | _: EqualNullSafe | _: AlwaysTrue => sets.none
    case Literal(value, _) => if (value == null) sets.all else sets.none
    case InSet(child, values) => if (values.contains(null)) sets.all else anyNull(Seq(child), sets)
    case _: BinaryComparison | _: In | _: StartsWith | _: EndsWith | _: Contains | _: Like =>
      anyNull(constants(filter).children, sets)
    case _ => anyNull(Seq(filter), sets)
  }

  /** NULL where one part is, and each part is NULL or leaves the decision open. */
  private def anyPartNull[R](parts: Seq[(Expression, Boolean)], sets: FilterSets[R]): R = {
    val nulls = parts.map { case (part, _) => whereNull(part, sets) }
    // `or` and `and` may make use of their left side: the parts' own sets are taken last
    val some = nulls.foldLeft(sets.none)(sets.or(_, _))
    parts.zip(nulls).foldLeft(some) { case (left, ((part, open), isNull)) =>
      sets.and(left, sets.or(isNull, where(part, open, sets)))
    }
  }

  /**
   * Where one of the values is NULL, of which each must be a constant or a column: a function may be NULL
   * where its column is not. [[ColumnPredicate]] does not tell this. Its conditions hold the values for which
   * a test is true, or false, or more, so that NULL is not what is outside of both.
   */
  private def anyNull[R](values: Seq[Expression], sets: FilterSets[R]): R =
    values.foldLeft(sets.none) { (found, v) =>
      val here = v match {
        case Literal(value, _) => if (value == null) sets.all else sets.none
        case _ if ColumnPath.of(v).isEmpty || sets.unanswered(v) => sets.all
        case _ => FilterColumn.of(v).fold(sets.all)(sets.on(_, Condition.IsNull))
      }
      sets.or(found, here)
    }

  /** What several parts say of one column, as one condition. */
  private def together[R](
      parts: Seq[(Expression, Boolean)],
      sets: FilterSets[R]): Seq[(FilterColumn, Condition)] = {
    val tests = parts.filter {
      // Spark adds tests for NULL to others, which say as much
      case (_: IsNull | _: IsNotNull | _: And | _: Or | _: AlwaysTrue, _) => false
      case (e, _) => e.references.size == 1 && !sets.unanswered(e)
    }
    val sameColumn = tests.groupBy(_._1.references.head.exprId).values.filter(_.length > 1).toSeq
    sameColumn.flatMap { same =>
      same.flatMap { case (e, truth) => tested(e, truth).flatMap(_.ofColumn) }.groupBy(_._1).toSeq.collect {
        case (column, conditions) if conditions.length > 1 =>
          column -> conditions.map(_._2).reduce(ConditionAlgebra.and)
      }
    }
  }

  /** @param function that the test is on, where it is not the column itself */
  final private case class TestedColumn(
      column: FilterColumn,
      condition: Condition,
      function: Option[Expression]) {

    /** What the test says of the column that a function keeps the order of. */
    def ofColumn: Option[(FilterColumn, Condition)] = function match {
      case None => Some(column -> condition)
      case Some(f) => MonotoneFunction.onColumn(f, condition)
    }
  }

  /** None for what is not understood. */
  private def tested(e: Expression, truth: Boolean): Option[TestedColumn] = {
    val test = constants(e)
    ColumnPredicate.of(test).map { p =>
      TestedColumn(p.column, if (truth) p.whenTrue else p.whenFalse, functionOf(p.column, test))
    }
  }

  /** The expression that a test is on; None where that is a column or a field. */
  private def functionOf(column: FilterColumn, test: Expression): Option[Expression] =
    // the text of a whole test, such as a long list, is made only where no operand is the column
    (test.children.iterator ++ Iterator(test)).find(FilterColumn.of(_).contains(column))
      .filter(ColumnPath.of(_).isEmpty)

  /** The expression with the constants directly below it evaluated. */
  private def constants(e: Expression): Expression = e.mapChildren {
    case l: Literal => l
    case child if child.foldable => folded(child).getOrElse(child)
    case child => child
  }

  private def folded(e: Expression): Option[Literal] =
    try if (e.deterministic) Some(Literal.create(e.eval(), e.dataType)) else None
    catch { case NonFatal(_) => None }
}

/**
 * What a filter is turned into by [[Predicates]]: sets that hold every row (or file) in question, or more.
 *
 * Each caller brings sets of its own, and the filter is read here for all callers. A scan and `ZORDER
 * EXPLAIN` ask for the files of an index, all at once, by the same class. `clustering_where`, and a run with
 * a `WHERE`, ask for one file, row group or page at a time, by its bounds. A query log takes the conditions
 * themselves.
 */
private[zorder] trait FilterSets[R] {

  /** The set for an expression that nothing is known of. */
  def all: R

  def none: R

  def and(left: R, right: => R): R

  def or(left: R, right: => R): R

  /**
   * Whether `and` takes each test alone, and misses what two of them say of one column together: `c > 5 AND c
   * < 9` is not met by a file that has 1 and 20 and nothing between, though each test is.
   */
  def testsAlone: Boolean = false

  /** Where the column meets the condition. */
  def on(column: FilterColumn, condition: Condition): R

  /**
   * Where a function of columns meets the condition.
   *
   * @param e
   *   the function
   * @param function
   *   its name as a column of its own
   */
  def onFunction(e: Expression, function: FilterColumn, condition: Condition): R = on(function, condition)

  /**
   * Where a test, taken for a column of its own, has a truth value; None where it is no such column. What is
   * known of its operands holds beside it.
   */
  def asColumn(test: Expression, truth: Boolean): Option[R] = None

  /** Whether nothing can be said of an expression, though it could be understood. */
  def unanswered(e: Expression): Boolean = false

  /** For an expression that is not understood, or not answered. */
  def unknown(e: Expression): R = all
}

/**
 * A predicate on one column: its comparison with constants.
 *
 * @param whenTrue
 *   the values for which it is true, or more
 * @param whenFalse
 *   the values for which it is false (not NULL), or more
 */
final private case class ColumnPredicate(
    column: FilterColumn,
    whenTrue: Condition,
    whenFalse: Condition) {
  def not: ColumnPredicate = ColumnPredicate(column, whenFalse, whenTrue)
}

private object ColumnPredicate {

  /** None where the expression is no such test. */
  def of(e: Expression): Option[ColumnPredicate] = e match {
    case IsNull(Column(c)) => Some(isNull(c))
    case IsNotNull(Column(c)) => Some(isNull(c).not)
    case EqualNullSafe(Column(c), v: Literal) => nullSafe(c, v)
    case EqualNullSafe(v: Literal, Column(c)) => nullSafe(c, v)
    case BinaryComparison(Column(c), v: Literal) => compared(e, c, v).orElse(truth(e))
    case BinaryComparison(v: Literal, Column(c)) => mirrored(e).flatMap(compared(_, c, v)).orElse(truth(e))
    case In(Column(c), list) if list.forall(_.isInstanceOf[Literal]) =>
      oneOf(c, list.map(_.asInstanceOf[Literal].value))
    case InSet(Column(c), values) => oneOf(c, values.toSeq)
    case StartsWith(Column(c), Text(prefix)) if Normalization.isPlainString(c.dataType) =>
      Some(begins(c, prefix, exactly = true))
    case Like(Column(c), Text(pattern), escape) if Normalization.isPlainString(c.dataType) =>
      like(c, new String(pattern, UTF_8), escape).orElse(truth(e))
    case _ => truth(e)
  }

  /** Any other truth value over the row: a column of its own. */
  private def truth(e: Expression): Option[ColumnPredicate] =
    if (e.dataType != BooleanType) None
    else FilterColumn.of(e).map(c =>
      ColumnPredicate(c, Condition.equal(normalize(c, true)), Condition.equal(normalize(c, false))))

  private def isNull(c: FilterColumn): ColumnPredicate =
    ColumnPredicate(c, Condition.IsNull, Condition.IsNotNull)

  private def nullSafe(c: FilterColumn, v: Literal): Option[ColumnPredicate] =
    if (v.value == null) Some(isNull(c))
    else if (v.dataType != c.dataType) None
    else {
      val a = equal(c, normalize(c, v.value))
      Some(a.copy(whenFalse = a.whenFalse.copy(orNull = true)))
    }

  private def compared(comparison: Expression, c: FilterColumn, v: Literal): Option[ColumnPredicate] =
    if (v.value == null) Some(ColumnPredicate(c, Condition.Impossible, Condition.Impossible))
    else if (v.dataType != c.dataType) None
    else {
      val w = normalize(c, v.value)
      comparison match {
        case _: EqualTo => Some(equal(c, w))
        case _: LessThan => Some(ColumnPredicate(c, below(c, w), ray(Some(w), None)))
        case _: GreaterThanOrEqual => Some(ColumnPredicate(c, ray(Some(w), None), below(c, w)))
        case _: GreaterThan => Some(ColumnPredicate(c, above(c, w), ray(None, Some(w))))
        case _: LessThanOrEqual => Some(ColumnPredicate(c, ray(None, Some(w)), above(c, w)))
        case _ => None
      }
    }

  private def equal(c: FilterColumn, w: NormalizedValue): ColumnPredicate =
    ColumnPredicate(c, Condition.equal(w), ConditionAlgebra.or(below(c, w), above(c, w)))

  /** `5 < a` as a test of a. */
  private def mirrored(comparison: Expression): Option[Expression] = comparison match {
    case e: EqualTo => Some(e)
    case LessThan(l, r) => Some(GreaterThan(r, l))
    case LessThanOrEqual(l, r) => Some(GreaterThanOrEqual(r, l))
    case GreaterThan(l, r) => Some(LessThan(r, l))
    case GreaterThanOrEqual(l, r) => Some(LessThanOrEqual(r, l))
    case _ => None
  }

  /**
   * A list with a NULL in it is false for no value, but for NaN, which Spark's InSet does not find unknown.
   */
  private def oneOf(c: FilterColumn, values: Seq[Any]): Option[ColumnPredicate] = {
    val normalized = values.filter(_ != null).map(normalize(c, _))
    val inside = Condition.in(normalized)
    val outside =
      if (values.contains(null))
        Normalization.nan(c.dataType).fold(Condition.Impossible)(n => Condition.equal(NormalizedLong(n)))
      else between(c, inside.intervals.flatMap(_.min))
    Some(ColumnPredicate(c, inside, outside))
  }

  /** Everything but the given values, which ascend. */
  private def between(c: FilterColumn, normalized: IndexedSeq[NormalizedValue]): Condition = {
    val gaps =
      (None +: normalized.map(Some(_))).zip(normalized.map(Some(_)) :+ None).flatMap { case (from, until) =>
        val low = from.map(AdjacentValues.above(_, c.dataType))
        val high = until.map(AdjacentValues.below(_, c.dataType))
        if (low.contains(None) || high.contains(None)) None
        else Some(ray(low.flatten, high.flatten)).filter(_ => ordered(low.flatten, high.flatten))
      }
    // they ascend, and a value lies between any two of them: there may be thousands, and nothing to join
    Condition(gaps.flatMap(_.intervals), orNull = false)
  }

  private def ordered(low: Option[NormalizedValue], high: Option[NormalizedValue]): Boolean =
    low.forall(l => high.forall(_ >= l))

  private def begins(c: FilterColumn, prefix: Array[Byte], exactly: Boolean): ColumnPredicate =
    if (prefix.isEmpty)
      ColumnPredicate(c, Condition.IsNotNull, if (exactly) Condition.Impossible else Condition.IsNotNull)
    else {
      val inside = Condition(IndexedSeq(AdjacentValues.withPrefix(prefix)), orNull = false)
      def after = AdjacentValues.afterPrefix(prefix)
        .fold(Condition.Impossible)(end => ray(Some(NormalizedBytes(end)), None))
      val outside =
        if (exactly) ConditionAlgebra.or(below(c, NormalizedBytes(prefix)), after) else Condition.IsNotNull
      ColumnPredicate(c, inside, outside)
    }

  /** None where the pattern begins with anything. */
  private def like(c: FilterColumn, pattern: String, escape: Char): Option[ColumnPredicate] = {
    // Spark reads bytes that are no UTF-8 as U+FFFD, and a pattern with U+FFFD matches them
    val plain = pattern.takeWhile(ch => ch != '%' && ch != '_' && ch != escape && ch != '\ufffd')
    val bytes = plain.getBytes(UTF_8)
    if (plain == pattern) Some(equal(c, NormalizedBytes(bytes)))
    else if (plain.isEmpty) None
    else Some(begins(c, bytes, exactly = pattern.drop(plain.length) == "%"))
  }

  private def above(c: FilterColumn, w: NormalizedValue): Condition =
    AdjacentValues.above(w, c.dataType).fold(Condition.Impossible)(low => ray(Some(low), None))

  private def below(c: FilterColumn, w: NormalizedValue): Condition =
    AdjacentValues.below(w, c.dataType).fold(Condition.Impossible)(high => ray(None, Some(high)))

  private def ray(min: Option[NormalizedValue], max: Option[NormalizedValue]): Condition =
    Condition(IndexedSeq(Interval(min, max)), orNull = false)

  private def normalize(c: FilterColumn, value: Any): NormalizedValue =
    Normalization.of(c.dataType).get.normalize(value)

  private object Column {
    def unapply(e: Expression): Option[FilterColumn] = FilterColumn.of(e)
  }

  private object Text {
    def unapply(e: Expression): Option[Array[Byte]] = e match {
      case Literal(s: UTF8String, _) => Some(s.getBytes)
      case _ => None
    }
  }
}
