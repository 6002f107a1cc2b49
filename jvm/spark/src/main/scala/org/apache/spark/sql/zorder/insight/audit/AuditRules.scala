package org.apache.spark.sql.zorder.insight.audit

import org.apache.spark.sql.types.TimestampType
import org.apache.spark.sql.zorder.stats.measure.{AvoidableReads, Rounded}
import org.apache.spark.sql.zorder.insight.audit.read.{AuditedColumns, AuditedFile}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable.{bytes, count, percent}
import org.apache.spark.sql.zorder.stats.ParquetZones

/**
 * Decides what to say of a partition (docs/spec.md, section 8).
 *
 * @param asked
 *   per column of the log's filters its part of the log's weight, the heaviest first, and the part of the queries
 *   that filter none of the audited columns; None without a log
 * @param laidOut
 *   whether a run has laid a partition out by the same columns, and no run by others followed
 * @param unchanged
 *   whether a partition has no files that came after the last run
 * @param small
 *   whether a run would leave these files of a partition alone, as too small to gain by
 * @param mayIndex
 *   whether an index would spare queries the footers
 */
final private[audit] class AuditRules(
    columns: AuditedColumns,
    asked: Option[LoggedColumnShares],
    laidOut: Scope => Boolean,
    unchanged: Scope => Boolean,
    small: IndexedSeq[AuditedFile] => Boolean,
    mayIndex: Boolean) {
  private val names = columns.names
  private val all = names.mkString(", ")

  private def settled(scope: Scope): Boolean = laidOut(scope) && unchanged(scope)

  def of(scope: Scope): Finding =
    if (scope.files.length < 2)
      Finding(FindingKind.Ok, s"${count(scope.files.length.toLong, "file")}: nothing to skip.", None)
    else asked(scope, wrongColumns.orElse(noStatistics(scope)).getOrElse(byReads(scope)))

  /** Adds a number of files to the statement if a run would otherwise not begin. */
  private def asked(scope: Scope, j: Finding): Finding = j.fix match {
    case Some(c: Fix.Cluster) =>
      val taken = if (c.worst) scope.avoidable else scope.files
      if (small(taken)) {
        val size = bytes(taken.map(_.file.length).sum)
        j.copy(
          reason = s"${j.reason} It is small ($size): a run leaves it alone without fileCount.",
          fix = Some(c.copy(options = c.options :+ ("fileCount" -> taken.length.toString))))
      } else j
    case _ => j
  }

  /** Whether to take the worst files alone: a few, in files that others have put in order. */
  private def worst(scope: Scope): Boolean =
    !laidOut(scope) && scope.avoidable.length >= AuditRules.FewestWorst &&
      2 * scope.avoidable.map(_.file.length).sum <= scope.bytes

  /** Clusters by these columns. In a scope that a run has laid out, a further run takes the files that came later. */
  private def cluster(scope: Scope, by: Seq[String], curve: Option[String] = None): Fix.Cluster = {
    val options = if (worst(scope)) Seq("worstFiles" -> AvoidableReads.Most.toString) else Nil
    Fix.Cluster(by, curve, options, settled(scope), worst(scope))
  }

  /** The log asks other columns than these. */
  private def wrongColumns: Option[Finding] = asked.filter(_.beside > AuditRules.Half).map { log =>
    val others = log.worthwhile
    val fix = if (others.isEmpty) None else Some(Fix.Cluster(others))
    val instead = if (others.isEmpty) "no column often enough" else others.mkString(", ")
    Finding(
      FindingKind.WrongColumns,
      s"${percent(log.beside)} of the logged queries filter neither of $all: they ask $instead.",
      fix)
  }

  private def noStatistics(scope: Scope): Option[Finding] =
    names.indices.find(c => scope.unknownShare(c) > AuditRules.Half).map { c =>
      val dataType = columns.stats(c).dataType
      val why =
        s"${percent(scope.unknownShare(c))} of the rows are in files without min and max of ${names(c)}"
      if (!ParquetZones.bounds(dataType))
        Finding(
          FindingKind.NoStatistics,
          s"$why, and files never have such of its type ${dataType.sql}: leave it out.",
          None)
      else {
        // Spark writes timestamps as INT96 by default, and INT96 has no bounds
        val options = if (dataType == TimestampType) Seq("timestampType" -> "'micros'") else Nil
        Finding(
          FindingKind.NoStatistics,
          s"$why, so that every query reads them; a rewrite gives them statistics.",
          Some(Fix.Cluster(names, options = options, full = options.isEmpty && settled(scope))))
      }
    }

  private def byReads(scope: Scope): Finding = {
    val useful = names.indices.filter(scope.counts)
    useful match {
      case IndexedSeq() => Finding(FindingKind.Ok, s"All files have the same single value of $all.", None)
      case IndexedSeq(only) =>
        val now = scope.fileLevel.columns(only).reads.lookUp
        val least = scope.boundOfSort(only)
        if (AuditRules.needs(now, least)) {
          val why = if (names.length == 1) "" else " The other columns have one value and cannot help."
          Finding(
            FindingKind.UseSort,
            reads(now, least, s"a sort by ${names(only)}") + why + (if (worst(scope)) avoidable(scope)
                                                                    else ""),
            Some(cluster(scope, Seq(names(only)), Some("lexical"))))
        } else well(scope, now, least)
      case _ =>
        val found = scope.fileLevel.joint.reads
        if (AuditRules.needs(found.lookUp, found.lookUpBound)) Finding(
          FindingKind.Recluster,
          reads(found.lookUp, found.lookUpBound, s"a layout by $all") + avoidable(scope),
          Some(cluster(scope, names)))
        else well(scope, found.lookUp, found.lookUpBound)
    }
  }

  private def reads(now: Double, least: Double, layout: String): String =
    s"Looking up one value of $all reads ${percent(now)} of the rows on average, and $layout can bring it to ${percent(least)}."

  private def avoidable(scope: Scope): String = {
    val some = count(scope.avoidable.length.toLong, "file")
    val these =
      if (!worst(scope)) ""
      else {
        val size = bytes(scope.avoidable.map(_.file.length).sum)
        s" The statement takes just these, $size of ${bytes(scope.bytes)}."
      }
    s" $some of ${scope.files.length} cause four fifths of the unnecessary reads.$these"
  }

  private def well(scope: Scope, now: Double, least: Double): Finding = {
    val good =
      s"Looking up one value of $all reads ${percent(now)} of the rows on average; the least possible is about ${percent(least)}."
    if (mayIndex && scope.files.length >= AuditRules.FilesForIndex) Finding(
      FindingKind.Ok,
      s"$good An index spares each query the footers of the ${scope.files.length} files.",
      Some(Fix.Index))
    else Finding(FindingKind.Ok, good, None)
  }
}

private[audit] object AuditRules {
  private[audit] val Half = 0.5
  private val FilesForIndex = 100

  /** Fewer files than these cannot be cut by two columns. */
  private val FewestWorst = 4

  /** More than this times the least, and by so much of the rows, is worth a rewrite. */
  private val Times = 1.5
  private val Step = 0.05

  /** Whether a share is worth bringing down to the least. */
  def needs(now: Double, least: Double): Boolean =
    Rounded(now) > Times * Rounded(least) && Rounded(now) - Rounded(least) >= Step
}

/** What is said of the whole table, from what is said of its partitions. */
private[audit] object TableFinding {

  /** A condition with more partitions is none that people read. */
  private val MostNamed = 20

  /** @return the finding, and the partitions that its statement is about; none for all */
  def of(name: String, findings: IndexedSeq[(Scope, Finding)]): (Finding, Seq[String]) = findings match {
    case IndexedSeq() => (Finding(FindingKind.Ok, s"$name has no rows.", None), Nil)
    case IndexedSeq((_, only)) => (only, Nil)
    case _ =>
      val worst = findings.map(_._2.kind).minBy(_.severity)
      val same = findings.filter(_._2.kind == worst)
      if (worst == FindingKind.Ok) {
        val index = findings.map(_._2).find(_.fix.isDefined)
        (
          Finding(
            FindingKind.Ok,
            s"All of its ${findings.length} partitions are well.",
            index.flatMap(_.fix)),
          Nil)
      } else {
        val (scope, finding) = same.maxBy { case (s, _) => (s.totalExcess, s.rows) }
        val most = findings.count(_._1.files.length > 1)
        val all = same.length >= most || same.length > MostNamed
        val reason = s"${count(same.length.toLong, "partition")} of ${findings.length}: the worst is " +
          s"${scope.partition}. ${finding.reason}"
        (finding.copy(reason = reason), if (all) Nil else same.map(_._1.partition))
      }
  }
}

/** What an audit says of a table or of a partition of it. */
sealed abstract private[audit] class FindingKind(val text: String) {

  /** The rank of the kind: if partitions differ, the table has the kind of the lowest rank. */
  def severity: Int = FindingKind.bySeverity.indexOf(this)
}

private[audit] object FindingKind {
  case object WrongColumns extends FindingKind("WRONG COLUMNS")
  case object NoStatistics extends FindingKind("NO STATISTICS")
  case object UseSort extends FindingKind("USE SORT")
  case object Recluster extends FindingKind("RECLUSTER")
  case object Ok extends FindingKind("OK")

  private val bySeverity = IndexedSeq(WrongColumns, NoStatistics, UseSort, Recluster, Ok)
}

/** @param fix what to run, if anything helps */
final private[audit] case class Finding(kind: FindingKind, reason: String, fix: Option[Fix])

/** A statement without its condition. */
sealed private[audit] trait Fix

private[audit] object Fix {

  /**
   * @param curve
   *   to name in it
   * @param options
   *   names and values as SQL
   * @param full
   *   whether files are in their places already, and are taken all the same
   * @param worst
   *   whether an option takes the avoidable files alone
   */
  final case class Cluster(
      columns: Seq[String],
      curve: Option[String] = None,
      options: Seq[(String, String)] = Nil,
      full: Boolean = false,
      worst: Boolean = false) extends Fix
  case object Index extends Fix
}
