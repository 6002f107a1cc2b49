package org.apache.spark.sql.zorder.skipping.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zorder.expr.ColumnPath

/** The files of a scan, and what statistics tell of them. Equal where two scans may share an exchange. */
trait PrunedFiles {

  /** The root of the table. */
  def root: Path

  /** Whether statistics tell anything of the scan's column. */
  def mayAnswer(column: Attribute): Boolean

  /** Whether a filter is false in all of some file. */
  def leavesOut(filter: Expression): Boolean

  /** The bytes of all files, or of those that are left. A smaller number does no harm. */
  def sizeInBytes: Long

  /**
   * The least bytes of the files that a scan with the filters reads; 0 if they are not known.
   *
   * @param filters
   *   with the names that the scan gives its columns
   */
  def leastBytes(filters: Seq[Expression]): Long
}

/** A file index that leaves files out by the filters of a scan, whatever the format of the table. */
trait PruningFileIndex extends FileIndex with PrunedFiles

/**
 * A scan whose files may be left out: what the rules that mark scans look for, in plain Parquet and in every
 * format whose list of files we narrow.
 *
 * The names of its columns are those of the relation. A statement may spell them in another case, and Spark
 * puts that right only when it plans the scan: until then a rule asks with what [[named]] gives.
 *
 * @param partitionColumns
 *   columns whose filters the list applies in full, and whose values are not in the files
 * @param readsAllListed
 *   whether a file that is listed is also read, or the query fails: only then may rows be counted on
 */
class PruningScan(
    val relation: LeafNode,
    val files: PrunedFiles,
    val partitionColumns: AttributeSet,
    val readsAllListed: Boolean) {

  /** The expression with the names that the scan gives its columns. */
  def named(e: Expression): Expression = ColumnPath.asDeclared(e, relation.output)

  /** Whether the column is the scan's own, and its values are in the files. */
  def hasInFiles(a: Attribute): Boolean = relation.outputSet.contains(a) && !partitionColumns.contains(a)
}

object PruningScan {

  /** A leaf of a plan that is such a scan. */
  def unapply(plan: LogicalPlan): Option[PruningScan] = plan match {
    case l: LogicalRelation => of(l)
    case leaf: LeafNode => ScansOfFormats.scan(leaf)
    case _ => None
  }

  /** All of a plan. */
  def all(plan: LogicalPlan): Seq[PruningScan] = plan.collect { case PruningScan(scan) => scan }

  private def of(l: LogicalRelation): Option[PruningScan] = l.relation match {
    case r: HadoopFsRelation => r.location match {
        case index: PruningFileIndex =>
          Some(new PruningScan(l, index, partitionColumns(l, r), readsAllListed(r)))
        case _ => None
      }
    case _ => None
  }

  private def readsAllListed(r: HadoopFsRelation): Boolean = {
    val options = new FileSourceOptions(r.options)
    r.bucketSpec.isEmpty && !options.ignoreMissingFiles && !options.ignoreCorruptFiles
  }

  private def partitionColumns(l: LogicalRelation, r: HadoopFsRelation): AttributeSet = {
    val same = l.conf.resolver
    AttributeSet(l.output.filter(a => r.partitionSchema.fieldNames.exists(same(_, a.name))))
  }
}

/** What the rules that walk down to a scan have in common. */
object PlanParts {

  /** An expression over what a projection gives, in terms of what it takes. */
  def inside(p: Project, e: Expression): Expression = {
    val meaning = AttributeMap(p.projectList.collect { case a: Alias => a.toAttribute -> a.child })
    e.transform { case a: AttributeReference => meaning.getOrElse(a, a) }
  }

  /**
   * Whether a scan applies the condition as it stands. Spark evaluates a function of Python above the scan.
   */
  def appliedByScan(condition: Expression): Boolean = condition.deterministic && !condition.exists {
    case _: SubqueryExpression | _: DynamicPruning | _: PythonUDF => true
    case _ => false
  }

  /** The plan with its only child changed. */
  def below(plan: LogicalPlan)(change: LogicalPlan => Option[LogicalPlan]): Option[LogicalPlan] =
    change(plan.children.head).map(c => plan.withNewChildren(Seq(c)))
}
