package org.apache.spark.sql.zorder.skipping.scan

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.table.FormatDescriptor
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.storage.Cancellation

/**
 * What a table format with statistics of its own contributes to skipping. It plans a list of files for each
 * scan; we leave out more of them, by filters that it does not use. What the filters mean, which files they
 * need, what is counted and what EXPLAIN says is the same for all formats ([[NarrowedList]]).
 *
 * A format of Spark's file source overrides [[planned]] and [[fileIndex]], one of DataSource V2 the others.
 * The adapter is compiled against one version of the format; where the user's differs, nothing is narrowed.
 */
trait PlannedFormat {

  /**
   * The plan in which the format has planned its scans, so that the order of extensions does not matter.
   *
   * @param index
   *   one of its class that the plan has
   */
  def planned(session: SparkSession, plan: LogicalPlan, index: FileIndex): LogicalPlan = plan

  /** The file index of a scan, made one that narrows; None for a scan that must stay as it is. */
  def fileIndex(session: SparkSession, scan: LogicalRelation, r: HadoopFsRelation): Option[PruningFileIndex] =
    None

  /** The scan that a rule may mark: a `DataSourceV2Relation`, or a `DataSourceV2ScanRelation` later on. */
  def scan(leaf: LeafNode): Option[PruningScan] = None

  /**
   * The scan with fewer files.
   *
   * @param filters
   *   above the scan, all of them
   * @return
   *   None where no file is left out
   */
  def narrowed(relation: DataSourceV2ScanRelation, filters: Seq[Expression]): Option[Scan] = None

  /**
   * For EXPLAIN: what a scan of a physical plan reads, narrowed or not. Nothing is planned anew.
   *
   * @return
   *   None for a scan that is never narrowed, whatever the filters
   */
  def explained(scan: Scan): Option[NarrowedCounts] = None

  /**
   * For EXPLAIN: the files of the snapshot that an index of a class of the format's reads, narrowed or not.
   */
  def files(index: FileIndex): Option[Long] = None
}

/** The file index of a format of Spark's file source, with the list that we narrow. */
trait NarrowedFileIndex extends PruningFileIndex {

  /** The name of the format. */
  def format: String

  /** The number of files of the snapshot. */
  def files: Long

  /** What narrows the files that the format plans. */
  def list: NarrowedList

  /**
   * The files that the format itself plans for these filters, before we leave out any.
   *
   * @return
   *   path, length and modification time as in [[FileBounds]], by which [[list]] finds their bounds
   */
  def planned(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[DataFile]
}

/**
 * What became of a scan of DataSource V2.
 *
 * @param planned
 *   files that the format itself has planned
 * @param kept
 *   those that the scan reads
 * @param by
 *   the filters that the others were left out by, as text; empty if nothing was narrowed
 * @param files
 *   of the snapshot; None where it does not say
 */
final case class NarrowedCounts(planned: Long, kept: Long, by: Seq[String], files: Option[Long] = None)

/**
 * The adapters, found by the class names of what a scan carries. The classes of a format are touched only
 * when a query has such a scan. An adapter that does not fit the user's version of the format is asked once
 * and then no more.
 */
object ScansOfFormats extends Logging {
  private val loaded = new ConcurrentHashMap[FormatDescriptor, Option[PlannedFormat]]()
  private val failed = ConcurrentHashMap.newKeySet[FormatDescriptor]()

  /** See [[PlannedFormat.planned]]; None for a plan without relations of files whose list may be narrowed. */
  def planned(session: SparkSession, plan: LogicalPlan): Option[LogicalPlan] = {
    val indexes = plan.collectWithSubqueries { case l: LogicalRelation => l.relation }.collect {
      case r: HadoopFsRelation if carriedBy(r.location).isDefined => r.location
    }
    if (indexes.isEmpty) None
    else Some(indexes.groupBy(_.getClass).values.map(_.head).foldLeft(plan) { (p, index) =>
      asked(index)(format => Some(format.planned(session, p, index))).getOrElse(p)
    })
  }

  /** See [[PlannedFormat.fileIndex]]. */
  def fileIndex(session: SparkSession, scan: LogicalRelation, r: HadoopFsRelation): Option[PruningFileIndex] =
    asked(r.location)(_.fileIndex(session, scan, r))

  /** See [[PlannedFormat.scan]]. */
  def scan(leaf: LeafNode): Option[PruningScan] = leaf match {
    case r: DataSourceV2Relation => asked(r.table)(_.scan(r))
    case r: DataSourceV2ScanRelation => asked(r.scan)(_.scan(r))
    case _ => None
  }

  /** See [[PlannedFormat.narrowed]]. */
  def narrowed(relation: DataSourceV2ScanRelation, filters: Seq[Expression]): Option[Scan] =
    asked(relation.scan)(_.narrowed(relation, filters))

  /** See [[PlannedFormat.explained]]. */
  def explained(scan: Scan): Option[NarrowedCounts] = asked(scan)(_.explained(scan))

  /** See [[PlannedFormat.files]]. */
  def files(index: FileIndex): Option[Long] = asked(index)(_.files(index))

  /** The format that carries a scan in this class, if it is one whose list may be narrowed. */
  private[zorder] def carriedBy(carrier: AnyRef): Option[FormatDescriptor] =
    FormatDescriptor.all.find(_.plannedScans.exists(_.carriers(carrier.getClass.getName)))

  /** A query must not fail for what was meant to make it faster. */
  private def asked[A](carrier: AnyRef)(ask: PlannedFormat => Option[A]): Option[A] =
    carriedBy(carrier)
      .filterNot(failed.contains)
      .flatMap { descriptor =>
        try adapter(descriptor).flatMap(ask)
        catch {
          case e @ (NonFatal(_) | _: LinkageError) if !Cancellation.ofJob(e) =>
            if (e.isInstanceOf[LinkageError] || e.isInstanceOf[ReflectiveOperationException])
              failed.add(descriptor)
            logWarning(
              s"No files of a scan are left out: the statistics of ${descriptor.name} cannot be used",
              e)
            None
        }
      }

  private def adapter(descriptor: FormatDescriptor): Option[PlannedFormat] = loaded.computeIfAbsent(
    descriptor,
    d =>
      d.plannedScans.flatMap { planned =>
        // missing in the jars of Spark lines that the format has no release for
        try Some(Class.forName(s"${getClass.getPackage.getName}.${planned.adapter}")
            .getDeclaredConstructor().newInstance().asInstanceOf[PlannedFormat])
        catch { case _: ClassNotFoundException => None }
      }
  )
}

/**
 * Narrows scans of DataSource V2 when they are planned, and leaves the rest to Spark's own strategy. This is
 * the first place where a scan has all of its filters, and the last before its tasks are asked for. Adaptive
 * execution comes here again with the filters that it has added.
 *
 * The logical plan keeps the whole scan: adaptive execution finds the nodes of a running stage by identity,
 * and plans the same scan with other filters later.
 */
object PlannedScanStrategy extends SparkStrategy {

  /**
   * What a scan's format has answered.
   *
   * @param filters
   *   canonical: adaptive execution asks the same again after every stage
   */
  final private case class Answer(filters: Seq[Expression], scan: Option[Scan])

  /** On the relation of the logical plan. */
  private val Answered = TreeNodeTag[Answer]("spark_zorder_narrowed_scan")

  /** On the relation that has the narrowed scan: Spark plans it, and we are not asked again. */
  private val Done = TreeNodeTag[Boolean]("spark_zorder_narrowed")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PhysicalOperation(_, filters, r: DataSourceV2ScanRelation)
        if r.getTagValue(Done).isEmpty && ScansOfFormats.carriedBy(r.scan).isDefined &&
          SessionKeys.SkippingEnabled.orDefault(plan.conf) =>
      narrowed(r, filters).toSeq.map { scan =>
        val fewer = r.copy(scan = scan)
        fewer.setTagValue(Done, true)
        // filters and projections as they are: Spark puts them together again
        planLater(plan.transform { case whole: DataSourceV2ScanRelation if whole eq r => fewer })
      }
    case _ => Nil
  }

  private def narrowed(r: DataSourceV2ScanRelation, filters: Seq[Expression]): Option[Scan] = {
    val canonical = filters.map(_.canonicalized)
    r.getTagValue(Answered).filter(_.filters == canonical).getOrElse {
      val answer = Answer(canonical, ScansOfFormats.narrowed(r, filters))
      r.setTagValue(Answered, answer)
      answer
    }.scan
  }
}
