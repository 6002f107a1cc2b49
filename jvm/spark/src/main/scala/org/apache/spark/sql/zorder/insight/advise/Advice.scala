package org.apache.spark.sql.zorder.insight.advise

import java.util.Locale

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
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
}

/**
 * Shares of the table that queries read, mean over the queries by their weights, at the level of files.
 *
 * @param now
 *   of the files as they are
 * @param expected
 *   of the files that the proposal makes
 * @param sorted
 *   of the files that the best plain sort would make
 * @param bound
 *   the least that any layout of this many files could read if the columns were independent
 * @param gain
 *   the part of what is read now that need not be read any more, files and pages alike, as `minGain` counts it
 */
final case class AdviceShares(now: Double, expected: Double, sorted: Double, bound: Double, gain: Double) {

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
 *   by how much the queries that ask nothing of the last column read a larger share than without it
 * @param statement
 *   what to run
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
    shares.map(s => Double.box(s.sorted)).orNull,
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
    s"Clustered by ${columns.mkString(", ")}, a query reads ${read(shares)}, and ${HumanReadable.share(shares.sorted)} after " +
      s"the best plain sort$loss$basis."
  }

  def sort(columns: Seq[String], shares: AdviceShares, basis: String): String =
    if (columns.size == 1) s"Sorted by ${columns.head} alone, a query reads ${read(shares)}$basis."
    else
      s"Sorted by ${columns.mkString(", ")}, a query reads ${read(shares)}, no more than along any curve$basis."

  def noGain(best: AdviceShares, least: Double): String =
    s"The mean share read would fall by ${HumanReadable.percent(best.gain)} only, less than minGain = ${HumanReadable.percent(least)}: " +
      s"a query reads ${read(best)}."

  def inLayout(now: Double, bound: Double, files: Int): String =
    s"A query reads ${HumanReadable.share(now)} of the files as they are, and the bound for ${HumanReadable.count(files.toLong, "file")} " +
      s"is ${HumanReadable.share(bound)}."

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

  /** What the first proposal ends with: where its figures come from, and which columns are not in it. */
  def basis(
      partition: Option[String],
      hasLog: Boolean,
      withoutBits: Seq[String],
      passedOver: Seq[String]): String =
    Seq(
      partition.map(p => s"judged by the largest partition, $p"),
      if (hasLog) None else Some("without a query log each column counts the same"),
      listed(withoutBits, "gains nothing beside them", "gain nothing beside them"),
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
    s"${HumanReadable.share(s.expected)}$times of the files instead of ${HumanReadable.share(s.now)}"
  }
}

/** The statements that carry an advice out. */
private[advise] object Statements {

  /** Views that the Python package makes for one call, and drops. */
  private val PassingViews = "zorder_queries_"

  /**
   * @param log
   *   the queries to lay out for
   * @param options
   *   more for `WITH (...)`
   */
  def zorder(
      target: TableRef,
      columns: Seq[String],
      lexical: Boolean,
      log: Option[String],
      options: (String, String)*): String = {
    val curve = if (lexical) " USING CURVE lexical" else ""
    val all = log.filterNot(_.startsWith(PassingViews)).map("queryLog" -> _).toSeq ++ options
    val pairs = all.map { case (name, value) => s"$name = ${literal(value)}" }
    val settings = if (pairs.isEmpty) "" else pairs.mkString(" WITH (", ", ", ")")
    s"ZORDER TABLE ${target.sql} BY ${columns.mkString("(", ", ", ")")}$curve$settings"
  }

  private def literal(text: String): String = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
}
