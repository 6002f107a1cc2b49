package org.apache.spark.sql.zorder.workload.log

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{Job, TaskAttemptID}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl

import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** Adds files to a query log. The driver writes them without a job, so it also works while the application ends. */
private[workload] object QueryLogWriter {

  /** One more file in the directory, which appears when it is complete. */
  def append(session: ClassicSession, directory: Path, queries: Seq[LoggedQuery]): Unit = {
    val name = s"queries-${UUID.randomUUID()}.parquet"
    val hidden = new Path(directory, s".$name")
    val job = Job.getInstance(session.sessionState.newHadoopConf())
    val factory = new ParquetFileFormat().prepareWrite(session, job, Map.empty, LoggedQuery.schema)
    val conf = job.getConfiguration
    conf.set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, "TIMESTAMP_MICROS")
    val context = new TaskAttemptContextImpl(conf, new TaskAttemptID())
    val writer = factory.newInstance(hidden.toString, LoggedQuery.schema, context)
    val toCatalyst = CatalystTypeConverters.createToCatalystConverter(LoggedQuery.schema)
    try queries.foreach(q => writer.write(toCatalyst(LoggedQuery.row(q)).asInstanceOf[InternalRow]))
    finally writer.close()
    val fs = directory.getFileSystem(conf)
    if (!fs.rename(hidden, new Path(directory, name)))
      throw new java.io.IOException(s"$hidden cannot be renamed to $name")
  }
}
