package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.mutable

import org.apache.iceberg.{
  DataFile => IcebergFile,
  DeleteFile,
  FileFormat,
  FileScanTask,
  MetadataColumns,
  Table
}
import org.apache.iceberg.deletes.{BaseDVFileWriter, PositionDeleteIndex}
import org.apache.iceberg.io.OutputFileFactory
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils
import org.apache.spark.util.collection.OpenHashMap

/**
 * The rows of a run's own files that others removed before its commit, marked by deletion vectors, which are committed
 * with the files: no file is written again (format version 3). A row is found by the id that it keeps when it is moved.
 * The ids of all rows that were read and written are read once and stay in memory, so that a vector takes milliseconds.
 *
 * @param inputs
 *   as they were read
 * @param drop
 *   deletes files that no snapshot has
 */
final private[iceberg] class MarkedRows(
    table: Table,
    staged: StagedTasks,
    inputs: Map[String, FileScanTask],
    drop: Iterable[String] => Unit) {
  private var ids = Map.empty[String, Array[Long]]
  private[iceberg] var places: Option[RowPlaces] = None
  private var marks = Map.empty[String, Seq[Long]]
  private var byFile = Map.empty[String, DeleteFile]

  /** How many rows are marked, by the paths of their files. */
  def counts: Map[String, Long] = marks.map { case (path, rows) => path -> rows.length.toLong }

  def vectors: Iterable[DeleteFile] = byFile.values

  /** The vector of a file, if it has one. */
  def of(path: String): Seq[DeleteFile] = byFile.get(path).toSeq

  /** The files that the vectors are in. */
  def files: Set[String] = byFile.values.map(_.location).toSet

  /** These files are none of the run's any more. */
  def forget(paths: Iterable[String]): Unit = {
    val before = files
    marks --= paths
    byFile --= paths
    drop(before -- files)
  }

  /**
   * Reads the ids, if that was not done yet.
   *
   * @param from
   *   paths of the inputs
   * @param written
   *   the run's files
   * @return
   *   whether that took some time
   */
  def read(session: ClassicSession, from: Seq[String], written: Map[String, FileScanTask]): Boolean = {
    val rows = (from.map(inputs) ++ written.values).map(_.file.recordCount: Long).sum
    val isNeeded = rows <= MarkedRows.MostRows && !places.exists(_.files == written.keySet)
    if (isNeeded) {
      val more = from.filterNot(ids.contains)
      if (more.nonEmpty) ids ++= RowIds.read(session, table, staged, more.map(inputs))
      places = Some(RowPlaces(RowIds.read(session, table, staged, written.values.toSeq)))
    }
    isNeeded
  }

  /**
   * Marks rows, or does nothing: if a row is not found exactly once, or if so many are marked that the files should
   * rather be written again.
   *
   * @param removed
   *   positions in inputs, by their paths, of rows that are not marked yet
   */
  def mark(written: Map[String, IcebergFile], removed: Map[String, Seq[Long]]): Boolean = {
    def count(rows: Map[String, Seq[Long]]): Long = rows.values.map(_.length.toLong).sum
    val most = (MarkedRows.MostMarked * written.values.map(_.recordCount: Long).sum).toLong
    // counted before each of them is looked for: those of a large DELETE would fill the driver
    places.exists(_.files == written.keySet) && count(removed) + count(marks) <= most &&
    markEach(written, removed)
  }

  private def markEach(written: Map[String, IcebergFile], removed: Map[String, Seq[Long]]): Boolean = {
    val wanted = for ((path, positions) <- removed.toSeq; p <- positions) yield (path, p)
    val found = wanted.flatMap { case (path, p) =>
      for (of <- ids.get(path); known <- places; place <- known.of(of(p.toInt))) yield place
    }
    val all = (marks.toSeq.flatMap { case (path, rows) => rows.map((path, _)) } ++ found).distinct
    val isPossible = found.length == wanted.length &&
      all.length == marks.values.map(_.length).sum + wanted.length
    if (isPossible) {
      val before = files
      val more = found.map(_._1).toSet
      marks = all.groupBy(_._1).map { case (path, rows) => path -> rows.map(_._2) }
      marks.filter(m => more(m._1)).foreach { case (path, rows) =>
        byFile += path -> vector(written(path), rows)
      }
      CrashPoint.hit("rebase-marked")
      drop(before -- files)
    }
    isPossible
  }

  /** In a file of its own: Iceberg's clean-up deletes a file when one of the vectors in it is replaced. */
  private def vector(file: IcebergFile, rows: Seq[Long]): DeleteFile = {
    val files = OutputFileFactory.builderFor(table, 0, 0L).format(FileFormat.PUFFIN).suffix("deletes").build()
    val writer = new BaseDVFileWriter(files, (_: String) => null.asInstanceOf[PositionDeleteIndex])
    try rows.foreach(writer.delete(file.location, _, table.specs.get(file.specId), file.partition))
    finally writer.close()
    writer.result.deleteFiles.get(0)
  }
}

private[iceberg] object MarkedRows {

  /** Rows read and written of which the driver keeps the ids, at some 30 bytes each, more while it reads them. */
  private val MostRows = math.min(Runtime.getRuntime.maxMemory / 512, 8L << 20)

  /** Of the rows written: files with more deleted rows are written again by any run, as `deletedShare` has it. */
  private val MostMarked = 0.05
}

/** The ids of rows, of format version 3. */
private object RowIds {

  /** What no row has. */
  val Unknown: Long = -1L

  /** Of each file, by the positions of its rows; [[Unknown]] where a row has none or was not read. One job. */
  def read(
      session: ClassicSession,
      table: Table,
      staged: StagedTasks,
      tasks: Seq[FileScanTask]): Map[String, Array[Long]] = {
    val paths = tasks.map(_.file.location).toIndexedSeq
    val all = tasks.map(t => Array.fill(t.file.recordCount.toInt)(Unknown)).toIndexedSeq
    // the route of a row is the number of its file
    val each = paths.map(path => PinnedPartition(path, Seq(DataFile(path, 0L, 0L, path))))
    val rows = IcebergRows(session, table, staged, each, paths.zip(tasks).toMap)
    val found = for {
      id <- rows.output.find(_.name == MetadataColumns.ROW_ID.name)
      position <- rows.plan.output.find(_.name == InputRelation.PositionColumn)
    } yield collected(session, Project(Seq(rows.route, position, id), rows.plan))
    for ((files, positions, ids) <- found.getOrElse(Nil); i <- files.indices)
      all(files(i))(positions(i).toInt) = ids(i)
    paths.zip(all).toMap
  }

  /** @param rows three columns: the number of the file, the position, the id */
  private def collected(
      session: ClassicSession,
      rows: Project): Seq[(Array[Int], Array[Long], Array[Long])] =
    Shims.ofRows(session, rows).queryExecution.toRdd.mapPartitions { part =>
      val (files, positions, ids) =
        (mutable.ArrayBuilder.make[Int], mutable.ArrayBuilder.make[Long], mutable.ArrayBuilder.make[Long])
      part.foreach { r =>
        files += r.getInt(0)
        positions += r.getLong(1)
        ids += (if (r.isNullAt(2)) Unknown else r.getLong(2))
      }
      // bytes of our own, so that a session's own serializer need not know our classes
      Iterator(Utils.serialize((files.result(), positions.result(), ids.result())))
    }.collect().toSeq.map(Utils.deserialize[(Array[Int], Array[Long], Array[Long])](_))
}

/** Where rows are, by their ids. */
final private[iceberg] class RowPlaces private (
    paths: IndexedSeq[String],
    byId: OpenHashMap[Long, Long]) {
  val files: Set[String] = paths.toSet

  /** The file of the row and its position there; None if no row or several have this id. */
  def of(id: Long): Option[(String, Long)] = {
    val place = if (byId.contains(id)) byId(id) else RowPlaces.Nowhere
    if (place == RowPlaces.Nowhere) None else Some((paths((place >>> 32).toInt), place & 0xffffffffL))
  }
}

private[iceberg] object RowPlaces {
  private val Nowhere = -1L

  /** @param ids of each file, by the positions of its rows */
  def apply(ids: Map[String, Array[Long]]): RowPlaces = {
    val paths = ids.keys.toIndexedSeq
    val byId = new OpenHashMap[Long, Long]
    for (file <- paths.indices; of = ids(paths(file)); position <- of.indices) {
      val id = of(position)
      if (id != RowIds.Unknown) byId(id) = if (byId.contains(id)) Nowhere else file.toLong << 32 | position
    }
    new RowPlaces(paths, byId)
  }
}
