package org.apache.spark.sql.zorder.advise

import java.util.Locale

import org.apache.spark.sql.zorder.run.report.HumanReadable

/** One sentence for each proposal. */
private[advise] object Reasons {

  /**
   * @param basis
   *   on what it was judged, if there is something to say
   */
  def cluster(columns: Seq[String], shares: AdviceShares, lossByLast: Double, basis: String): String = {
    val loss =
      if (columns.size < 2 || lossByLast < Worthwhile) ""
      else s"; ${columns.last} costs the queries that do not ask of it ${HumanReadable.share(lossByLast)}"
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
