package org.apache.spark.sql.zorder.skipping.scan.iceberg

import java.lang.reflect.{AccessibleObject, Constructor, Field, InvocationTargetException, Method}
import java.util.{List => JList}

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import org.apache.iceberg.{BaseTable, BatchScan, FileScanTask, ScanTask, Schema, Snapshot, Table}
import org.apache.iceberg.expressions.{Expression => IcebergExpression, Expressions, UnboundPredicate}
import org.apache.iceberg.types.Types
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.zorder.skipping.scan.NarrowedCounts

/**
 * The class of the scans that queries make, which is Iceberg's own. It has one shape on Spark 3.5 and 4.0 and
 * another on 4.1. With any other shape, no list is narrowed.
 *
 * @throws java.lang.ReflectiveOperationException
 *   where Iceberg has another shape
 */
final private class QueryScanClass(loader: ClassLoader) {
  private val declared = Class.forName("org.apache.iceberg.spark.source.SparkBatchQueryScan", false, loader)
  private val parents: List[Class[_]] =
    Iterator.iterate[Class[_]](declared)(_.getSuperclass).takeWhile(_ != null).toList

  private val constructor: Constructor[_] = declared.getDeclaredConstructors.toList match {
    case List(only) => open[Constructor[_]](only)
    case other => throw new NoSuchMethodException(s"$declared has ${other.length} constructors")
  }

  /** Whether the scan knows the snapshot that it reads. */
  private val isPinned = constructor.getParameterCount == 10

  private val projectionField = if (isPinned) "projection" else "expectedSchema"

  /** What the constructor wants, by the names of the fields that it was put into. */
  private val parts: Seq[Field] = {
    val pinned = if (isPinned) Seq("schema", "snapshot", "branch") else Nil
    val pushed = if (isPinned) "filters" else "filterExpressions"
    val names = Seq("spark", "table") ++ pinned ++ Seq("scan", "readConf", projectionField, pushed)
    (names :+ "scanReportSupplier").map(field)
  }
  if (parts.map(_.getType).toList != constructor.getParameterTypes.toList)
    throw new NoSuchMethodException(s"$declared is made of ${constructor.getParameterTypes.mkString(", ")}")

  private val table = field("table")
  private val planning = field("scan")
  private val projection = field(projectionField)
  private val filters = field(if (isPinned) "runtimeFilters" else "runtimeFilterExpressions")
  private val tasks = method("tasks")
  private val groups = method("groupingKeyType")
  private val reset = method("resetTasks", classOf[JList[_]])

  def tableOf(scan: Scan): Table = table.get(scan).asInstanceOf[Table]

  def planningOf(scan: Scan): AnyRef = planning.get(scan)

  def projectionOf(scan: Scan): Schema = projection.get(scan).asInstanceOf[Schema]

  def runtimeFiltersOf(scan: Scan): JList[IcebergExpression] =
    filters.get(scan).asInstanceOf[JList[IcebergExpression]]

  def groupedBy(scan: Scan): Types.StructType =
    called(groups.invoke(scan)).asInstanceOf[Types.StructType]

  def tasksOf(scan: Scan): JList[ScanTask] = called(tasks.invoke(scan)).asInstanceOf[JList[ScanTask]]

  /** A copy of a scan that reads these tasks, as Iceberg itself leaves out tasks at run time. */
  def copy(scan: Scan, tasks: JList[_ <: ScanTask]): Scan = {
    val made = called[Any](constructor.newInstance(parts.map(_.get(scan)): _*)).asInstanceOf[Scan]
    val _ = called(reset.invoke(made, tasks))
    made
  }

  private def field(name: String): Field =
    parents.flatMap(_.getDeclaredFields.toSeq).find(_.getName == name).map(f => open(f))
      .getOrElse(throw new NoSuchFieldException(s"$declared.$name"))

  private def method(name: String, parameters: Class[_]*): Method =
    parents.flatMap(_.getDeclaredMethods.toSeq)
      .find(m => m.getName == name && m.getParameterTypes.toList == parameters.toList).map(m => open(m))
      .getOrElse(throw new NoSuchMethodException(s"$declared.$name"))

  private def open[A <: AccessibleObject](member: A): A = {
    member.setAccessible(true)
    member
  }

  /** What Iceberg throws is an error of this one scan, and says nothing of the shape of its class. */
  private def called[A](call: => A): A =
    try call
    catch { case e: InvocationTargetException => throw e.getCause }
}

/** A scan of Iceberg's that a query makes. */
final private class QueryScan(shape: QueryScanClass, val scan: Scan) {

  def table: Table = shape.tableOf(scan)

  /** Whether it is of a table, and not of what Iceberg tells of one; an empty table plans nothing. */
  def isTable: Boolean = table.isInstanceOf[BaseTable] && planning != null

  /** What plans the files. */
  def planning: AnyRef = shape.planningOf(scan)

  /** The snapshot that is read; None for what was appended between two of them, and for an empty table. */
  def snapshot: Option[Snapshot] = planning match {
    case batch: BatchScan => Option(batch.snapshot)
    case _ => None
  }

  def projection: Schema = shape.projectionOf(scan)

  def isGrouped: Boolean = !shape.groupedBy(scan).fields.isEmpty

  def runtimeFilters: Seq[IcebergExpression] = shape.runtimeFiltersOf(scan).asScala.toList

  /** Planned once for a scan. */
  def tasks: JList[ScanTask] = shape.tasksOf(scan)

  /**
   * The scan with fewer tasks.
   *
   * @param filters
   *   added to those of run time: Iceberg compares scans by the text of these, and not by their tasks
   */
  def reading(tasks: Seq[FileScanTask], filters: Seq[IcebergExpression]): Scan = {
    // Iceberg may filter the list again
    val made = shape.copy(scan, new java.util.ArrayList[ScanTask](tasks.asJava))
    filters.foreach(shape.runtimeFiltersOf(made).add(_))
    made
  }
}

/**
 * What has become of a scan's files, written as filters that name no column: Iceberg compares and prints
 * them, and evaluates none.
 *
 * @param planned
 *   the number of files that Iceberg has planned
 * @param kept
 *   the paths of those that are left
 * @param by
 *   the filters that the others were left out by, as [[Narrowing.text]] has them
 */
final private case class Narrowing(planned: Int, kept: Seq[String], by: Seq[String]) {

  def filters: Seq[IcebergExpression] = {
    val which = MurmurHash3.unorderedHash(kept).toHexString
    val files = Expressions.equal[String](Narrowing.Files, s"${kept.length} of $planned, $which")
    files +: by.map(f => Expressions.equal[String](Narrowing.By, f))
  }
}

private object Narrowing {
  private val Files = "spark_zorder_files"
  private val By = "spark_zorder_by"
  private val Counts = "(\\d+) of (\\d+), .*".r

  /** Long lists of values are cut. */
  private val Longest = 200

  /** What was written; None for a scan that is whole. */
  def in(filters: Seq[IcebergExpression]): Option[NarrowedCounts] = {
    val written = filters.collect {
      case p: UnboundPredicate[_] if p.op == IcebergExpression.Operation.EQ =>
        p.ref.name -> String.valueOf(p.literal.value)
    }
    written.collectFirst { case (Files, Counts(kept, planned)) =>
      NarrowedCounts(planned.toLong, kept.toLong, written.collect { case (By, text) => text })
    }
  }

  /** Without the numbers of columns, which differ in scans that are equal. */
  def text(filter: Expression): String = {
    val whole = filter.toString.replaceAll("#\\d+L?", "")
    if (whole.length <= Longest) whole else s"${whole.take(Longest)}..."
  }
}
