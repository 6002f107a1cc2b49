package org.apache.spark.sql.zorder.insight.audit

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.DEFAULT_PARTITION_NAME
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.zorder.insight.audit.read.{AuditedColumns, AuditedFile, FileReading}
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.clustering.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.{ClusterRequest, Progress, TableOptions}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{
  ClusterTable,
  ClusteredBy,
  ColumnIds,
  RunRecord,
  TableRef,
  TableState
}
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.querylog.QueryLog
import sparkzorder.curve.build.CurveRegistry

/**
 * Audits one table from metadata alone: nothing is written, and no data is read.
 *
 * @param log
 *   its queries on this table
 */
final class Auditor private (
    session: ClassicSession,
    target: TableRef,
    table: ClusterTable,
    columns: AuditedColumns,
    log: Option[QueryLog]) {
  private val progress = Progress.of(session, table)
  private val statements = new AuditStatements(session, target, table)
  private val runs = new PastRuns(table, columns)
  private lazy val options = TableOptions.of(table, Nil, session)

  /** The row of the table, then those of its partitions, the worst first. */
  def rows(): Seq[Row] =
    UnreadableFiles.reading(table)(audited())

  /** The files' ranges, and those of row groups where footers were read. */
  def blockRanges(): Seq[Row] =
    UnreadableFiles.reading(table)(BlockRangesRow.all(read().files, columns))

  private def read(): FileReading.Read =
    progress.step("statistics")(FileReading.of(session, table, columns))(r =>
      HumanReadable.count(r.files.length.toLong, "file"))

  private def audited(): Seq[Row] = {
    val found = read()
    val scopes = progress.step("audit")(Scope.all(found.files, columns.spacings))(s =>
      HumanReadable.count(s.length.toLong, "partition"))
    val bytes = scopes.map(_.bytes).sum
    val queries = log.map(new QueryAudit(session, table, _))
    val rules = new AuditRules(
      columns,
      queries.map(_.columnShares(columns)),
      runs,
      new FilesOfRun(bytes, scopes.length, options),
      table.isInstanceOf[ParquetTable] && !found.indexed)
    val findings = scopes.map(s => s -> rules.of(s))
    val parts =
      if (!table.partitioned) Nil
      else findings.sortBy { case (s, _) => (-s.totalExcess, s.partition) }.map { case (s, finding) =>
        ofScope(s, finding)
      }
    val logged = queries.toSeq.flatMap(q => QueryAudit.summary(q.rows()))
    val notes = columns.notes ++ found.notes
    AuditRow.of(whole(found.files, findings), columns.names, runs.curve, notes ++ logged) +:
      parts.map(AuditRow.of(_, columns.names, runs.curve, notes))
  }

  private def ofScope(s: Scope, finding: Finding): AuditResult = AuditResult(
    Some(s.partition),
    finding,
    finding.fix.map(statements.of(_, Seq(s.partition))),
    s.levels,
    s.files,
    avoidable(s, finding),
    runs.since(s.files))

  /** A scope that is as it should be has none, though its files are not all alike. */
  private def avoidable(s: Scope, finding: Finding): IndexedSeq[AuditedFile] =
    if (finding.kind.isMendedByOrder) s.avoidable else IndexedSeq.empty

  private def whole(files: IndexedSeq[AuditedFile], findings: IndexedSeq[(Scope, Finding)]): AuditResult = {
    val scopes = findings.map(_._1)
    val (finding, partitions) = TableFinding.of(table.name, columns.names, findings)
    AuditResult(
      None,
      finding,
      finding.fix.map(statements.of(_, partitions)),
      AuditResult.levels(scopes),
      files,
      findings.flatMap { case (s, f) => avoidable(s, f) },
      runs.since(files))
  }
}

object Auditor {

  /**
   * Finds the table and its columns and reads the log; files are read by [[Auditor.rows]] and
   * [[Auditor.blockRanges]].
   *
   * @param columns
   *   as in `BY (...)`; None for those that the table names itself or was clustered by
   * @param log
   *   a table, a temporary view or a path
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: what is wrong with the table, the columns or the log
   */
  def of(session: ClassicSession, target: TableRef, columns: Option[String], log: Option[String]): Auditor = {
    val table = TableResolver.locate(session, target)
    val chosen = AuditedColumns.of(session, table, columns)
    new Auditor(session, target, table, chosen, log.map(QueryLog.onTable(session, _, table)))
  }

  /**
   * What the queries of a log read of the table: a row for each shape of query, the worst first.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: what is wrong with the table or the log
   */
  def queries(session: ClassicSession, target: TableRef, log: String): () => Seq[Row] = {
    val table = TableResolver.locate(session, target)
    val audit = new QueryAudit(session, table, QueryLog.onTable(session, log, table))
    () => UnreadableFiles.reading(table)(audit.rows().map(_.row))
  }

  /**
   * What a query with this filter reads of the table: a row each for files, row groups and pages.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: what is wrong with the table or the filter
   */
  def where(session: ClassicSession, target: TableRef, filter: String): () => Seq[Row] = {
    val table = TableResolver.locate(session, target)
    val audit = new FilterAudit(session, table, filter)
    () => UnreadableFiles.reading(table)(audit.rows())
  }
}

/** What the records of runs say of the files that an audit finds. */
final private[audit] class PastRuns(table: ClusterTable, columns: AuditedColumns) {
  // with their reports, not in outline
  private val standing: Seq[RunRecord] = TableState.standing(table.state.runs())
  private lazy val ours: Set[String] = standing.flatMap(_.files.map(_.path)).toSet
  private val runs: IndexedSeq[RunRecord] =
    TableState.ofBranch(standing, table.state.branch).toIndexedSeq

  /** The last run, if it was by the audited columns. */
  private val same: Option[RunRecord] = runs.lastOption.filter { _ =>
    ClusteredBy.lastRunIfThere(table).exists { by =>
      by.length == columns.by.length && by.zip(columns.by).forall { case (recorded, sql) =>
        ClusteredBy.names(table, recorded, sql, !columns.names.contains(sql))
      }
    }
  }

  /** The curve of that run. */
  def curve: Option[String] = same.map(_.curve)

  /** The records by the audited columns, whatever these were called. */
  private lazy val alike: Seq[RunRecord] = same.toSeq.flatMap { last =>
    standing.filter(r => ColumnIds.areSame(r.columnIds, last.columnIds)(r.columns == last.columns))
  }

  /** The newest layout of each partition. */
  private lazy val layouts: Map[String, String] = alike.flatMap(_.layoutIds).toMap

  /** By layouts: a run that adds files to a layout may not say what it was made for. */
  private lazy val purposes: Map[String, LayoutPurpose] =
    Seq(LayoutPurpose.Queries, LayoutPurpose.Sort).flatMap { purpose =>
      alike.filter(PastRuns.isFor(purpose, _)).flatMap(_.layoutIds.values).map(_ -> purpose)
    }.toMap

  /** When the last run of each partition began. */
  private lazy val began: Map[String, Long] =
    runs.flatMap(r => r.layoutIds.keys.map(_ -> r.startedMs)).toMap

  /** Whether a run has laid the partition out by the audited columns, and no run by others followed. */
  def laidOut(partition: String): Boolean = layouts.contains(partition)

  /** What that layout was made for, if not for look-ups of all columns alike. */
  def purpose(partition: String): Option[LayoutPurpose] = layouts.get(partition).flatMap(purposes.get)

  /** Whether no files of the partition came after its last run. */
  def unchanged(files: IndexedSeq[AuditedFile]): Boolean = since(files).exists(_.isEmpty)

  /** Whether a run that stands has written the file. */
  def wrote(file: AuditedFile): Boolean = ours(table.recorded(file.file))

  /**
   * Files that are of no run that stands, and not older than the last one of their partition; than the last
   * of all, if there was none. A format may not know how old they are. None if the table was never clustered.
   */
  def since(files: IndexedSeq[AuditedFile]): Option[IndexedSeq[AuditedFile]] = runs.lastOption.map { last =>
    files.filter { f =>
      val age = f.file.modified
      (age == 0L || age > began.getOrElse(f.file.partition, last.startedMs)) && !wrote(f)
    }
  }
}

private object PastRuns {
  private val mapper = new ObjectMapper()

  /** Whether a run says so itself: by its curve, or by the logged queries of its report. */
  private def isFor(purpose: LayoutPurpose, run: RunRecord): Boolean = purpose match {
    case LayoutPurpose.Sort => run.curve == CurveRegistry.Sort.name
    case LayoutPurpose.Queries =>
      Try(mapper.readTree(run.report)).toOption.exists(r => r != null && r.path("queries").size > 0)
  }
}

/** What a layout is made for other than look-ups of all columns alike. */
sealed abstract private[audit] class LayoutPurpose(val text: String)

private[audit] object LayoutPurpose {
  case object Sort extends LayoutPurpose("sorted the rows, as its USING CURVE lexical asked")
  case object Queries
      extends LayoutPurpose("fitted the layout to logged queries: clustering_queries judges it")
}

/** The statements that mend what an audit has found. */
final private class AuditStatements(session: ClassicSession, target: TableRef, table: ClusterTable) {
  private lazy val keptByOthers = table.hasOthersFiles

  /** @param partitions to restrict it to; empty for the whole table */
  def of(fix: Fix, partitions: Seq[String]): String = fix match {
    case Fix.Index => s"ZORDER INDEX ${target.sql}"
    case Fix.Cluster(columns, curve, named, full, _, fileCount) =>
      val options = named ++ fileCount.map(n => "fileCount" -> n.toString)
      val conditions = partitions.map(condition)
      val where =
        if (conditions.isEmpty || conditions.exists(_.isEmpty)) "" else conditions.flatten.mkString(" OR ")
      table.reclustered(columns)
        .getOrElse(ClusterRequest.sql(target, full || keptByOthers, where, columns, curve, options))
  }

  /** What holds in one partition alone; None where its directories are not named after columns. */
  private def condition(partition: String): Option[String] = {
    val parts = partition.split('/').toSeq.filter(_.nonEmpty).map(test)
    if (parts.isEmpty || parts.exists(_.isEmpty)) None
    else Some(if (parts.length == 1) parts.flatten.head else parts.flatten.mkString("(", " AND ", ")"))
  }

  private def test(part: String): Option[String] = {
    val at = part.indexOf('=')
    for {
      name <- if (at < 0) None else Some(table.partitionText(part.take(at)))
      field <- table.schema.find(f => session.sessionState.conf.resolver(f.name, name))
      condition <- equals(field, table.partitionText(part.drop(at + 1)))
    } yield condition
  }

  private def equals(field: StructField, text: String): Option[String] = {
    val name = ColumnPath.sql(Seq(field.name))
    if (text == DEFAULT_PARTITION_NAME) Some(s"$name IS NULL")
    else {
      val zone = Some(session.sessionState.conf.sessionLocalTimeZone)
      Try(Cast(Literal(text), field.dataType, zone).eval()).toOption.filter(_ != null)
        .map(v => s"$name = ${Literal(v, field.dataType).sql}")
    }
  }
}
