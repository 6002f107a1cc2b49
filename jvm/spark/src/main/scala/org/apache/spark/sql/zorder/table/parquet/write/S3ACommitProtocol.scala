package org.apache.spark.sql.zorder.table.parquet.write

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{JobContext, JobStatus, OutputCommitter, TaskAttemptContext}
import org.apache.hadoop.mapreduce.lib.output.{PathOutputCommitter, PathOutputCommitterFactory}
import org.apache.spark.internal.io.{FileNameSpec, HadoopMapReduceCommitProtocol}
import org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.util.Utils

/**
 * How files get into a staging directory on `s3a:`. Spark's default renames each file twice, and a rename there is a
 * copy. S3A has a committer that uploads a file under its final name and makes it visible when the job commits. It is
 * used unless the session sets another committer or disables this one.
 */
private[write] object S3ACommit {
  private val Factory = "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory"
  private val Magic = "fs.s3a.committer.magic.enabled"

  /** Options of the write; empty if Spark's default is used. */
  def options(session: ClassicSession, staging: Path): Map[String, String] = {
    val conf = session.sessionState.conf
    val byDefault = conf.fileCommitProtocolClass == classOf[SQLHadoopMapReduceCommitProtocol].getName &&
      !conf.contains(SQLConf.PARQUET_OUTPUT_COMMITTER_CLASS.key)
    def allowed = session.sessionState.newHadoopConf().getBoolean(Magic, true)
    if (staging.toUri.getScheme != "s3a" || !byDefault || !allowed || !Utils.classIsLoadable(Factory))
      Map.empty
    else
      Map(
        "mapreduce.outputcommitter.factory.scheme.s3a" -> Factory,
        "fs.s3a.committer.name" -> "magic",
        Magic -> "true",
        // this committer's marker is a file with text, which nobody here reads
        "mapreduce.fileoutputcommitter.marksuccessfuljobs" -> "false")
  }

  /** Makes writes of the session, which belongs to the run alone, use the committer that the options name. */
  def during[A](session: ClassicSession, options: Map[String, String])(body: => A): A =
    if (options.isEmpty) body
    else {
      val key = SQLConf.FILE_COMMIT_PROTOCOL_CLASS.key
      session.conf.set(key, classOf[S3ACommitProtocol].getName)
      try body
      finally session.conf.unset(key)
    }
}

/** Spark's protocol with Hadoop's committer for the file system, which decides where tasks write. */
private[zorder] final class S3ACommitProtocol(jobId: String, path: String, dynamicPartitionOverwrite: Boolean)
    extends HadoopMapReduceCommitProtocol(jobId, path, dynamicPartitionOverwrite) {

  @transient private var store: PathOutputCommitter = _
  @transient private var begun = 0

  override protected def setupCommitter(context: TaskAttemptContext): OutputCommitter = {
    store = PathOutputCommitterFactory.createCommitter(new Path(path), context)
    new CommitterOfObjects(store, () => begun > 0)
  }

  override def newTaskTempFile(
      context: TaskAttemptContext,
      dir: Option[String],
      spec: FileNameSpec): String = {
    begun += 1
    val parent = dir.fold(store.getWorkPath)(new Path(store.getWorkPath, _))
    new Path(parent, getFilename(context, spec)).toString
  }
}

/**
 * A committer of Hadoop for a place where directories come to be with the files in them. It makes one for each task, and
 * looks whether it is there when the task ends, which takes a store nine requests; here the task tells.
 *
 * @param wrote
 *   whether the task has begun a file
 */
final private class CommitterOfObjects(store: PathOutputCommitter, wrote: () => Boolean)
    extends OutputCommitter {
  override def setupJob(job: JobContext): Unit = store.setupJob(job)
  override def commitJob(job: JobContext): Unit = store.commitJob(job)
  override def abortJob(job: JobContext, state: JobStatus.State): Unit = store.abortJob(job, state)
  override def setupTask(task: TaskAttemptContext): Unit = ()
  override def needsTaskCommit(task: TaskAttemptContext): Boolean = wrote()
  override def commitTask(task: TaskAttemptContext): Unit = store.commitTask(task)
  override def abortTask(task: TaskAttemptContext): Unit = store.abortTask(task)
}
