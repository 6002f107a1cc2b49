package org.apache.spark.sql.zorder.table.iceberg

import java.util.{List => JList, UUID}

import scala.collection.JavaConverters._
import scala.collection.mutable.{ArrayBuffer, HashMap}

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{
  BaseFileScanTask,
  DataFile,
  DeleteFile,
  FileScanTask,
  MetadataColumns,
  PartitionSpecParser,
  SchemaParser,
  Table,
  TableProperties
}
import org.apache.iceberg.expressions.{Expressions, ResidualEvaluator}
import org.apache.iceberg.spark.{
  FileRewriteCoordinator,
  ScanTaskSetManager,
  SparkReadOptions,
  SparkTableCache
}
import org.apache.iceberg.util.{ContentFileUtil, PropertyUtil}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{LongType, StringType}
import org.apache.spark.sql.zorder.expr.layout.{FileNumbers, NumberOfFile}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/** The rows of some files as Iceberg reads them: without deleted rows, with the table's current column names. */
private[iceberg] object IcebergRows {

  /** Spark 3.5 and 4.0 read staged files by this option; 4.1 by the name alone. */
  private val ReadOption = "scan-task-set-id"

  private val Place = Seq(InputRelation.SeedColumn, InputRelation.PositionColumn)

  def apply(
      session: ClassicSession,
      table: Table,
      staged: StagedTasks,
      partitions: IndexedSeq[PinnedPartition],
      tasks: Map[String, FileScanTask]): InputRelation =
    chosen(session, table, staged, partitions, tasks, (_, _) => None)

  /** Of the rows, those that others have removed; none of a file that is not listed. */
  def removed(
      session: ClassicSession,
      table: Table,
      staged: StagedTasks,
      partitions: IndexedSeq[PinnedPartition],
      tasks: Map[String, FileScanTask],
      changes: Map[String, Removed]): InputRelation = {
    val files = changes.toIndexedSeq
    val numbers = FileNumbers(files.zipWithIndex.map { case ((path, _), i) => path -> i }.toMap)
    chosen(
      session,
      table,
      staged,
      partitions,
      tasks,
      (file, position) => Some(WasRemoved(NumberOfFile(file, numbers), position, files.map(_._2))))
  }

  /** @param which by the path of the file and the position of the row */
  private def chosen(
      session: ClassicSession,
      table: Table,
      staged: StagedTasks,
      partitions: IndexedSeq[PinnedPartition],
      tasks: Map[String, FileScanTask],
      which: (Attribute, Attribute) => Option[Expression]): InputRelation = ActiveSession.during(session) {
    val chosen = partitions.flatMap(_.files).map(f => tasks(f.path))
    val name = staged.forRead(table, chosen.asJava)
    val splitBytes = ReadSplits.bytes(table, chosen, session.sparkContext.defaultParallelism)
    val read = session.read
      .format("iceberg")
      .option(ReadOption, name)
      .option(SparkReadOptions.SPLIT_SIZE, splitBytes)
      .load(name)
    val relation = read.queryExecution.analyzed.collectFirst { case r: DataSourceV2Relation => r }.get
    // Spark does not find them by name beside the row ids of format version 3
    val file = AttributeReference(MetadataColumns.FILE_PATH.name, StringType, nullable = false)()
    val position = AttributeReference(MetadataColumns.ROW_POSITION.name, LongType, nullable = false)()
    val located = relation.copy(output = relation.output ++ Seq(file, position))
    val route =
      if (partitions.length == 1) Literal(0)
      else NumberOfFile(file, FileNumbers(numbers(partitions)))
    val added = Seq(
      Alias(NumberOfFile(file, FileNumbers(seeds(partitions))), InputRelation.SeedColumn)(),
      Alias(position, InputRelation.PositionColumn)(),
      Alias(route, InputRelation.RouteColumn)())
    val rows = which(file, position).fold[LogicalPlan](located)(Filter(_, located))
    val plan = Shims.ofRows(session, Project(relation.output ++ added, rows)).queryExecution.analyzed
    // format version 3: the ids that rows keep when they are moved
    val own = relation.output.map(_.name).toSet -- table.schema.columns.asScala.map(_.name)
    new InputRelation(plan, relation.output, Place, own)
  }

  /** Only the part number of the file's name, so that the same rows written again give the same sample. */
  private def seeds(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.flatMap(_.files).map(f => f.path -> new Path(f.path).getName.take(5).hashCode).toMap

  private def numbers(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.zipWithIndex.flatMap { case (p, i) => p.files.map(_.path -> i) }.toMap
}

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

/**
 * How large the splits of a run's read are: all cores read, as they do when Spark itself plans files.
 *
 * Iceberg fits its splits to the cores when it plans a scan by itself, but not for staged files: of these it
 * fills splits of 128 MB, so that one core reads a table of that size alone while the others wait.
 */
private[iceberg] object ReadSplits {

  /**
   * Bytes of a split: the table's own limit, or less where that leaves cores without work.
   *
   * @param limit
   *   of the table, `read.split.target-size`
   * @param openCost
   *   of the table, `read.split.open-file-cost`: a file counts as at least so many bytes, and a split has as many
   */
  def bytes(lengths: Seq[Long], cores: Int, limit: Long, openCost: Long): Long = {
    val total = lengths.map(math.max(_, openCost)).sum
    math.min(limit, math.max(math.max(openCost, 1L), total / math.max(cores, 1)))
  }

  def bytes(table: Table, tasks: Seq[FileScanTask], cores: Int): Long = {
    def property(name: String, default: Long) = PropertyUtil.propertyAsLong(table.properties, name, default)
    bytes(
      tasks.map(_.length),
      cores,
      property(TableProperties.SPLIT_SIZE, TableProperties.SPLIT_SIZE_DEFAULT),
      property(TableProperties.SPLIT_OPEN_FILE_COST, TableProperties.SPLIT_OPEN_FILE_COST_DEFAULT))
  }
}

/** A file for itself, in a snapshot or not yet in one. */
private[iceberg] object UncommittedFile {

  /** A task that reads all rows of the file but those that are deleted here, whatever a snapshot deletes of it. */
  def task(table: Table, file: DataFile, deletes: Seq[DeleteFile] = Nil): FileScanTask = new BaseFileScanTask(
    file,
    deletes.toArray,
    SchemaParser.toJson(table.schema),
    PartitionSpecParser.toJson(table.specs.get(file.specId)),
    ResidualEvaluator.unpartitioned(Expressions.alwaysTrue))

  /**
   * A copy of an uncommitted file that has the first row id and the sequence numbers of a committed one, to be read
   * only: without them Iceberg shows none of the row ids that are in the file. The class that has the setters is
   * not public.
   */
  def asCommitted(file: DataFile): DataFile = {
    val copy = file.copy()
    Seq("setFirstRowId", "setDataSequenceNumber", "setFileSequenceNumber").foreach { name =>
      val setter = copy.getClass.getMethod(name, classOf[java.lang.Long])
      setter.setAccessible(true)
      setter.invoke(copy, Long.box(0L))
    }
    copy
  }
}

/**
 * How many rows of data files are deleted by delete files, according to the manifests.
 *
 * @param tasks
 *   all files of a snapshot, each with the delete files that its reader has to open
 */
final private[iceberg] class IcebergDeletes(tasks: Iterable[FileScanTask]) {

  /** The number of rows in the data files that a delete file applies to. There may be millions of such pairs. */
  private val reach: HashMap[(String, Option[Long]), Long] = {
    val rows = HashMap.empty[(String, Option[Long]), Long]
    for (task <- tasks; delete <- IcebergDeletes.of(task)) {
      val key = IcebergChanges.place(delete)
      rows(key) = rows.getOrElse(key, 0L) + task.file.recordCount
    }
    rows
  }

  /**
   * An estimate of the share of a file's rows that is deleted. The entries of a delete file that several data files
   * share are divided by the rows of these files, as if each entry deleted one row.
   */
  def share(task: FileScanTask): Double = {
    val deleted =
      IcebergDeletes.of(task).map(d => d.recordCount.toDouble / math.max(1L, reach(IcebergChanges.place(d))))
    math.min(1.0, deleted.sum)
  }
}

private[iceberg] object IcebergDeletes {

  /** One file can hold position deletes of several data files, and an equality delete can match any number of rows. */
  def rows(task: FileScanTask): Option[Long] = {
    val deletes = task.deletes.asScala
    if (deletes.forall(ContentFileUtil.isDV)) Some(deletes.map(d => d.recordCount: Long).sum) else None
  }

  /** Delete files that are newer than the data file. A rewrite has already left out the rows of older ones. */
  private def of(task: FileScanTask): Seq[DeleteFile] = task.deletes.asScala.toSeq.filter { d =>
    val (data, delete) = (task.file.dataSequenceNumber, d.dataSequenceNumber)
    data == null || delete == null || delete > data
  }
}
