package org.apache.spark.sql.zorder.run.select

/** The truth values that a condition may take over the rows of a file: any that is not ruled out. */
final private[run] case class WhereTruth(mayBeTrue: Boolean, mayBeFalse: Boolean, mayBeNull: Boolean) {

  /** Every row of the file satisfies the condition. */
  def always: Boolean = mayBeTrue && !mayBeFalse && !mayBeNull

  def not: WhereTruth = WhereTruth(mayBeFalse, mayBeTrue, mayBeNull)

  /** SQL's three-valued AND, as if the sides had nothing to do with each other. */
  def and(that: WhereTruth): WhereTruth = WhereTruth(
    mayBeTrue && that.mayBeTrue,
    mayBeFalse || that.mayBeFalse,
    (mayBeNull && (that.mayBeNull || that.mayBeTrue)) || (that.mayBeNull && mayBeTrue))

  def or(that: WhereTruth): WhereTruth = not.and(that.not).not

  /** A condition that is false where this one is NULL, as `<=>` is. */
  def nullIsFalse: WhereTruth = WhereTruth(mayBeTrue, mayBeFalse || mayBeNull, mayBeNull = false)
}

private[run] object WhereTruth {
  val Any: WhereTruth = WhereTruth(mayBeTrue = true, mayBeFalse = true, mayBeNull = true)
  val True: WhereTruth = WhereTruth(mayBeTrue = true, mayBeFalse = false, mayBeNull = false)
  val False: WhereTruth = True.not
  val Null: WhereTruth = WhereTruth(mayBeTrue = false, mayBeFalse = false, mayBeNull = true)

  def of(value: Boolean): WhereTruth = if (value) True else False
}
