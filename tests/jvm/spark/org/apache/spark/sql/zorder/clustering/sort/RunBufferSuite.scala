package org.apache.spark.sql.zorder.clustering.sort

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import sparkzorder.mark.SameOnAllLines

/** What goes into the memory of a short run. */
@SameOnAllLines
class RunBufferSuite extends AnyFunSuite {

  /** A row of one BIGINT that says it has so many bytes; only its first 16 are there. */
  private def row(value: Long, bytes: Int): UnsafeRow = {
    val out = new UnsafeRow(1)
    out.pointTo(new Array[Byte](16), Platform.BYTE_ARRAY_OFFSET.toLong, bytes)
    out.setLong(0, value)
    out
  }

  test("rows are copied in their order, up to the last byte of the buffer") {
    val buffer = new RunBuffer
    buffer.start(row(1, 16))
    assert(buffer.add(row(2, 16)))
    assert(!buffer.add(row(3, RunBuffer.Bytes - 24)))
    val filling = new UnsafeRow(1)
    filling.pointTo(new Array[Byte](RunBuffer.Bytes - 32), RunBuffer.Bytes - 32)
    filling.setLong(0, 4)
    assert(buffer.add(filling) && !buffer.add(row(5, 16)))
    assert(buffer.iterator.map(_.getLong(0)).toList == List(1L, 2L, 4L))
  }

  test("a row whose bytes and those before it are more than an Int holds finds no room") {
    val buffer = new RunBuffer
    buffer.start(row(1, 16))
    assert(!buffer.add(row(2, Int.MaxValue - 15)))
    assert(buffer.iterator.map(_.getLong(0)).toList == List(1L))
  }
}
