package org.apache.spark.sql.zorder.table.parquet.commit

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.parquet.files.{FileMoves, ListedFile}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, TaggedJobs}
import org.apache.spark.util.SerializableConfiguration

/** Copies of many files, as tasks: through the driver alone, those of a terabyte would take hours. */
private[parquet] object CopyTasks {

  /**
   * What is there already with the same length is taken as it is, so that an attempt that died need not begin again. The
   * caller looks whether all copies are whole before anything depends on them: a task that was given up may still write.
   *
   * @param step
   *   what Spark's pages call the job
   * @param copies
   *   a file, its copy, and what the file is by length and modification time
   */
  def run(table: CatalogEntry, txn: String, step: String, copies: Seq[(Path, Path, ListedFile)]): Unit =
    if (copies.nonEmpty) {
      // no class of ours: a session's own serializer need not know it
      val pairs = copies.map { case (from, to, f) => (from.toString, to.toString, f.length, f.modified) }
      val conf = new SerializableConfiguration(table.session.sessionState.newHadoopConf())
      val context = table.session.sparkContext
      val before = context.getLocalProperty("spark.job.description")
      context.setJobDescription(s"zorder ${table.name}: $step")
      // two statements of one driver may finish one commit: neither ends the other's tasks
      val tag = s"$txn-${UUID.randomUUID}"
      context.addJobTag(tag)
      try context.parallelize(pairs, math.min(pairs.size, 10000)).foreach {
          case (from, to, length, modified) =>
            CopyTasks.one(conf, from, to, ListedFile("", length, modified))
        }
      catch { case e: Throwable => Cancellation.deferred(e)(TaggedJobs.end(context, tag)); throw e }
      finally {
        context.removeJobTag(tag)
        context.setJobDescription(before)
      }
    }

  private def one(conf: SerializableConfiguration, from: String, to: String, file: ListedFile): Unit = {
    val source = new Path(from)
    FileMoves.copyUnlessThere(source.getFileSystem(conf.value), source, new Path(to), file)
  }
}
