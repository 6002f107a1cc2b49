package org.apache.spark.sql.zorder.sort

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/** The share of a task's memory that ordinary arrays take, so that Spark counts them. It cannot be spilled. */
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

  /** Of a task, which gets it back at its end at the latest. */
  def of(task: TaskContext): RankMemory = {
    val memory = new RankMemory(task.taskMemoryManager())
    task.addTaskCompletionListener[Unit](_ => memory.release())
    memory
  }
}
