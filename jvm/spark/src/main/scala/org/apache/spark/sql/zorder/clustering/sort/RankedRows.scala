package org.apache.spark.sql.zorder.clustering.sort

import java.util.Arrays

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import sparkzorder.curve.layout.{CompiledLayout, KeyOrder, PageSides}
import sparkzorder.curve.page.{PageCut, PageTree}

/** The layout's keys and the ranks of rows, as the rows come. They count against the task's memory. */
final private[sort] class RankedRows(layout: CompiledLayout, columns: Int, memory: RankMemory) {
  private[this] val ranks = Array.fill(columns)(new Array[Int](0))
  private[this] var keys = new Array[Long](0)
  private[this] val row = new Array[Int](columns)
  private[this] val scratch = new Array[Int](columns)
  private[this] var rows = 0

  def count: Int = rows

  /**
   * Adds a row.
   *
   * @param of
   *   its ranks, from field `from` on
   * @return
   *   false if the task may have no more memory, and then the row is not added
   */
  def add(of: UnsafeRow, from: Int): Boolean = (rows < keys.length || grows()) && {
    var c = 0
    while (c < columns) {
      row(c) = of.getInt(from + c)
      ranks(c)(rows) = row(c)
      c += 1
    }
    val cell = layout.cell(row)
    keys(rows) = layout.key(cell, layout.fileOf(cell), row, scratch)
    rows += 1
    true
  }

  private def grows(): Boolean = {
    val room = math.min(RankedRows.MostRows.toLong, math.max(RankedRows.FirstRows, 2L * keys.length)).toInt
    room > keys.length && memory.acquired((room - keys.length) * (8L + 4L * columns)) && {
      keys = Arrays.copyOf(keys, room)
      for (c <- ranks.indices) ranks(c) = Arrays.copyOf(ranks(c), room)
      true
    }
  }

  /** Row numbers along the curve. */
  def byCurve: Array[Int] = KeyOrder.of(keys, rows)

  /** Row numbers by the pages of their file, along the curve in each. */
  def byPages(cut: PageCut, sides: PageSides): Array[Int] = {
    val order = byCurve
    PageTree.arrange(order, 0, rows, ranks, sides, cut.pageRows, cut.groupPages)
    order
  }
}

private[sort] object RankedRows {
  private val FirstRows = 4096

  /** Larger arrays are not made. */
  private val MostRows = 1 << 30

  /** Bytes that ordering a row takes for a while: two orders, and one array of the tree. */
  val OrderBytes = 12L
}

/**
 * The share of a task's memory that ordinary arrays take, so that Spark counts them. It cannot be spilled.
 */
private[sort] class RankMemory(manager: TaskMemoryManager)
    extends MemoryConsumer(manager, manager.pageSizeBytes, MemoryMode.ON_HEAP) {

  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

  /** Whether the task may have so many bytes more. */
  def acquired(bytes: Long): Boolean = {
    val got = acquireMemory(bytes)
    if (got < bytes) freeMemory(got)
    got >= bytes
  }

  /** Gives back all but so many bytes. */
  def keep(bytes: Long): Unit = if (getUsed > bytes) freeMemory(getUsed - bytes)

  /** Gives everything back; further calls do nothing. */
  def release(): Unit = keep(0L)
}

private[sort] object RankMemory {

  /** Takes memory of a task, which gets it back when it ends at the latest. */
  def of(task: TaskContext): RankMemory = {
    val memory = new RankMemory(task.taskMemoryManager())
    task.addTaskCompletionListener[Unit](_ => memory.release())
    memory
  }
}
