package org.apache.spark.sql.zorder.clustering.rewrite

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{
  Filter,
  LocalRelation,
  LogicalPlan,
  Project,
  Sort,
  Union
}
import org.apache.spark.sql.types.{DataType, MapType}
import org.apache.spark.sql.zorder.clustering.fit.CountsByNumber
import org.apache.spark.sql.zorder.clustering.plan.OutputPlan
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.RunContext
import org.apache.spark.sql.zorder.expr.layout.StaysWithout
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, UnhashedType}
import org.apache.spark.sql.zorder.table.{ChangedInputs, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils

/**
 * The rows of some files, and what is done with them where all rows of a file are together, before they are
 * ordered.
 *
 * @param output
 *   the columns to write
 * @param columns
 *   the clustering columns
 * @param place
 *   a hash of the place of a row, if rows that their values do not tell apart may go to several files
 */
final private[rewrite] case class RowsToWrite(
    plan: LogicalPlan,
    output: Seq[Attribute],
    columns: Seq[Expression],
    route: Attribute,
    together: LogicalPlan => LogicalPlan = identity,
    place: Option[Attribute] = None)

/** A file that a run has written, and what was read back of it. */
final private[rewrite] case class ReadBack(written: WrittenFile, footer: FileFooter, pages: FilePages) {

  /** The rows that a reader of the table will see. */
  def rows: Long = footer.rows - footer.file.deleted.getOrElse(0L)

  /** With so many rows of it marked as deleted. */
  def marked(rows: Long): ReadBack = {
    val file = written.file.copy(deleted = Some(rows))
    copy(written = written.copy(file = file), footer = footer.copy(file = file))
  }
}

/**
 * What others removed while a run was at work, from how many new files, and what was written again of these.
 */
final private[clustering] case class Rebased(rows: Long = 0, files: Int = 0, bytes: Long = 0) {
  def and(later: Rebased): Rebased = Rebased(rows + later.rows, files + later.files, bytes + later.bytes)

  /** Ends the reason of a result. */
  def note: String =
    if (rows == 0) ""
    else
      s" Others removed or rewrote ${HumanReadable.count(rows, "row")} during the run, which were taken out of " +
        s"${HumanReadable.count(files.toLong, "new file")}."
}

/**
 * Puts a rewrite whose commit was refused on the table as it is now (ADR 60): each row that others removed
 * from the inputs is taken out of the new files, once for each time that it was removed, and the new files
 * that had such rows are written again. The layout tells which these are, since equal rows have equal file
 * numbers.
 *
 * A format that can mark rows of the new files as deleted has done so instead, and nothing is written again.
 *
 * It gives up, and the run ends as a conflict, where the format cannot tell what was removed, where rows
 * cannot be compared, where too many were removed, and where one of them is not found.
 *
 * @param rewrite
 *   writes these rows to these files, as those of the plan were written
 */
final private[rewrite] class Rebase(
    context: RunContext,
    write: TableWrite,
    rewrite: (RewritePlan, RowsToWrite, OutputPlan) => Seq[WrittenFile],
    read: Seq[WrittenFile] => Seq[ReadBack]) {
  private val session = context.pinned

  /** @param written the files that were not committed; what is committed instead, if anything */
  def apply(plan: RewritePlan, written: Seq[ReadBack]): Option[(RewritePlan, Seq[ReadBack])] =
    write.rebase(session, plan.files.partitions.map(_.partition)).flatMap(on(plan, written, _))

  private def on(
      plan: RewritePlan,
      written: Seq[ReadBack],
      changed: ChangedInputs): Option[(RewritePlan, Seq[ReadBack])] = {
    CrashPoint.hit("rebase-found")
    val present = changed.present.map(_.path).toSet
    // the rows of inputs that are the table's no more, by footers alone
    val gone = plan.input.rows(plan.files.files.filterNot(f => present(f.path)))
    if (present.isEmpty || !isWorthIt(gone, written)) None
    else
      changed.removed match {
        case None => Some(whereMarked(plan, changed, written))
        case Some(removed) => without(plan, changed, removed, written)
      }
  }

  /** The format has taken out what was removed. */
  private def whereMarked(
      plan: RewritePlan,
      changed: ChangedInputs,
      written: Seq[ReadBack]): (RewritePlan, Seq[ReadBack]) = {
    val less = written.map(f => changed.marked.get(f.written.file.path).fold(f)(f.marked))
    val touched = written.zip(less).filter { case (before, after) => before.rows != after.rows }
    val taken = Rebased(rows(touched.map(_._1)) - rows(touched.map(_._2)), touched.length)
    onto(plan, changed, taken, less)
  }

  private def isWorthIt(removed: Long, written: Seq[ReadBack]): Boolean =
    removed <= Rebase.MostRemoved * rows(written)

  private def isTooMuch(again: Rebased, written: Seq[ReadBack]): Boolean =
    again.bytes > math.max(Rebase.BytesAgain, Rebase.MostAgain * bytes(written))

  private def bytes(files: Seq[ReadBack]): Long = files.map(_.written.file.length).sum

  private def rows(files: Seq[ReadBack]): Long = files.map(_.rows).sum

  private def without(
      plan: RewritePlan,
      changed: ChangedInputs,
      removed: InputRelation,
      written: Seq[ReadBack]): Option[(RewritePlan, Seq[ReadBack])] = {
    val RemovedRows(rowsToTake, byFile, allNumbered) = RemovedRows.of(context, plan, removed)
    val total = byFile.values.sum
    val (touched, others) = written.partition(f => byFile.contains(f.written.number))
    val comparable = removed.output.filter(a => Rebase.isComparable(a.dataType))
    val canBeFound = touched.map(_.written.number).toSet == byFile.keySet &&
      // a row id tells rows apart whose other columns cannot
      (comparable.length == removed.output.length || allNumbered)
    val again = Rebased(total, touched.length, bytes(touched))
    if (!canBeFound || !isWorthIt(total, written) || isTooMuch(
        plan.rebased.fold(again)(_.and(again)),
        written))
      None
    else if (touched.isEmpty) Some(onto(plan, changed, Rebased(), written))
    else
      writtenAgain(plan, removed, rowsToTake, touched.map(_.written), comparable.map(_.name).toSet).flatMap {
        files =>
          val less = read(files)
          CrashPoint.hit("rebase-written")
          if (rows(less) + total != rows(touched)) None
          else {
            write.withdraw(touched.map(_.written))
            Some(onto(plan, changed, again, others ++ less))
          }
      }
  }

  /**
   * The files of these numbers once more; None if the rows to take out do not have their columns.
   *
   * @param rowsToTake
   *   to take out: the columns of `removed`, and its route
   */
  private def writtenAgain(
      plan: RewritePlan,
      removed: InputRelation,
      rowsToTake: LogicalPlan,
      touched: Seq[WrittenFile],
      comparable: Set[String]): Option[Seq[WrittenFile]] = {
    val staged = write.relation(session, partitionsOf(plan, touched), plan.input.dataSchema)
    def columns(r: InputRelation) = r.output.map(a => (a.name, a.dataType.asNullable))
    if (columns(staged) != columns(removed)) None
    else {
      val all = Union(Seq(
        marked(staged.plan, staged.output :+ staged.route, isTaken = false),
        marked(rowsToTake, removed.output :+ removed.route, isTaken = true)))
      val (output, added) = all.output.splitAt(staged.output.length)
      val (route, taken) = (added.head, added.last)
      val stays = StaysWithout(taken, output.filter(a => comparable(a.name)))
      val numbers = touched.map(_.number).distinct.sorted.toIndexedSeq
      val rows = RowsToWrite(
        all,
        output,
        context.columnsOf(all).map(_.expression),
        route,
        together => Filter(stays, Sort(Seq(SortOrder(taken, Descending)), global = false, together)))
      val again = rewrite(plan, rows, plan.outputs.only(numbers))
      Some(again.map(w => w.copy(number = numbers(w.number))))
    }
  }

  /** New files in the order of the plan's partitions, which relations number. */
  private def partitionsOf(plan: RewritePlan, files: Seq[WrittenFile]): IndexedSeq[PinnedPartition] = {
    val inside = files.groupBy(w => plan.outputs.each(w.number).directory)
    plan.files.partitions.map { p =>
      val directory = p.partition.directory
      PinnedPartition(directory, inside.getOrElse(directory, Nil).map(_.file))
    }
  }

  private def marked(rows: LogicalPlan, columns: Seq[Attribute], isTaken: Boolean): LogicalPlan =
    Project(columns :+ Alias(Literal(isTaken), Rebase.TakenColumn)(), rows)

  /** These files, with the inputs as they are now. */
  private def onto(
      plan: RewritePlan,
      changed: ChangedInputs,
      rebased: Rebased,
      files: Seq[ReadBack]): (RewritePlan, Seq[ReadBack]) = {
    val now = changed.present.map(f => f.path -> f).toMap
    val partitions = plan.files.partitions.map { sized =>
      sized.copy(partition = sized.partition.only(f => now.get(f.path)))
    }
    val based = plan.copy(
      input = plan.input.changed(now),
      files = plan.files.copy(partitions = partitions),
      source = changed.left,
      rebased = Some(plan.rebased.fold(rebased)(_.and(rebased))))
    (based, files)
  }
}

private[rewrite] object Rebase {

  /** How often a run is put on the table anew before it ends as a conflict. */
  val Attempts = 40

  /** Bytes written again in all these attempts, for each byte of the run. */
  private val MostAgain = 3

  /** Bytes that may be written again however small the run is. */
  private val BytesAgain = 64L << 20

  /**
   * Of the rows written: if others removed more, the new files are few and most of the work is lost anyway.
   */
  private val MostRemoved = 0.5

  private val TakenColumn = "_zorder_taken"

  /**
   * Whether equal values have the same bytes, and the same hash of Spark. Equal maps may be stored in unlike
   * order, and equal variants in unlike ways; geometries have no hash.
   */
  def isComparable(t: DataType): Boolean = !t.existsRecursively {
    case _: MapType => true
    case other => UnhashedType(other.typeName)
  }
}

/**
 * Rows that others removed.
 *
 * @param plan
 *   the rows, with the columns and the route of their relation; few of them are in memory
 * @param byFile
 *   how many, by the number of the new file that each is in
 * @param allNumbered
 *   whether each of them has an id of the format's own that no other row has
 */
final private case class RemovedRows(plan: LogicalPlan, byFile: Map[Int, Long], allNumbered: Boolean)

private object RemovedRows {

  /** Bytes that the driver keeps, as many of each task; it keeps all rows or none. */
  private val FewBytes = 8L << 20

  /** One job. */
  def of(context: RunContext, plan: RewritePlan, removed: InputRelation): RemovedRows = {
    val file = RewriteQuery.toPartition(
      removed.output,
      context.columnsOf(removed.plan).map(_.expression),
      if (plan.files.partitions.length == 1) None else Some(removed.route),
      plan.layouts,
      plan.outputs)
    val own = removed.output.diff(removed.copied)
    val unnumbered = own.map(IsNull(_): Expression).reduceOption(Or(_, _)).getOrElse(Literal(true))
    val columns = removed.output :+ removed.route
    val counted =
      Project(columns ++ Seq(Alias(file, "file")(), Alias(unnumbered, "unnumbered")()), removed.plan)
    val (preImages, at) = (plan.outputs.preImages, columns.length)
    val query = Shims.ofRows(context.pinned, counted).queryExecution
    val (numbers, few) = (preImages.partitions, FewBytes / math.max(1, query.toRdd.getNumPartitions))
    // of each task the rows of each file, those without an id, and the rows themselves if they are few
    val found = query.toRdd.mapPartitions { rows =>
      val counts = new Array[Long](numbers + 1)
      val kept = ArrayBuffer.empty[Array[Byte]]
      var bytes = 0L
      rows.foreach { r =>
        counts(preImages.partition(r.getInt(at))) += 1
        if (r.getBoolean(at + 1)) counts(numbers) += 1
        val row = r.asInstanceOf[UnsafeRow]
        bytes += row.getSizeInBytes
        // a copy: the next row is written over this one
        if (bytes <= few) kept += row.copy().getBytes else kept.clear()
      }
      // bytes of our own, so that a session's own serializer need not know our classes
      Iterator(Utils.serialize((CountsByNumber.of(counts), kept.toArray)))
    }.collect().map(Utils.deserialize[(CountsByNumber, Array[Array[Byte]])](_))
    val counts = CountsByNumber.sum(found.map(_._1), numbers + 1)
    val byFile = (0 until numbers).map(n => n -> counts(n)).filter(_._2 > 0).toMap
    val kept = found.toSeq.flatMap(_._2)
    val rows =
      if (kept.length.toLong == byFile.values.sum) inMemory(query.analyzed.output, kept) else removed.plan
    RemovedRows(Project(columns, rows), byFile, counts(numbers) == 0)
  }

  private def inMemory(columns: Seq[Attribute], rows: Seq[Array[Byte]]): LogicalPlan =
    LocalRelation(
      columns,
      rows.map { bytes =>
        val row = new UnsafeRow(columns.length)
        row.pointTo(bytes, bytes.length)
        row
      })
}
