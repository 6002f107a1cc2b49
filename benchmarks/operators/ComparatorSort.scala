package org.apache.spark.sql.zorder.clustering.sort

import java.util.function.Supplier

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.functions.expr
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/** A sort by the generated comparator and nothing else: no prefix, no radix sort. For comparison only. */
private[sort] object ComparatorSort {

  def rows(table: DataFrame, curve: String): RDD[InternalRow] = {
    val schema = table.schema
    val bound = table.sortWithinPartitions(expr(curve)).queryExecution.executedPlan.collectFirst {
      case z: ZOrderSortExec => CurveKey.of(z.order.head.child).bound(z.child.output)
    }.get
    table.queryExecution.toRdd.mapPartitions { rows =>
      val sorter = UnsafeExternalRowSorter.createWithRecordComparator(
        schema,
        new Supplier[RecordComparator] {
          override def get(): RecordComparator = new ByKeys(bound, schema.length)
        },
        PrefixComparators.LONG,
        new NoPrefix,
        SparkEnv.get.memoryManager.pageSizeBytes,
        false)
      rows.foreach(r => sorter.insertRow(r.asInstanceOf[UnsafeRow]))
      val sorted = sorter.sort()
      TaskContext.get().taskMetrics().incPeakExecutionMemory(sorter.getPeakMemoryUsage)
      sorted
    }
  }

  private class ByKeys(key: CurveKey, fields: Int) extends RecordComparator {
    private val keys = RowKeys.of(key)
    private val a = new UnsafeRow(fields)
    private val b = new UnsafeRow(fields)

    override def compare(x: Object, xAt: Long, xSize: Int, y: Object, yAt: Long, ySize: Int): Int = {
      a.pointTo(x, xAt, xSize)
      b.pointTo(y, yAt, ySize)
      keys.compare(a, b)
    }
  }

  private class NoPrefix extends PrefixComputer {
    private val none = new PrefixComputer.Prefix
    override def computePrefix(row: InternalRow): PrefixComputer.Prefix = none
  }
}
