package org.apache.spark.sql.zorder.clustering.sort

import java.lang.management.ManagementFactory

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.ZOrderSession

/** The generated comparator works on the memory of rows and on scratch arrays of its own. */
class RowKeysSuite extends AnyFunSuite with ZOrderSession {
  private val comparisons = 1000000

  private val types: Seq[(DataType, Int => Any)] = Seq(
    BooleanType -> (i => i % 2 == 0),
    ByteType -> (_.toByte),
    ShortType -> (_.toShort),
    IntegerType -> (_ * 48271),
    LongType -> (_ * 1103515245L),
    FloatType -> (_ / 3.0f),
    DoubleType -> (_ / 7.0),
    DateType -> identity,
    TimestampType -> (_ * 1000003L))

  private def rows(columns: Seq[(DataType, Int => Any)]): Array[UnsafeRow] = {
    val project = UnsafeProjection.create(columns.map(_._1).toArray)
    Array.tabulate(512) { n =>
      val values = columns.indices.map(c => if ((n + c) % 13 == 0) null else columns(c)._2(n ^ (c << 4)))
      project(InternalRow.fromSeq(values)).copy()
    }
  }

  /** The sum keeps the comparisons alive. */
  private def compared(keys: RowKeys, rows: Array[UnsafeRow], times: Int): Int = {
    var sum = 0
    var i = 0
    while (i < times) {
      sum += keys.compare(rows(i & 511), rows((i * 31 + 7) & 511))
      i += 1
    }
    sum
  }

  private def allocated(body: => Any): Long = {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    val id = Thread.currentThread().getId
    val before = threads.getThreadAllocatedBytes(id)
    body
    threads.getThreadAllocatedBytes(id) - before
  }

  for (n <- Seq(1, 2, 4, types.length))
    test(s"a million comparisons of $n fixed-width columns allocate nothing") {
      spark
      for (first <- types.indices by n) {
        val columns = (0 until n).map(k => types((first + k) % types.length))
        val references = columns.zipWithIndex.map { case ((t, _), i) =>
          BoundReference(i, t, nullable = true)
        }
        val keys = GenerateRowKeys.generate(CurveKey(references, hilbert = false))
        val made = rows(columns)
        compared(keys, made, 100000)
        val bytes = allocated(compared(keys, made, comparisons))
        assert(bytes < comparisons / 100, columns.map(_._1.sql).mkString(", "))
      }
    }
}
