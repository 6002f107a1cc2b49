package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.CodeGeneratorWithInterpretedFallback

/**
 * The curve keys of rows, never built: their words, and their order. One task's own, since it holds scratch
 * arrays.
 */
abstract class RowKeys {

  /** Writes the words of the row's key; every long of `words` is written. */
  def fill(row: InternalRow, words: Array[Long]): Unit

  /** The order of the keys of two rows: -1, 0 or 1. */
  def compare(a: InternalRow, b: InternalRow): Int
}

/** Generated for the column types, or interpreted where Spark is told not to generate code. */
object RowKeys extends CodeGeneratorWithInterpretedFallback[CurveKey, RowKeys] {

  /** @param key bound to the input of the sort */
  def of(key: CurveKey): RowKeys = createObject(key)

  override protected def createCodeGeneratedObject(key: CurveKey): RowKeys = GenerateRowKeys.generate(key)

  override protected def createInterpretedObject(key: CurveKey): RowKeys = new InterpretedRowKeys(key)
}
