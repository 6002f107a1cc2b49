package org.apache.spark.sql.zorder.insight.advise

import java.util.Locale

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.ClusterRequest
import org.apache.spark.sql.zorder.table.TableRef

/** What a proposal comes down to. */
sealed abstract class Recommendation(val name: String)

object Recommendation {
  case object LeaveIt extends Recommendation("LEAVE IT")
  case object Cluster extends Recommendation("CLUSTER")
  case object Sort extends Recommendation("SORT")
  case object BloomFilter extends Recommendation("BLOOM FILTER")
  case object Partition extends Recommendation("PARTITION")
  case object KeepPartitioning extends Recommendation("KEEP PARTITIONING")

  /** No proposal: what one column is worth, where nothing says which columns are asked for. */
  case object Column extends Recommendation("COLUMN")
}

/**
 * Shares of the table that queries read, mean over the queries by their weights, at the level of files.
 *
 * @param now
 *   of the files as they are
 * @param expected
 *   of the files that the proposal makes
 * @param sorted
 *   of the files that the best plain sort would make; None where no proposal was fitted
 * @param bound
 *   the least that any layout of this many files could read if the columns were independent
 * @param gain
 *   the part of what is read now that need not be read any more, files and pages alike, as `minGain` counts
 *   it: the proposals are ranked by it
 * @param pages
 *   what is read of the pages, now and as expected; None where a file is a page
 */
final case class AdviceShares(
    now: Double,
    expected: Double,
    sorted: Option[Double],
    bound: Double,
    gain: Double,
    pages: Option[(Double, Double)] = None) {

  /** How often the bound goes into what is expected. */
  def timesBound: Option[Double] = if (bound > 0.0) Some(expected / bound) else None
}

/**
 * One proposal.
 *
 * @param layout
 *   the builder of the layout, where the files are to be cut
 * @param bits
 *   per column, how often its values are halved on the way to a file
 * @param files
 *   number of files of the table afterwards
 * @param lossByLast
 *   by how much the queries that ask nothing of the last column read a larger share than without it; None if
 *   the statement names another one last
 * @param statement
 *   what to run to get these figures; None if no statement does
 */
final case class Advice(
    recommendation: Recommendation,
    reason: String,
    columns: Seq[String] = Nil,
    layout: Option[String] = None,
    bits: Seq[Double] = Nil,
    files: Option[Int] = None,
    shares: Option[AdviceShares] = None,
    lossByLast: Option[Double] = None,
    statement: Option[String] = None) {

  /** @param rank 1 for the best */
  def row(rank: Int): Row = Row(
    rank,
    recommendation.name,
    columns,
    layout.orNull,
    bits,
    files.map(Int.box).orNull,
    shares.map(s => Double.box(s.now)).orNull,
    shares.map(s => Double.box(s.expected)).orNull,
    shares.flatMap(_.sorted).map(Double.box).orNull,
    shares.map(s => Double.box(s.bound)).orNull,
    shares.flatMap(_.timesBound).map(Double.box).orNull,
    shares.map(s => Double.box(s.gain)).orNull,
    lossByLast.map(Double.box).orNull,
    statement.orNull,
    reason
  )
}

object Advice {

  /** The rows of `clustering_advice`, in the order of [[Advice.row]]. */
  val schema: StructType = new StructType()
    .add("rank", IntegerType)
    .add("verdict", StringType)
    .add("columns", ArrayType(StringType))
    .add("layout", StringType)
    .add("bits", ArrayType(DoubleType))
    .add("files", IntegerType)
    .add("share_now", DoubleType)
    .add("share_expected", DoubleType)
    .add("share_sorted", DoubleType)
    .add("share_bound", DoubleType)
    .add("x_bound", DoubleType)
    .add("gain", DoubleType)
    .add("loss_by_last_column", DoubleType)
    .add("statement", StringType)
    .add("reason", StringType)
}

/** One sentence for each proposal. */
private[advise] object Reasons {

  /**
   * @param basis
   *   on what it was judged, if there is something to say
   */
  def cluster(columns: Seq[String], shares: AdviceShares, lossByLast: Double, basis: String): String = {
    val loss =
      if (columns.size < 2 || lossByLast < Worthwhile) ""
      else s"; ${columns.last} costs the queries that do not filter by it ${HumanReadable.share(lossByLast)}"
    val sorted =
      shares.sorted.fold("")(s => s", and ${HumanReadable.share(s)} of the files after the best plain sort")
    s"Clustered by ${columns.mkString(", ")}, a query reads ${read(shares)}$sorted$loss$basis."
  }

  def sort(columns: Seq[String], shares: AdviceShares, basis: String): String =
    if (columns.size == 1) s"Sorted by ${columns.head} alone, a query reads ${read(shares)}$basis."
    else
      s"Sorted by ${columns.mkString(", ")}, a query reads ${read(shares)}, no more than along any curve$basis."

  def noGain(best: AdviceShares, least: Double): String = {
    val change =
      if (best.gain < 0) s"rise by ${HumanReadable.percent(-best.gain)}"
      else
        s"fall by ${HumanReadable.percent(best.gain)} only, less than minGain = ${HumanReadable.percent(least)}"
    s"The mean share read would $change: a query reads ${read(best)}."
  }

  def inLayout(now: Double, bound: Double, files: Int): String =
    s"A query reads ${HumanReadable.share(now)} of the files as they are, and the bound for ${HumanReadable.count(files.toLong, "file")} " +
      s"is ${HumanReadable.share(bound)}."

  def laidOut(by: Seq[String], target: TableRef): String =
    s"The table is clustered by ${by.mkString(", ")}, and without a query log nothing says that other columns are asked " +
      "for more. ZORDER LOG START collects one; advice with it compares layouts. Until then " +
      s"ZORDER TABLE ${target.sql} takes in the files that came later."

  /** @param sorted after a sort by this column alone */
  def column(name: String, now: Double, sorted: Double): String =
    s"Look-ups and short ranges of $name read ${HumanReadable.share(now)} of the files now, and " +
      s"${HumanReadable.share(sorted)} if the table were sorted by $name alone."

  /** @param inOrder columns in whose order the files lie now */
  def losesOrder(inOrder: Seq[String]): Option[String] =
    if (inOrder.isEmpty) None
    else Some(
      s"the files lie in the order of ${inOrder.take(Named).mkString(", ")} now, which this gives up: joins by " +
        (if (inOrder.size == 1) "it" else "them") + " find less together")

  /** How to run what was fitted to queries that no statement can name. */
  def withTheSameQueries(columns: Seq[String], full: Boolean, options: (String, String)*): String = {
    def quoted(text: String): String = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
    val set = (if (full) ".full()" else "") +
      options.map { case (name, value) => s".option(${quoted(name)}, ${quoted(value)})" }.mkString
    " Only a run with the same queries gives this: " +
      s"optimize()$set.queries(queries).executeZOrderBy(${columns.map(quoted).mkString(", ")}), or save " +
      "them as a table, and name it to the advice and in the statement."
  }

  val nothingToClusterBy: String =
    "No column that is asked for has statistics and more than one value: there is nothing to cluster by."

  def bloom(column: String, asked: Double): String =
    s"$column tells nearly every row from the others and is only looked up by single values (${HumanReadable.percent(asked)} of the " +
      "queries): a Bloom filter answers these and takes nothing from the other columns, whose figures leave them out."

  def partition(column: String, values: Int, asked: Double): String =
    s"${HumanReadable.percent(asked)} of the queries ask for $column, which has ${HumanReadable.count(values.toLong, "value")} with more than a file " +
      "of rows each: written again with PARTITIONED BY, these queries would not even list the other files."

  def keepPartitioning(column: String, asked: Double): String =
    s"${HumanReadable.percent(asked)} of the queries ask for the partition column $column: leave the partitions and cluster inside them."

  /**
   * What the first proposal ends with: where its figures come from, and which columns are not in it.
   *
   * @param fewerFiles
   *   with how many files it was judged, if not with all
   */
  def basis(
      partition: Option[String],
      fewerFiles: Option[Int],
      hasLog: Boolean,
      unused: Seq[String],
      withoutBits: Seq[String],
      freeText: Seq[String],
      passedOver: Seq[String]): String =
    Seq(
      partition.map(p => s"judged by the largest partition, $p"),
      fewerFiles.map(n =>
        s"judged with ${HumanReadable.count(n.toLong, "file")} only, since the sample has rows for no more: with all of them, " +
          "a query reads less"),
      if (hasLog) None else Some("without a query log each column counts the same"),
      listed(unused, "gains nothing beside them", "gain nothing beside them"),
      listed(withoutBits, "would not cut files beside them", "would not cut files beside them"),
      listed(freeText, "is free text or a long id", "are free text or long ids"),
      listed(passedOver, "has one value or no statistics", "have one value or no statistics")
    ).flatten.map("; " + _).mkString

  private def listed(names: Seq[String], one: String, many: String): Option[String] =
    if (names.isEmpty) None
    else {
      val more = if (names.size > Named) s" and ${names.size - Named} more" else ""
      Some(s"${names.take(Named).mkString(", ")}$more ${if (names.size == 1) one else many}")
    }

  private val Named = 8
  private val Worthwhile = 0.0005

  private def read(s: AdviceShares): String = {
    val times = s.timesBound.fold("")(x => String.format(Locale.ROOT, " (%.2f x the bound)", Double.box(x)))
    val pages = s.pages.fold("") { case (now, expected) =>
      s" and ${HumanReadable.share(expected)} of the pages instead of ${HumanReadable.share(now)}"
    }
    s"${HumanReadable.share(s.expected)}$times of the files instead of ${HumanReadable.share(s.now)}$pages"
  }
}

/** The statements that carry an advice out. */
private[advise] object Statements {

  /** Whether a log is a view that the Python package makes for one call, and drops. */
  def isPassing(log: String): Boolean = log.matches("zorder_queries_[0-9a-f]{32}")

  /**
   * @param full
   *   whether it takes files that are in place already, or that the format keeps for another clusterer
   * @param log
   *   the queries to lay out for
   * @param options
   *   more for `WITH (...)`
   */
  def zorder(
      target: TableRef,
      full: Boolean,
      columns: Seq[String],
      lexical: Boolean,
      log: Option[String],
      options: (String, String)*): String = {
    val all = log.filterNot(isPassing).map("queryLog" -> _).toSeq ++ options
    val curve = if (lexical) Some("lexical") else None
    ClusterRequest.sql(target, full, "", columns, curve, all.map { case (k, v) => k -> TableRef.literal(v) })
  }
}
