package org.apache.spark.sql.zorder.skipping.scan

import java.util.BitSet

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  AttributeSet,
  DynamicPruning,
  Expression,
  FileSourceMetadataAttribute,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.{
  FileIndex,
  FileStatusWithMetadata,
  HadoopFsRelation,
  LogicalRelation,
  PartitionDirectory
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skipping.filter.{FilesThatMayMatch, FilesThatReachTop}
import org.apache.spark.sql.zorder.skipping.index.{FileKeys, NoEntry, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.marker.{JoinKeys, TopRows}
import org.apache.spark.sql.zorder.skipping.predicate.FilterColumn

/**
 * A table's own file index, whose files are left out of a scan where the statistics index says that no row of theirs
 * can match. Listing stays the wrapped index's work, and files are dropped only here, by the filters that the scan
 * really carries: later rules of the optimizer may join scans that have different filters.
 *
 * Two of them are equal where those that they wrap are, so that exchanges are reused as before.
 *
 * @param root
 *   of the table: the paths of entries are relative to it
 * @param unanswered
 *   top-level columns, by the names that the scan gives them, whose filters the index must not answer
 */
final class SkippingFileIndex(
    val wrapped: FileIndex,
    val root: Path,
    val index: StatisticsIndex,
    unanswered: Set[String])
    extends FileIndex {

  private val keys = new FileKeys(root)

  /** Adaptive execution plans a scan again and again. */
  @volatile private var last: Option[(Seq[Expression], BitSet)] = None

  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val listed = wrapped.listFiles(partitionFilters, dataFilters)
    if (dataFilters.isEmpty) listed
    else {
      val started = System.nanoTime()
      val found = reachingTop(dataFilters, listed, matching(dataFilters.map(meant)))
      val entries = listed.map(_.files.map(entryOf))
      // a file without an entry of its own is always read
      val kept = listed.zip(entries).map { case (d, of) =>
        d.copy(files = d.files.zip(of).collect { case (file, entry) if entry.forall(found.get(_)) => file })
      }
      val considered = entries.map(_.length.toLong).sum
      SkippingUsage.scanned(
        root,
        columns(dataFilters),
        SkippedCounts(
          considered,
          pruned = considered - kept.map(_.files.length.toLong).sum,
          unknown = entries.map(_.count(_.isLeft).toLong).sum,
          nanos = System.nanoTime() - started))
      kept.filter(_.files.nonEmpty)
    }
  }

  private def matching(filters: Seq[Expression]): BitSet = {
    val canonical = filters.map(_.canonicalized)
    last.collect { case (same, found) if same == canonical => found }.getOrElse {
      val found = new FilesThatMayMatch(index, isUnanswered)(filters)
      last = Some(canonical -> found)
      found
    }
  }

  /** The columns of the index that the expressions name. */
  private[skipping] def columns(expressions: Seq[Expression]): Seq[String] = {
    val stored =
      expressions.flatMap(ColumnPath.within).distinct.flatMap(p => index.numberOf(ColumnPath.sql(p)))
    val computed = expressions.flatMap(_.collect { case e if !e.foldable => index.numberOf(e) }.flatten)
    (stored ++ computed).distinct.map(index.columns(_).sql)
  }

  /** What a filter tells the index, though it tells rows nothing. */
  private def meant(filter: Expression): Expression = filter match {
    case k: JoinKeys if k.holds => k.implied
    case other => other
  }

  /** The files of `matching` that a query for the first rows needs. */
  private def reachingTop(
      filters: Seq[Expression],
      listed: Seq[PartitionDirectory],
      matching: BitSet): BitSet = {
    val tops = filters.collect { case t: TopRows if t.holds => t }
    if (tops.isEmpty) matching
    else {
      val entries = new BitSet(index.files.count)
      listed.foreach(_.files.foreach(f => entryOf(f).foreach(n => entries.set(n))))
      val needed = matching.clone().asInstanceOf[BitSet]
      tops.foreach(t => needed.and(new FilesThatReachTop(index, isUnanswered)(t, entries)))
      needed
    }
  }

  /** Whether the index knows anything of the scan's column. */
  private[skipping] def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && FilterColumn.of(column).exists(c => index.rangesOf(c.sql, c.dataType).isDefined)

  /** Whether a filter is false in all of some file. */
  private[skipping] def leavesOut(filter: Expression): Boolean =
    new FilesThatMayMatch(index, isUnanswered)(Seq(filter)).cardinality < index.files.count

  /** The number of the entry of that very file. */
  private[skipping] def entryOf(f: FileStatusWithMetadata): Either[NoEntry, Int] =
    index.files.find(keys.of(f.getPath), f.getLen, f.getModificationTime)

  /** A column that is not what the index has under its name. */
  private[zorder] def isUnanswered(e: Expression): Boolean = e match {
    case FileSourceMetadataAttribute(_) => true
    case a: Attribute => unanswered(a.name)
    case _ => false
  }

  override def rootPaths: Seq[Path] = wrapped.rootPaths
  override def inputFiles: Array[String] = wrapped.inputFiles
  override def refresh(): Unit = wrapped.refresh()
  override def sizeInBytes: Long = wrapped.sizeInBytes
  override def partitionSchema: StructType = wrapped.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = wrapped.metadataOpsTimeNs

  override def equals(that: Any): Boolean = that match {
    case s: SkippingFileIndex => wrapped == s.wrapped
    case _ => false
  }
  override def hashCode(): Int = wrapped.hashCode()
  override def toString: String = s"$wrapped, files skipped by the statistics index of $root"
}

/**
 * A scan whose files may be left out: what the rules of the index that look for scans find.
 *
 * The names of its columns are those of the relation. A statement may spell them in another case, and Spark puts that
 * right only when it plans the scan: until then a rule asks with what [[named]] gives.
 */
final class IndexedScan private (
    val relation: LogicalRelation,
    val files: HadoopFsRelation,
    val index: SkippingFileIndex) {

  /** The expression with the names that the scan gives its columns. */
  def named(e: Expression): Expression = ColumnPath.asDeclared(e, relation.output)

  /** Whether a file that is listed is also read, or the query fails: only then may rows be counted on. */
  def readsAllListed: Boolean = {
    val options = new FileSourceOptions(files.options)
    files.bucketSpec.isEmpty && !options.ignoreMissingFiles && !options.ignoreCorruptFiles
  }

  /** The columns whose values are those of directories. */
  def partitionColumns: AttributeSet = {
    val same = relation.conf.resolver
    AttributeSet(relation.output.filter(a => files.partitionSchema.fieldNames.exists(same(_, a.name))))
  }
}

object IndexedScan {
  def unapply(plan: LogicalPlan): Option[IndexedScan] =
    plan match {
      case l: LogicalRelation => l.relation match {
          case r: HadoopFsRelation => r.location match {
              case s: SkippingFileIndex => Some(new IndexedScan(l, r, s))
              case _ => None
            }
          case _ => None
        }
      case _ => None
    }

  def is(plan: LogicalPlan): Boolean = unapply(plan).isDefined

  /** All indexed scans of a plan. */
  def all(plan: LogicalPlan): Seq[IndexedScan] = plan.collect { case IndexedScan(scan) => scan }
}

/** What the rules that walk down to a scan have in common. */
object PlanParts {

  /** What the columns that a projection computes or renames stand for. */
  def meanings(p: Project): AttributeMap[Expression] =
    AttributeMap(p.projectList.collect { case a: Alias => a.toAttribute -> a.child })

  /** Whether a scan applies the condition as it stands. */
  def settled(condition: Expression): Boolean = condition.deterministic && !condition.exists {
    case _: SubqueryExpression | _: DynamicPruning => true
    case _ => false
  }

  /** The plan with its only child changed. */
  def below(plan: LogicalPlan)(change: LogicalPlan => Option[LogicalPlan]): Option[LogicalPlan] =
    change(plan.children.head).map(c => plan.withNewChildren(Seq(c)))
}
