package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{DeleteFile, FileContent, FileScanTask, Snapshot, Table}
import org.apache.iceberg.data.BaseDeleteLoader
import org.apache.iceberg.deletes.PositionDeleteIndex
import org.apache.iceberg.util.SnapshotUtil
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * What others have removed of files since they were read: whole files, or rows by their positions. Equality deletes
 * that came later need nothing, since they apply to the rewritten rows too; they are left out of all tasks here.
 */
final private[iceberg] class IcebergChanges(table: Table, branch: Option[String]) {
  private val operations = IcebergRefusals.operations(table)
  private val shapeBefore = shape()

  /** The table's own when it was opened: which columns the names in files without ids stand for. */
  val nameMapping: Option[String] = IcebergColumns.mappingText(operations.current.properties)

  /** Whether rows have ids that they keep when they are moved. */
  def hasRowIds: Boolean = operations.current.formatVersion >= IcebergChanges.WithRowIds

  /** Whether files are read, written and placed as when the table was opened. */
  def isOfBefore: Boolean = shape() == shapeBefore

  /** The newest snapshot, if nothing but rows has changed since `before`. */
  def since(before: Snapshot): Option[Snapshot] = {
    table.refresh()
    Snapshots.head(table, branch).filter { now =>
      isOfBefore &&
      SnapshotUtil.isAncestorOf(now.snapshotId, before.snapshotId, table.snapshot(_))
    }
  }

  /** All that says how files are read, written and placed. */
  private def shape(): Seq[Any] = {
    val now = operations.current
    Seq(
      now.uuid,
      now.location,
      now.formatVersion,
      now.schema.schemaId,
      now.schema.asStruct,
      now.spec.specId,
      now.sortOrder.orderId,
      IcebergColumns.mappingText(now.properties))
  }

  /** The tasks of those of these files that the snapshot has; None if it has one of them more than once. */
  def tasks(snapshot: Snapshot, wanted: Set[String]): Option[Map[String, FileScanTask]] = {
    val found = Snapshots.tasks(table, snapshot)(_.ignoreResiduals())
      .filter(t => wanted(t.file.location)).map(t => t.file.location -> t)
    Some(found.toMap).filter(_.size == found.length)
  }

  /**
   * What has become of a file; None if that cannot be told, or if rows came back.
   *
   * @param before
   *   as it was read
   * @param now
   *   as the snapshot has it
   */
  def of(before: FileScanTask, now: Option[FileScanTask]): Option[FileChange] = now match {
    case None => Some(FileChange(None, Removed.All))
    case Some(task) if !isSame(before, task) => None
    case Some(task) =>
      val positional = task.deletes.asScala.filter(IcebergChanges.isPositional).toSeq
      val equality = before.deletes.asScala.filterNot(IcebergChanges.isPositional).toSeq
      val left = Some(UncommittedFile.task(table, task.file, positional ++ equality))
      val positionalBefore = before.deletes.asScala.filter(IcebergChanges.isPositional).toSeq
      if (positional.map(IcebergChanges.place).toSet == positionalBefore.map(IcebergChanges.place).toSet)
        Some(FileChange(left, Removed.None))
      else {
        val deleted = index(positional, task)
        val deletedBefore = index(positionalBefore, task)
        if (!positions(deletedBefore).forall(deleted.isDeleted)) None
        else Some(FileChange(left, Removed.at(positions(deleted).filterNot(deletedBefore.isDeleted))))
      }
  }

  /** Nothing but deletes of positions has come to the file; equality deletes may have come, but none has gone. */
  private def isSame(before: FileScanTask, now: FileScanTask): Boolean = {
    def equality(task: FileScanTask) =
      task.deletes.asScala.filterNot(IcebergChanges.isPositional).map(IcebergChanges.place).toSet
    before.file.fileSizeInBytes == now.file.fileSizeInBytes &&
    before.file.dataSequenceNumber == now.file.dataSequenceNumber &&
    before.file.firstRowId == now.file.firstRowId &&
    before.file.specId == now.file.specId &&
    equality(before).subsetOf(equality(now))
  }

  private def index(deletes: Seq[DeleteFile], task: FileScanTask): PositionDeleteIndex =
    if (deletes.isEmpty) PositionDeleteIndex.empty()
    else
      new BaseDeleteLoader((d: DeleteFile) => table.io.newInputFile(d))
        .loadPositionDeletes(deletes.asJava, task.file.location)

  private def positions(index: PositionDeleteIndex): Array[Long] = {
    val found = Array.newBuilder[Long]
    if (index.isNotEmpty) index.forEach((p: Long) => { found += p; () })
    found.result()
  }
}

private[iceberg] object IcebergChanges {

  /** The first format version that tracks rows. */
  private val WithRowIds = 3

  /**
   * Removed rows whose positions the driver keeps: 8 bytes each, which it has several times while it sends them to
   * the tasks that look for these rows.
   */
  private val MostRemoved = math.min(Runtime.getRuntime.maxMemory / 512, 8L << 20)

  /** Whether the driver can keep the positions of rows that were removed, by the manifests alone. */
  def areFew(before: Iterable[FileScanTask], now: Iterable[FileScanTask]): Boolean =
    named(now) - named(before) <= MostRemoved

  /** How many positions deletes name. Those of a delete file of several data files all count. */
  private[iceberg] def named(tasks: Iterable[FileScanTask]): Long =
    tasks.flatMap(_.deletes.asScala).filter(isPositional)
      .map(d => place(d) -> (d.recordCount: Long)).toMap.values.sum

  def isPositional(delete: DeleteFile): Boolean = delete.content == FileContent.POSITION_DELETES

  /** Which delete it is: one file holds the deletion vectors of many data files. */
  private[iceberg] def place(delete: DeleteFile): (String, Option[Long]) =
    (delete.location, Option(delete.contentOffset).map(o => o: Long))
}

/**
 * What has become of a file.
 *
 * @param left
 *   the rows of it that the table still has, but for later equality deletes; None without the file
 */
final private[iceberg] case class FileChange(left: Option[FileScanTask], removed: Removed)

/** What has become of some files, by their paths, in the snapshot `now`. */
final private[iceberg] case class ChangedFiles(now: Snapshot, files: Map[String, FileChange]) {

  /** The files that the snapshot still has. */
  val left: Map[String, FileScanTask] =
    files.collect { case (path, FileChange(Some(task), _)) => path -> task }

  /** The files that have lost rows. */
  val lost: Map[String, Removed] =
    files.collect { case (path, FileChange(_, removed)) if removed != Removed.None => path -> removed }

  /** The positions of all rows that were removed; None if one of the files is gone. */
  def removedAt: Option[Map[String, Seq[Long]]] = {
    val positions = lost.collect { case (path, Removed.At(sorted)) => path -> sorted.toSeq }
    if (positions.size == lost.size) Some(positions) else None
  }
}

/** Which rows of a file were removed. */
sealed private[iceberg] trait Removed extends Serializable {
  def has(position: Long): Boolean
}

private[iceberg] object Removed {

  case object All extends Removed {
    override def has(position: Long): Boolean = true
  }

  case object None extends Removed {
    override def has(position: Long): Boolean = false
  }

  final private[iceberg] case class At(sorted: Array[Long]) extends Removed {
    override def has(position: Long): Boolean = java.util.Arrays.binarySearch(sorted, position) >= 0
    override def toString: String = s"${sorted.length} rows"
  }

  /** @param positions which are sorted in place */
  def at(positions: Array[Long]): Removed =
    if (positions.isEmpty) None
    else {
      java.util.Arrays.sort(positions)
      At(positions)
    }
}

/**
 * Whether a row was removed from its file: BOOLEAN, never NULL.
 *
 * @param left
 *   the number of the file, an INT
 * @param right
 *   the position of the row in it, a LONG
 */
final private[iceberg] case class WasRemoved(left: Expression, right: Expression, files: IndexedSeq[Removed])
    extends BinaryExpression {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def prettyName: String = "was_removed"

  override def eval(row: InternalRow): Any =
    files(left.eval(row).asInstanceOf[Int]).has(right.eval(row).asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val all = ctx.addReferenceObj("removed", files.toArray, s"${classOf[Removed].getName}[]")
    val (file, position) = (left.genCode(ctx), right.genCode(ctx))
    ev.copy(
      code = code"""
        |${file.code}
        |${position.code}
        |boolean ${ev.value} = $all[${file.value}].has(${position.value});""".stripMargin,
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): Expression =
    copy(left = newLeft, right = newRight)
}
