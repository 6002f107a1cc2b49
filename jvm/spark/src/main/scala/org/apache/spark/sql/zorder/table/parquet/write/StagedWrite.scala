package org.apache.spark.sql.zorder.table.parquet.write

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{JobContext, JobStatus, OutputCommitter, TaskAttemptContext}
import org.apache.hadoop.mapreduce.lib.output.{PathOutputCommitter, PathOutputCommitterFactory}
import org.apache.spark.internal.io.{FileNameSpec, HadoopMapReduceCommitProtocol}
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, StateDir, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PartNumber, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.parquet.read.ParquetRows
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils

/**
 * Parquet files written into a staging directory.
 *
 * @param place
 *   puts them in place; it gets what lay in the staging directory when they were written
 * @param drop
 *   deletes them; it gets how many jobs have written them
 */
final private[zorder] class StagedWrite(
    override val root: Path,
    staging: Path,
    partitionSchema: StructType,
    place: (DirectoryListing, CommitRequest) => Unit,
    drop: Int => Unit)
    extends TableWrite {
  private var listed: Option[DirectoryListing] = None
  private var writes = 0

  override def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile] = {
    val onStore = S3ACommit.options(session, staging)
    S3ACommit.during(session, onStore) {
      Shims.ofRows(session, plan).write.mode(SaveMode.Append).options(options ++ onStore)
        .partitionBy(partitionColumns: _*).parquet(staging.toString)
    }
    writes += 1
    CrashPoint.hit("parquet-written")
    // all of them: nobody else writes into a staging directory
    val tree = DirectoryListing.walk(staging.getFileSystem(session.sessionState.newHadoopConf()), staging)
    if (staging == root && StagedWrite.jobs(tree).size > writes)
      refuse("ZORDER_TARGET_REFUSED.WRITTEN_MEANWHILE", "path" -> root)
    listed = Some(tree)
    tree.dataFiles(_.parent)
      .map(f => WrittenFile(f, DataFile.below(staging, f), StagedWrite.number(f.path)))
  }

  override def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    ParquetRows(session, staging, partitions, dataSchema, partitionSchema)

  override def commit(request: CommitRequest): Unit =
    place(listed.getOrElse(throw new IllegalStateException("A commit before anything was written")), request)

  override def discard(): Unit = drop(writes)
}

private[table] object StagedWrite {
  private val OfJob = "part-\\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\b.*".r

  /** The jobs of Spark that have written files there. A file of another name counts as a job of its own. */
  def jobs(tree: DirectoryListing): Set[String] =
    tree.files.filterNot(f => f.rel.startsWith(s"${StateDir.Name}/") || f.rel == "_SUCCESS")
      .map(f =>
        f.name match {
          case OfJob(job) => job
          case _ => f.rel
        }).toSet

  /** The shuffle partition that wrote a file. */
  val number: PartNumber = new PartNumber("Spark", "part-(\\d+)-.*".r)
}

/**
 * How files get into a staging directory on `s3a:`. Spark's default renames each file twice, and a rename there is a
 * copy. S3A has a committer that uploads a file under its final name and makes it visible when the job commits. It is
 * used unless the session sets another committer or disables this one.
 */
private object S3ACommit {
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
