package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.fit.{RankCorrelation, Sample, TruncatedBounds}
import org.apache.spark.sql.zorder.run.plan.{FileCount, FilePlan}
import org.apache.spark.sql.zorder.run.report.HumanReadable
import sparkzorder.curve.BytesWord
import sparkzorder.curve.build.Lexical
import sparkzorder.curve.cost.SortedWords
import sparkzorder.curve.layout.{BytesScale, CutTree}

/** Explains in one sentence why a rewrite gains too little; it begins with the cause if that is known. */
final private[run] class NoGain(forecast: Forecast, plan: FilePlan, fitted: FittedLayouts) {
  private val columns = forecast.tracked.clustering
  private val values: IndexedSeq[SortedWords] = forecast.gauge.values

  /** Without a full stop at its end. */
  def sentence(least: Double): String = {
    val change =
      if (forecast.gain < 0) s"more would be read than now, by ${HumanReadable.percent(-forecast.gain)}"
      else
        s"the mean share read would fall by ${HumanReadable.percent(forecast.gain)} only, less than minGain = " +
          HumanReadable.percent(least)
    val sentence = cause.fold(change)(c => s"$c: $change")
    s"${sentence.head.toUpper}${sentence.tail}"
  }

  /** The first cause that applies, as the beginning of a sentence. */
  private def cause: Option[String] =
    constant.orElse(withoutBounds).orElse(longValues).orElse(fewFiles).orElse(spoils)
      .orElse(correlated).orElse(plainSort).orElse(inLayout)

  private def eachColumn(cause: Int => Option[String]): Option[String] =
    columns.indices.iterator.map(cause).collectFirst { case Some(text) => text }

  private def constant: Option[String] = eachColumn { c =>
    val sorted = values(c)
    if (sorted.size == 0) Some(s"column ${columns(c).sql} holds NULL alone, so nothing can skip by it")
    else if (sorted(0) == sorted(sorted.size - 1))
      Some(s"column ${columns(c).sql} holds a single value, so nothing can skip by it")
    else None
  }

  private def withoutBounds: Option[String] = eachColumn { c =>
    if (forecast.tracked.bounded(c)) None
    else if (columns(c).path.isEmpty)
      Some(
        s"files keep no min and max of the expression ${columns(c).sql}, and those of its columns would rule " +
          "out little")
    else
      Some(s"files keep no min and max of ${columns(c).sql} that a look-up could use, for its type " +
        forecast.tracked.stored(c).fold("")(_.dataType.sql))
  }

  private def longValues: Option[String] = eachColumn { c =>
    if (values(c).size == 0) None
    else (values(c)(0), values(c)(values(c).size - 1)) match {
      case (BytesWord(low), BytesWord(high)) =>
        val shared = BytesScale.commonPrefix(low, high)
        if (low.length + high.length >= TruncatedBounds.ChunkBytes)
          Some(
            s"values of ${columns(c).sql} are longer than the statistics of a file keep (min and max have " +
              s"${TruncatedBounds.ChunkBytes} bytes together)")
        else if (shared >= TruncatedBounds.PageBytes)
          Some(
            s"values of ${columns(c).sql} share their first $shared bytes, and those of a page keep " +
              s"${TruncatedBounds.PageBytes}")
        else None
      case _ => None
    }
  }

  private def fewFiles: Option[String] = {
    val most = plan.partitions.map(_.files).max
    if (most >= FileCount.TooSmall) None
    else
      Some(s"${HumanReadable.count(most.toLong, "file")} leave${if (most == 1) "s" else ""} next to nothing to skip")
  }

  private def spoils: Option[String] =
    if (!forecast.logged || forecast.gain >= 0) None
    else Some("the queries of the log as a whole would get worse")

  private def correlated: Option[String] = columns.indices.combinations(2).map { pair =>
    (pair.head, pair.last, RankCorrelation.of(sample, pair.head, pair.last))
  }.collectFirst {
    case (a, b, rho) if math.abs(rho) > NoGain.SameOrder =>
      s"columns ${columns(a).sql} and ${columns(b).sql} rise and fall together (rank correlation " +
        s"${HumanReadable.share(rho)}), so clustering by one of them serves both"
  }

  private lazy val sample: Sample = Sample.concat(fitted.heldOut)

  private def plainSort: Option[String] = {
    val layout = fitted.first.layout
    Lexical.firstColumn(layout.curve).orElse(CutTree.onlyColumn(layout.tree)).filter(_ => isNear).map {
      first =>
        s"a plain sort by ${columns(first).sql} reads least, and the rows lie in about that order already"
    }
  }

  private def inLayout: Option[String] =
    if (isNear) Some("the files are as good as in layout already") else None

  private def isNear: Boolean = forecast.nowToBound < NoGain.Near
}

private[run] object NoGain {
  private val SameOrder = 0.95

  /** So much more than the bound is what layouts read. */
  private val Near = 1.3
}
