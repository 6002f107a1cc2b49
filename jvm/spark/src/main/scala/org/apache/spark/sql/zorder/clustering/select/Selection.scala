package org.apache.spark.sql.zorder.clustering.select

import scala.util.control.NonFatal

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.{CharType, StructType}
import org.apache.spark.sql.zorder.stats.measure.{AvoidableReads, Spacing}
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.expr.{ColumnPath, Folding, Normalization}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.{DataFile, PartitionValues}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Which files a run takes.
 *
 * @param kept
 *   files to leave alone
 * @param footers
 *   of the taken files, if the choice needed them, so that they are not read again
 * @param where
 *   the folded condition; empty without one
 * @param worst
 *   whether only the worst of its files were taken
 * @param ofClusterers
 *   how many files other clusterers keep, by their names: for this statement, they are not there
 */
final private[zorder] case class Selection(
    files: Seq[DataFile],
    kept: Seq[DataFile],
    footers: Option[Seq[FileFooter]] = None,
    where: String = "",
    worst: Boolean = false,
    ofClusterers: Map[String, Int] = Map.empty) {

  /** All files that the statement looked at. */
  def considered: Int = files.length + leftAlone

  def leftAlone: Int = kept.length + ofClusterers.values.sum

  /** The footers of the taken files, each read once. */
  def footersIn(session: ClassicSession, columns: Seq[StatColumn]): Seq[FileFooter] =
    footers.getOrElse(Footers.read(session, files, columns))

  /** Leaves these files alone as well. */
  def without(leaving: Seq[DataFile]): Selection =
    if (leaving.isEmpty) this
    else {
      val paths = leaving.map(_.path).toSet
      copy(
        files.filterNot(f => paths(f.path)),
        kept ++ files.filter(f => paths(f.path)),
        footers.map(_.filterNot(f => paths(f.file.path))))
    }

  /** Ends the reason of a result. */
  def summary: String = taken + clusterersNote

  private def taken: String =
    if (where.isEmpty && !worst) ""
    else {
      val by = Seq(if (where.isEmpty) "" else s"WHERE $where", if (worst) "worstFiles" else "")
      s" ${by.filter(_.nonEmpty).mkString(" and ")} took ${files.length} of " +
        s"${HumanReadable.count(considered.toLong, "file")}."
    }

  /** Says which files other clusterers keep. */
  def clusterersNote: String = ofClusterers.toSeq.sorted.map { case (name, n) =>
    val what = if (n == 1) "is left alone: FULL takes it." else "are left alone: FULL takes them."
    s" ${HumanReadable.count(n.toLong, "file")} clustered by $name $what"
  }.mkString
}

/** WHERE picks whole files: those wholly inside it, or with `overlap` all that it does not rule out. */
private[zorder] object Selection {

  /**
   * @param session
   *   the pinned one: footers are read in it
   * @param clusterColumns
   *   the footers also have the statistics of these columns, as the first ones
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      schema: StructType,
      files: Seq[DataFile],
      where: WhereCondition,
      overlap: Boolean,
      clusterColumns: Seq[StatColumn]): Selection = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val rest = where.inEach(files, table, zone)
    val conditions = rest.values.toSeq.distinct
    val mayMatch = conditions.map(left => left -> Ignorant.mayMatch(left)).toMap
    val matchesWholly = conditions.map(left => left -> Ignorant.matchesWholly(left)).toMap
    def inside(f: DataFile): Boolean = mayMatch(rest(f.path)) && matchesWholly(rest(f.path))
    val candidates = files.filter(f => mayMatch(rest(f.path)))
    if (where.paths.isEmpty || candidates.forall(inside))
      selection(files, candidates.filter(f => overlap || inside(f)), None, where)
    else {
      val columns = where.paths.map(StatColumn.in(schema, _))
      val footers = Footers.read(session, candidates, clusterColumns ++ columns)
      val taken = footers.filter { f =>
        val file = new FileMatch(bounds(f, where.paths, clusterColumns.length, _))
        val condition = rest(f.file.path)
        if (overlap) file.mayMatch(condition) else file.mayMatch(condition) && file.matchesWholly(condition)
      }
      selection(files, taken.map(_.file), Some(taken), where)
    }
  }

  private val Ignorant = new FileMatch(_ => ColumnBounds.Unknown)

  private def selection(
      all: Seq[DataFile],
      taken: Seq[DataFile],
      footers: Option[Seq[FileFooter]],
      where: WhereCondition): Selection = {
    val paths = taken.map(_.path).toSet
    Selection(taken, all.filterNot(f => paths(f.path)), footers, where.sql)
  }

  private def bounds(
      footer: FileFooter,
      paths: Seq[Seq[String]],
      offset: Int,
      sql: String): ColumnBounds = {
    val column = paths.indexWhere(ColumnPath.sql(_) == sql)
    if (column < 0) ColumnBounds.Unknown
    else ColumnBounds.of(footer.block(IndexedSeq(Some(offset + column))), 0)
  }
}

/**
 * A WHERE condition over the columns of a table, its constant parts folded once: `current_date()` means the
 * same for every file.
 *
 * @param charLengths
 *   of partition columns of type CHAR
 */
final private[zorder] case class WhereCondition(
    condition: Expression,
    partitionColumns: Seq[Attribute],
    charLengths: Map[ExprId, Int]) {

  /** The text that the result row shows. */
  def sql: String = condition.sql

  /** This condition on a later schema of the table; None if a column has gone or has another type. */
  def over(schema: StructType, partitionColumns: Seq[String]): Option[WhereCondition] = {
    val columns = ColumnPath.attributes(schema)
    val now = condition.references.toSeq.flatMap(a =>
      columns.find(c => c.name == a.name && c.dataType == a.dataType).map(a.exprId -> _)).toMap
    if (condition.references.exists(a => !now.contains(a.exprId))) None
    else Some(WhereCondition.of(
      condition.transform { case a: Attribute => now(a.exprId) },
      columns,
      schema,
      partitionColumns))
  }

  /** The condition as scans ask files: true for the same rows. */
  def inferred: WhereCondition = copy(condition = Folding.inferred(condition))

  /** The data columns and fields whose bounds the condition can use. */
  val paths: Seq[Seq[String]] = pathsIn(condition).distinct

  private def pathsIn(e: Expression): Seq[Seq[String]] = e match {
    case a: Attribute if partitionColumns.exists(_.exprId == a.exprId) => Nil
    case _ =>
      ColumnPath.of(e).filter(_ => Normalization.of(e.dataType).isDefined).map(Seq(_))
        .getOrElse(e.children.flatMap(pathsIn))
  }

  /** What is left of the condition in each file, by its path. */
  def inEach(files: Seq[DataFile], table: ClusterTable, zone: String): Map[String, Expression] =
    files.groupBy(f => (f.partition, table.constants(f))).flatMap { case ((partition, constants), own) =>
      val left = in(PartitionValues.of(partition, table.partitionSchema, zone), constants)
      own.map(_.path -> left)
    }

  /**
   * What is left of the condition in one partition.
   *
   * @param constants
   *   other columns that have one value there, by their names
   */
  def in(values: Seq[Literal], constants: Map[String, Literal] = Map.empty): Expression = {
    val literal = partitionColumns.map(_.exprId).zip(values).toMap
    padded.transformUp {
      case a: Attribute => literal.get(a.exprId).orElse(constants.get(a.name)).getOrElse(a)
      case e if !e.isInstanceOf[Literal] && e.deterministic && e.foldable => WhereCondition.evaluated(e)
    }
  }

  /** A query compares CHAR padded; the name of a directory may have the blanks or not. */
  private lazy val padded: Expression =
    if (charLengths.isEmpty) condition
    else
      condition.transform {
        case c: BinaryComparison => c.withNewChildren(sameLength(c.children))
        case i: In => i.withNewChildren(sameLength(i.children))
      }

  /** CHAR columns and texts that are compared, with blanks up to one length; other expressions stay. */
  private def sameLength(compared: Seq[Expression]): Seq[Expression] = {
    def text(e: Expression): Option[UTF8String] = e match {
      case Literal(t: UTF8String, _) => Some(t)
      case _ => None
    }
    val chars = compared.collect { case a: Attribute if charLengths.contains(a.exprId) => a }
    if (chars.isEmpty) compared
    else {
      val length =
        (chars.map(a => charLengths(a.exprId)) ++ compared.flatMap(e => text(e)).map(_.numChars)).max
      compared.map(e =>
        if (chars.contains(e) || text(e).isDefined) StringRPad(e, Literal(length), Literal(" ")) else e)
    }
  }
}

private[zorder] object WhereCondition {

  def resolve(
      session: ClassicSession,
      table: String,
      schema: StructType,
      partitionColumns: Seq[String],
      where: String): WhereCondition = {
    val columns = ColumnPath.attributes(schema)
    val analyzed =
      try Shims.ofRows(session, LocalRelation(columns)).where(expr(where)).queryExecution.analyzed
      catch {
        case e: AnalysisException => notResolved(session, table, schema, where, e)
      }
    val folded =
      try Folding(analyzed)
      catch {
        case NonFatal(e) =>
          refuse("ZORDER_INVALID_WHERE.NOT_EVALUATED", "where" -> where, "cause" -> firstLine(e))
      }
    folded match {
      case Filter(condition, _) if !condition.deterministic =>
        refuse("ZORDER_INVALID_WHERE.NOT_DETERMINISTIC", "where" -> where)
      case Filter(condition, _) if condition.exists(_.isInstanceOf[SubqueryExpression]) =>
        refuse("ZORDER_INVALID_WHERE.SUBQUERY", "where" -> where)
      case Filter(condition, _) =>
        of(ColumnPath.asDeclared(condition, columns), columns, schema, partitionColumns)
      case _ => refuse("ZORDER_INVALID_WHERE.NOT_A_CONDITION", "where" -> where)
    }
  }

  private def of(
      condition: Expression,
      columns: Seq[AttributeReference],
      schema: StructType,
      partitionColumns: Seq[String]): WhereCondition = {
    val partitioning = partitionColumns.map(p => columns.find(_.name == p).get)
    val chars = partitioning.flatMap { column =>
      CharVarcharUtils.getRawType(schema(column.name).metadata)
        .collect { case char: CharType => column.exprId -> char.length }
    }
    WhereCondition(condition, partitioning, chars.toMap)
  }

  private def notResolved(
      session: ClassicSession,
      table: String,
      schema: StructType,
      where: String,
      e: AnalysisException): Nothing = {
    val same = session.sessionState.conf.resolver
    // what cannot be parsed names nothing, and the error says so
    val names: Seq[String] =
      try
        session.sessionState.sqlParser.parseExpression(where)
          .collect { case a: UnresolvedAttribute => a.nameParts.head }
      catch { case _: AnalysisException => Nil }
    names.find(n => !schema.exists(f => same(f.name, n))) match {
      case Some(n) =>
        refuse(
          "ZORDER_COLUMN_NOT_FOUND.IN_WHERE",
          "column" -> n,
          "table" -> table,
          "hint" -> NearestName.hint(n, schema.fieldNames),
          "columns" -> NearestName.listed(schema.fieldNames.toSeq))
      case None => refuse("ZORDER_INVALID_WHERE.NOT_RESOLVED", "where" -> where, "cause" -> firstLine(e))
    }
  }

  /** A part that cannot be evaluated stays as it is, and its files count as overlapping. */
  private def evaluated(e: Expression): Expression =
    try Literal.create(e.eval(), e.dataType)
    catch { case NonFatal(_) => e }
}

/**
 * Picks the few files of a selection that cause most of the unnecessary reads of look-ups, partition by
 * partition, by the same count as the audit's `avoidable_files`.
 *
 * @param session
 *   the pinned one: footers are read in it
 * @param statistics
 *   what is read of footers, the clustering columns first
 * @param columns
 *   number of the clustering columns
 */
final private[clustering] class WorstFiles(
    session: ClassicSession,
    statistics: Seq[StatColumn],
    columns: Int) {
  private val zoned = (0 until columns).map(Option(_))
  private val spacings = statistics.take(columns).map(c => Spacing.of(c.dataType)).toIndexedSeq

  /** @param share the part of these reads that the files have to cause */
  def of(selected: Selection, share: Double): Selection = {
    val footers = selected.footersIn(session, statistics)
    val worst = footers.groupBy(_.file.partition).toSeq.sortBy(_._1).flatMap { case (_, own) =>
      ofPartition(own.sortBy(_.file.path).toIndexedSeq, share)
    }
    val paths = worst.map(_.file.path).toSet
    selected.without(selected.files.filterNot(f => paths(f.path)))
      .copy(footers = Some(footers.filter(f => paths(f.file.path))), worst = true)
  }

  private def ofPartition(all: IndexedSeq[FileFooter], share: Double): Seq[FileFooter] = {
    // as in an audit, files without rows are not there
    val files = all.filter(f => f.rows > 0 || f.opaque)
    if (files.length < 2) Nil
    else
      AvoidableReads.of(files.map(_.block(zoned)), files.map(_.file.path), spacings).worst(share).map(files)
  }
}
