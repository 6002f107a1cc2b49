package org.apache.spark.sql.zorder.skip.scan

import java.util.BitSet

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, FileSourceMetadataAttribute}
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skip.filter.{FilesThatMayMatch, FilesThatReachTop}
import org.apache.spark.sql.zorder.skip.index.{FileKeys, NoEntry, StatisticsIndex}
import org.apache.spark.sql.zorder.skip.marker.{JoinKeys, TopRows}
import org.apache.spark.sql.zorder.workload.predicate.BoxColumn

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
      val counts = new SkippedFiles(entryOf, found)
      val kept = listed.map(d => d.copy(files = d.files.filter(counts.keep))).filter(_.files.nonEmpty)
      SkippingUsage.scanned(
        root,
        columns(dataFilters),
        FileCounts(
          counts.considered,
          counts.pruned,
          counts.unknown,
          System.nanoTime() - started,
          Some(counts.bytes)))
      kept
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

  /** The columns of the index that the expressions speak of. */
  private[skip] def columns(expressions: Seq[Expression]): Seq[String] = {
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

  /** Those of `matching` that a query needs which wants the first rows only. */
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
  private[skip] def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && BoxColumn.of(column).exists(c => index.rangesOf(c.sql, c.dataType).isDefined)

  /** Whether a filter is false in all of some file. */
  private[skip] def leavesOut(filter: Expression): Boolean =
    new FilesThatMayMatch(index, isUnanswered)(Seq(filter)).cardinality < index.files.count

  /** The number of the entry of that very file. */
  private[skip] def entryOf(f: FileStatusWithMetadata): Either[NoEntry, Int] =
    index.files.find(keys.of(f.getPath), f.getLen, f.getModificationTime)

  /** A column that is not what the index has under its name. */
  private[skip] def isUnanswered(e: Expression): Boolean = e match {
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

/** Decides file by file of a listing, and counts. A file without an entry of its own is always read. */
final private[scan] class SkippedFiles(
    entryOf: FileStatusWithMetadata => Either[NoEntry, Int],
    matching: BitSet) {
  private var consideredSoFar, prunedSoFar, unknownSoFar, bytesConsidered, bytesPruned = 0L

  def considered: Long = consideredSoFar
  def pruned: Long = prunedSoFar

  def bytes: ScanBytes = ScanBytes(bytesConsidered, bytesPruned)

  /** Files that are new, changed or too fresh to trust their entries. */
  def unknown: Long = unknownSoFar

  def keep(file: FileStatusWithMetadata): Boolean = {
    consideredSoFar += 1
    bytesConsidered += file.getLen
    val entry = entryOf(file)
    if (entry.isLeft) unknownSoFar += 1
    val kept = entry.forall(matching.get(_))
    if (!kept) {
      prunedSoFar += 1
      bytesPruned += file.getLen
    }
    kept
  }
}
