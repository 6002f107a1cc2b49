package org.apache.spark.sql.zorder.skipping

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.index.{ColumnRanges, StatisticsIndex}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Which files could be left out by the ranges of the index, found by evaluating each comparison at many values: every
 * value that rows have, ends of ranges, literals and their neighbours. Slow, and knows nothing of intervals.
 */
final class PruningOracle(
    index: StatisticsIndex,
    columns: IndexedSeq[AttributeReference],
    filters: RandomFilters) {

  /** Whether the filter may be true for a row that the ranges of the file allow. */
  def mayBeTrue(filter: Expression, file: Int): Boolean = filter match {
    case And(a, b) => mayBeTrue(a, file) && mayBeTrue(b, file)
    case Or(a, b) => mayBeTrue(a, file) || mayBeTrue(b, file)
    case Not(And(a, b)) => mayBeTrue(Not(a), file) || mayBeTrue(Not(b), file)
    case Not(Or(a, b)) => mayBeTrue(Not(a), file) && mayBeTrue(Not(b), file)
    case Not(Not(a)) => mayBeTrue(a, file)
    case atom => atomMayBeTrue(atom, file)
  }

  private def atomMayBeTrue(atom: Expression, file: Int): Boolean =
    atom.collectFirst { case a: AttributeReference => a } match {
      case None => atom.eval() == true
      case Some(column) =>
        val place = columns.indexWhere(_.exprId == column.exprId)
        candidates(column, atom, file).exists { value =>
          val row = new GenericInternalRow(columns.length)
          row.update(place, value)
          BindReferences.bindReference(atom, columns).eval(row) == true
        }
    }

  private def candidates(column: AttributeReference, atom: Expression, file: Int): Seq[Any] = {
    val ranges = index.rangesOf(column.sql, column.dataType).get
    val normalizedType = Normalization.of(column.dataType).get
    val values = (filters.domain(column.dataType) ++
      atom.collect { case Literal(v, t) if v != null && t == column.dataType => v } ++
      atom.collect { case InSet(_, set) => set.filter(_ != null).toSeq }.flatten)
      .flatMap(v => v +: neighbours(v))
    val inside = values.filter { v =>
      val normalized = normalizedType.normalize(v)
      (ranges.offsets(file) until ranges.offsets(file + 1)).exists(r =>
        !(normalized < ranges.bounds.min(r)) && !(normalized > ranges.bounds.max(r)))
    }
    val some = if (ranges.states(file) == ColumnRanges.Unknown) values else inside
    if (ranges.nulls(file) != 0) some :+ null else some
  }

  /** Values that lie between those of the rows: a range holds them, too. */
  private def neighbours(value: Any): Seq[Any] = value match {
    case i: Int => Seq(i - 1, i + 1)
    case l: Long => Seq(l - 1, l + 1)
    case d: Double => Seq(Math.nextUp(d), Math.nextDown(d))
    case s: UTF8String =>
      Seq("\u0000", "a", "\uffff").map(end => UTF8String.concat(s, UTF8String.fromString(end)))
    case b: Array[Byte] => Seq(b :+ 0.toByte, b :+ -1.toByte)
    case d: Decimal => Seq("0.01", "-0.01").map(by => d + Decimal(BigDecimal(by), d.precision, d.scale))
    case _ => Nil
  }
}

object PruningOracle {

  /** Ranges say nothing of these, and of patterns only where they have a literal head. */
  def isAnswerable(filter: Expression): Boolean = filter.find {
    case _: Abs | _: Length | _: EndsWith | _: Like | _: Cast => true
    case _ => false
  }.isEmpty
}
