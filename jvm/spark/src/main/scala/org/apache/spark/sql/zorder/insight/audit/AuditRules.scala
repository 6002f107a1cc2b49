package org.apache.spark.sql.zorder.insight.audit

import org.apache.spark.sql.types.TimestampType
import org.apache.spark.sql.zorder.stats.measure.{AvoidableReads, Reads, Rounded}
import org.apache.spark.sql.zorder.insight.audit.read.{AuditedColumns, AuditedFile}
import org.apache.spark.sql.zorder.clustering.plan.{FileCount, FilePlan}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable.{bytes, count, percent}
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.stats.ParquetZones
import sparkzorder.curve.build.CurveRegistry

/**
 * Decides what to say of a partition (docs/spec.md, section 8).
 *
 * @param log
 *   per column of the log's filters its part of the log's weight, the heaviest first, and the part of the
 *   queries that filter none of the audited columns; None without a log
 * @param past
 *   what runs have done
 * @param runs
 *   how many files a run makes of a partition
 * @param mayIndex
 *   whether an index would spare queries the footers
 */
final private[audit] class AuditRules(
    columns: AuditedColumns,
    log: Option[LoggedColumnShares],
    past: PastRuns,
    runs: FilesOfRun,
    mayIndex: Boolean) {
  private val names = columns.names
  private val all = names.mkString(", ")

  /** An expression orders rows as well, and no file tells how: statements keep it. */
  private val leavesOut = columns.by.length > names.length

  private def laidOut(scope: Scope): Boolean = past.laidOut(scope.partition)

  private def settled(scope: Scope): Boolean = laidOut(scope) && past.unchanged(scope.files)

  def of(scope: Scope): Finding =
    if (scope.files.length < 2 && runs.of(scope.files).forall(_ < 2))
      Finding(FindingKind.Ok, s"${count(scope.files.length.toLong, "file")}: nothing to skip.", None)
    else withFileCount(scope, wrongColumns.orElse(noStatistics(scope)).getOrElse(byReads(scope)))

  /** Adds a number of files to the statement if a run would otherwise not begin. */
  private def withFileCount(scope: Scope, finding: Finding): Finding = finding.fix match {
    case Some(c: Fix.Cluster) =>
      val taken = if (c.worst) scope.avoidable else scope.files
      if (runs.of(taken).isEmpty) {
        val note = s" It is small (${size(taken)}): a run leaves it alone without fileCount."
        // a run makes so many files of those that it takes
        val beside = scope.files.length - taken.length
        finding.copy(
          says = n => finding.says(beside + n) + note,
          files = taken.length,
          fix = Some(c.copy(fileCount = Some(taken.length))))
      } else finding
    case _ => finding
  }

  /** Whether to take the worst files alone: a few, in files that others have put in order. */
  private def worst(scope: Scope): Boolean =
    !laidOut(scope) && scope.avoidable.length >= AuditRules.FewestWorst &&
      2 * scope.avoidable.map(_.file.length).sum <= scope.bytes

  /**
   * Clusters by these columns. In a scope that a run has laid out, a further run by its curve takes the files
   * that came later.
   */
  private def cluster(scope: Scope, by: Seq[String], curve: Option[String] = None): Fix.Cluster = {
    val options = if (worst(scope)) Seq("worstFiles" -> AvoidableReads.Most.toString) else Nil
    // of files that are in their places already, another curve may make more
    val kept = if (settled(scope)) None else curveOf(scope)
    Fix.Cluster(by, curve.orElse(kept), options, settled(scope), worst(scope))
  }

  /** The curve that the last run of the scope was told to use. */
  private def curveOf(scope: Scope): Option[String] =
    past.curve.filter(_ => laidOut(scope)).filter(_ != CurveRegistry.Auto.name)

  /** The log asks other columns than these. */
  private def wrongColumns: Option[Finding] = log.filter(_.beside > AuditRules.Half).map { asked =>
    val others = asked.worthwhile
    val fix = if (others.isEmpty) None else Some(Fix.Cluster(others))
    val instead = if (others.isEmpty) "no column often enough" else others.mkString(", ")
    Finding(
      FindingKind.WrongColumns,
      s"${percent(asked.beside)} of the logged queries filter neither of $all: they ask $instead.",
      fix)
  }

  private def noStatistics(scope: Scope): Option[Finding] =
    names.indices.find(c => scope.unknownShare(c) > AuditRules.Half).map { c =>
      val dataType = columns.stats(c).dataType
      val what = if (scope.countsRows(c)) "rows are in files" else "files are"
      val why = s"${percent(scope.unknownShare(c))} of the $what without min and max of ${names(c)}"
      // Spark writes timestamps as INT96 by default, and INT96 has no bounds
      val options = if (dataType == TimestampType) Seq("timestampType" -> "'micros'") else Nil
      helpless(scope, c) match {
        case Some(because) => Finding(FindingKind.NoStatistics, s"$why$because", None)
        case None => Finding(
            FindingKind.NoStatistics,
            s"$why, so that every query reads them; a rewrite gives them statistics.",
            Some(Fix.Cluster(columns.by, curveOf(scope), options, options.isEmpty && settled(scope))))
      }
    }

  /** Why no rewrite gives files statistics of this column. */
  private def helpless(scope: Scope, column: Int): Option[String] = {
    val dataType = columns.stats(column).dataType
    if (!ParquetZones.bounds(dataType))
      Some(s", and files never have such of its type ${dataType.sql}: leave it out.")
    else if (scope.files.exists(_.encrypted)) Some(": a run refuses encrypted files.")
    else if (dataType != TimestampType && scope.unknown(column).forall(past.wrote))
      Some(", though a run wrote them: Parquet keeps no bounds that are NaN or too long. Leave it out.")
    else None
  }

  private def oneValue(scope: Scope): String = {
    val known = if (names.indices.exists(scope.unknown(_).nonEmpty)) " with min and max" else ""
    s"All files$known have the same single value of $all."
  }

  private def byReads(scope: Scope): Finding = {
    val useful = names.indices.filter(scope.counts)
    useful match {
      case IndexedSeq() => Finding(FindingKind.Ok, oneValue(scope), None)
      case IndexedSeq(only) if !leavesOut =>
        val now = scope.fileLevel.columns(only).reads.lookUp
        val sorted = cluster(scope, Seq(names(only)), Some(CurveRegistry.Sort.name))
        def least(files: Int): Double = scope.boundOfSort(only, files)
        if (AuditRules.needs(now, least(scope.files.length))) {
          val others = if (names.length == 1) "" else " The other columns have one value and cannot help."
          val more = others + (if (worst(scope)) avoidable(scope) else "")
          needing(FindingKind.UseSort, scope, sorted, now, least)(n =>
            reads(now, least(n), s"a sort by ${names(only)}") + more)
        } else well(scope, now, least, sorted)
      case _ =>
        val now = scope.fileLevel.joint.reads.lookUp
        val layout = cluster(scope, columns.by)
        val purpose = past.purpose(scope.partition)
        // what the last run made by an expression as well is not judged without it
        val judged = !(leavesOut && laidOut(scope))
        if (purpose.isDefined && settled(scope))
          Finding(FindingKind.Ok, s"${reading(now)}. The last run ${purpose.get.text}.", None)
        else if (judged && AuditRules.needs(now, scope.boundOfLayout(scope.files.length)))
          needing(FindingKind.Recluster, scope, layout, now, scope.boundOfLayout)(n =>
            reads(now, scope.boundOfLayout(n), s"a layout by $all") + avoidable(scope))
        else well(scope, now, scope.boundOfLayout, layout)
    }
  }

  /**
   * The reason has the figure of as many files as the statement makes. It names a number of files where those
   * that a run would make of itself are too few to gain much.
   *
   * @param said
   *   the reason, by the number of files that there will be
   */
  private def needing(kind: FindingKind, scope: Scope, fix: Fix.Cluster, now: Double, least: Int => Double)(
      said: Int => String): Finding = {
    val has = scope.files.length
    val taken = if (fix.worst) scope.avoidable else scope.files
    val made = runs.of(taken).map(has - taken.length + _)
    made match {
      case Some(n) if !AuditRules.needs(now, least(n)) =>
        Finding(kind, said, has, Some(fix.copy(fileCount = Some(taken.length))))
      case _ => Finding(kind, said, made.getOrElse(has), Some(fix))
    }
  }

  private def reading(now: Double): String = AuditRules.reading(names, now)

  private def reads(now: Double, least: Double, layout: String): String =
    s"${reading(now)}, and $layout can bring it to ${percent(least)}."

  private def size(files: IndexedSeq[AuditedFile]): String = bytes(files.map(_.file.length).sum)

  private def avoidable(scope: Scope): String = {
    val some = count(scope.avoidable.length.toLong, "file")
    val these =
      if (!worst(scope)) ""
      else s" The statement takes just these, ${size(scope.avoidable)} of ${bytes(scope.bytes)}."
    s" $some of ${scope.files.length} cause four fifths of the unnecessary reads.$these"
  }

  /**
   * What is said of files that are as good as so many files can be.
   *
   * @param least
   *   the least that look-ups read, by the number of files
   * @param order
   *   what makes more files of them
   */
  private def well(scope: Scope, now: Double, least: Int => Double, order: Fix.Cluster): Finding =
    tooFew(scope, now, least, order).getOrElse {
      val good = AuditRules.good(names, now, least(scope.files.length))
      if (mayIndex && scope.files.length >= AuditRules.FilesForIndex) Finding(
        FindingKind.Ok,
        s"$good An index spares each query the footers of the ${scope.files.length} files.",
        Some(Fix.Index))
      else Finding(FindingKind.Ok, good, None)
    }

  /** Most of the rows are read whatever their order, and more files would change that. */
  private def tooFew(
      scope: Scope,
      now: Double,
      least: Int => Double,
      order: Fix.Cluster): Option[Finding] = {
    val has = scope.files.length
    val few = s"${reading(now)}: ${count(has.toLong, "file")} ${if (has == 1) "is" else "are"} too few."
    def pays(files: Int): Boolean = files > has && AuditRules.needs(now, least(files))
    if (now <= AuditRules.Most || past.purpose(scope.partition).isDefined) None
    else runs.of(scope.files) match {
      case Some(n) if pays(n) =>
        val fix = order.copy(options = Nil, full = laidOut(scope), worst = false, fileCount = Some(n))
        Some(Finding(
          FindingKind.TooFewFiles,
          s"$few With $n files it can be about ${percent(least(n))}.",
          Some(fix)))
      case None if pays(runs.small(scope.rows)) =>
        val n = runs.small(scope.rows)
        val each = if (runs.partitions > 1) ", which is per partition," else ""
        Some(Finding(
          FindingKind.TooSmall,
          s"$few It is small (${size(scope.files)}), so a run leaves it alone: WITH (fileCount = $n)$each could " +
            s"bring it to about ${percent(least(n))}.",
          None))
      case _ => None
    }
  }
}

private[audit] object AuditRules {
  private[audit] val Half = 0.5
  private val FilesForIndex = 100

  /** Files that are read more have no use for look-ups; four files by two columns are read less. */
  private val Most = 0.6

  /** Fewer files than these cannot be cut by two columns. */
  private val FewestWorst = 4

  /** More than this times the least, and by so much of the rows, is worth a rewrite. */
  private val Times = 1.5
  private val Step = 0.05

  private[audit] def reading(names: Seq[String], now: Double): String =
    s"Looking up one value of ${names.mkString(", ")} reads ${percent(now)} of the rows on average"

  /** What is said of files that need nothing. Where less than the bound is read, the bound is not shown. */
  private[audit] def good(names: Seq[String], now: Double, least: Double): String = {
    val jointly = if (names.length == 1) "" else " for them together"
    reading(names, now) + Reads.unlessBeaten(least, now).fold(
      ", less than any layout could if the columns did not go together.") { bound =>
      if (percent(bound) == percent(now)) s", about the least possible$jointly."
      else s"; the least possible$jointly is about ${percent(bound)}."
    }
  }

  /** Whether a share is worth bringing down to the least. */
  def needs(now: Double, least: Double): Boolean =
    Rounded(now) > Times * Rounded(least) && Rounded(now) - Rounded(least) >= Step
}

/**
 * How many files a run makes, if no option of a statement says it.
 *
 * @param bytes
 *   of all partitions
 */
final private[audit] class FilesOfRun(bytes: Long, val partitions: Int, options: RunOptions) {

  /** The number of files of a run on these files of one partition; None if they are too small for a run. */
  def of(files: IndexedSeq[AuditedFile]): Option[Int] = {
    val (size, rows) = (files.map(_.file.length).sum, files.map(_.whole.rows).sum)
    if (FilePlan.leavesAlone(size, bytes, rows, options)) None
    else Some(FileCount.of(size, FileCount.target(bytes, options.targetFileSize), options, rows))
  }

  /** To propose for a partition that is too small. */
  def small(rows: Long): Int = math.min(FilePlan.proposed(partitions).toLong, rows).toInt
}

/** What is said of the whole table, from what is said of its partitions. */
private[audit] object TableFinding {

  /** A condition with more partitions is none that people read. */
  private val MostNamed = 20

  /** @return the finding, and the partitions that its statement is about; none for all */
  def of(
      name: String,
      columns: Seq[String],
      findings: IndexedSeq[(Scope, Finding)]): (Finding, Seq[String]) = findings match {
    case IndexedSeq() => (Finding(FindingKind.Ok, s"$name has no rows.", None), Nil)
    case IndexedSeq((_, only)) => (only, Nil)
    case _ =>
      val kinds = findings.map(_._2.kind).distinct.sortBy(_.severity)
      val worst = kinds.find(k => k != FindingKind.TooSmall || mostRows(findings)).getOrElse(FindingKind.Ok)
      if (worst == FindingKind.Ok) (well(columns, findings), Nil)
      else {
        val same = findings.filter(_._2.kind == worst)
        val (scope, finding) = same.maxBy { case (s, _) => (s.totalExcess, s.rows) }
        val all = same.length > MostNamed ||
          findings.forall { case (s, f) => s.files.length < 2 || f.kind == worst }
        val (said, fix) = together(finding, same.map(_._2))
        val reason = s"${count(same.length.toLong, "partition")} of ${findings.length}: the worst is " +
          s"${scope.partition}. $said"
        (Finding(finding.kind, reason, fix), if (all) Nil else same.map(_._1.partition))
      }
  }

  /** Partitions that are too small hold more than half of the rows. */
  private def mostRows(findings: IndexedSeq[(Scope, Finding)]): Boolean = {
    val small = findings.filter(_._2.kind == FindingKind.TooSmall).map(_._1.rows).sum
    2 * small > findings.map(_._1.rows).sum
  }

  /**
   * The reason and the statement of the worst partition, for all of them: fileCount is that of each
   * partition, so they get their mean; and none if a run would begin with some of them without it.
   */
  private def together(worst: Finding, same: IndexedSeq[Finding]): (String, Option[Fix]) = worst.fix match {
    case Some(c: Fix.Cluster) if same.length > 1 =>
      val counts = same.flatMap(_.fix).collect { case f: Fix.Cluster => f.fileCount }.flatten
      if (counts.length < same.length) (worst.reason, Some(c.copy(fileCount = None)))
      else {
        val n = math.ceil(counts.sum.toDouble / counts.length).toInt
        (worst.says(n) + " fileCount is that of each partition.", Some(c.copy(fileCount = Some(n))))
      }
    case fix => (worst.reason, fix)
  }

  private def well(columns: Seq[String], findings: IndexedSeq[(Scope, Finding)]): Finding = {
    val index = findings.map(_._2).flatMap(_.fix).find(_ == Fix.Index)
    val several = findings.map(_._1).filter(_.files.length > 1)
    val reads =
      several.map(_.fileLevel.joint.reads).reduceOption(_ ++ _).filter(_ =>
        several.exists(s =>
          columns.indices.exists(s.counts)))
    val reason = reads.fold(s"None of its ${findings.length} partitions has anything to skip.") { r =>
      s"Its ${findings.length} partitions are in order. ${AuditRules.good(columns, r.lookUp, r.lookUpBound)}"
    }
    Finding(FindingKind.Ok, reason, index)
  }
}

/** What an audit says of a table or of a partition of it. */
sealed abstract private[audit] class FindingKind(val text: String) {

  /** The rank of the kind: if partitions differ, the table has the kind of the lowest rank. */
  def severity: Int = FindingKind.bySeverity.indexOf(this)

  /** Whether another order of the rows mends it. */
  def isMendedByOrder: Boolean =
    this != FindingKind.Ok && this != FindingKind.TooFewFiles && this != FindingKind.TooSmall
}

private[audit] object FindingKind {
  case object WrongColumns extends FindingKind("WRONG COLUMNS")
  case object NoStatistics extends FindingKind("NO STATISTICS")
  case object UseSort extends FindingKind("USE SORT")
  case object Recluster extends FindingKind("RECLUSTER")
  case object TooFewFiles extends FindingKind("TOO FEW FILES")
  case object TooSmall extends FindingKind("TOO SMALL")
  case object Ok extends FindingKind("OK")

  private val bySeverity =
    IndexedSeq(WrongColumns, NoStatistics, UseSort, Recluster, TooFewFiles, TooSmall, Ok)
}

/**
 * @param says
 *   the reason, by the number of files that there will be
 * @param files
 *   that number
 * @param fix
 *   what to run, if anything helps
 */
final private[audit] case class Finding(
    kind: FindingKind,
    says: Int => String,
    files: Int,
    fix: Option[Fix]) {
  def reason: String = says(files)
}

private[audit] object Finding {

  /** The reason is the same for any number of files. */
  def apply(kind: FindingKind, reason: String, fix: Option[Fix]): Finding =
    Finding(kind, _ => reason, 0, fix)
}

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
   * @param fileCount
   *   files to make of each partition, where a run would not choose these
   */
  final case class Cluster(
      columns: Seq[String],
      curve: Option[String] = None,
      options: Seq[(String, String)] = Nil,
      full: Boolean = false,
      worst: Boolean = false,
      fileCount: Option[Int] = None) extends Fix
  case object Index extends Fix
}
