package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/** What a proposal comes down to. */
sealed abstract class Verdict(val name: String)

object Verdict {
  case object LeaveIt extends Verdict("LEAVE IT")
  case object Cluster extends Verdict("CLUSTER")
  case object Sort extends Verdict("SORT")
  case object BloomFilter extends Verdict("BLOOM FILTER")
  case object Partition extends Verdict("PARTITION")
  case object KeepPartitioning extends Verdict("KEEP PARTITIONING")
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
    verdict: Verdict,
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
    verdict.name,
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
