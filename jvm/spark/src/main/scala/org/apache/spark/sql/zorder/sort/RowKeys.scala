package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.CodeGeneratorWithInterpretedFallback

/**
 * The words and the order of the curve keys of rows, without building the keys. Not shared between tasks, since it
 * holds scratch arrays.
 */
abstract class RowKeys {

  /** Writes the words of the row's key; every long of `words` is written. */
  def fill(row: InternalRow, words: Array[Long]): Unit

  /** The order of the keys of two rows: -1, 0 or 1. */
  def compare(a: InternalRow, b: InternalRow): Int
}

/** Generated for the column types, or interpreted if code generation is off. */
object RowKeys extends CodeGeneratorWithInterpretedFallback[CurveKey, RowKeys] {

  /** @param key bound to the input of the sort */
  def of(key: CurveKey): RowKeys = createObject(key)

  override protected def createCodeGeneratedObject(key: CurveKey): RowKeys = GenerateRowKeys.generate(key)

  override protected def createInterpretedObject(key: CurveKey): RowKeys = new InterpretedRowKeys(key)
}
