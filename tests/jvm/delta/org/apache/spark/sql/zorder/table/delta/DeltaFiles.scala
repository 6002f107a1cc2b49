package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations}
import org.apache.spark.sql.delta.actions.AddFile

/** Commits as other writers of Delta make them. */
object DeltaFiles {

  /** Adds the Parquet files of a directory to a table as they are. */
  def add(spark: SparkSession, table: Path, from: Path, values: Map[String, String] = Map.empty): Unit = {
    val listed = Files.list(from)
    val found =
      try listed.iterator.asScala.filter(_.toString.endsWith(".parquet")).toList
      finally listed.close()
    val adds = found.map { file =>
      val name = s"other-${file.getFileName}"
      Files.copy(file, table.resolve(name))
      AddFile(name, values, Files.size(file), System.currentTimeMillis, dataChange = true)
    }
    DeltaLog.forTable(spark, table.toString).startTransaction(None).commit(adds, DeltaOperations.ManualUpdate)
    ()
  }
}
