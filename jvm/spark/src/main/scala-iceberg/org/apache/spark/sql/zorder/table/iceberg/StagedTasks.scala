package org.apache.spark.sql.zorder.table.iceberg

import java.util.{List => JList, UUID}

import scala.collection.mutable.ArrayBuffer

import org.apache.iceberg.{FileScanTask, Table}
import org.apache.iceberg.spark.{FileRewriteCoordinator, ScanTaskSetManager, SparkTableCache}

/**
 * Iceberg's own way to read and write for a rewrite: under a name that stands for a table and some of its files. The
 * driver keeps the names until `clear`.
 */
final private[iceberg] class StagedTasks {
  private val names = ArrayBuffer.empty[String]

  /** A name under which the table can be written to without a commit. */
  def forWrite(table: Table): String = synchronized {
    val name = UUID.randomUUID.toString
    SparkTableCache.get.add(name, table)
    names += name
    name
  }

  /** A name under which the rows of these files can be read. */
  def forRead(table: Table, tasks: JList[FileScanTask]): String = {
    val name = forWrite(table)
    ScanTaskSetManager.get.stageTasks(table, name, tasks)
    name
  }

  def clear(table: Table): Unit = synchronized {
    names.foreach { name =>
      SparkTableCache.get.remove(name)
      ScanTaskSetManager.get.removeTasks[FileScanTask](table, name)
      FileRewriteCoordinator.get.clearRewrite(table, name)
    }
    names.clear()
  }
}
