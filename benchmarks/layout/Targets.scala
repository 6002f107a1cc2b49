package sparkzorder.bench.layout

import sparkzorder.curve.experiment.{Case, Workload}

/** A figure that the layouts have to reach. */
final case class Target(what: String, figure: Double, most: Double) {
  def reached: Boolean = figure <= most
}

object Targets {

  /** Of the cases at one number of files. */
  def of(files: Int, cases: Seq[Case]): Seq[Target] = {
    val bounded = cases.filter(_.bounded)
    val even = cases.filter(c => Workload.even.contains(c.kind))
    Seq(
      Target(
        s"$files files, independent columns, no log: times the bound",
        timesBound(bounded.filter(even.contains), NoLog),
        1.10),
      Target(
        s"$files files, independent columns, with a log: times the bound",
        timesBound(bounded, Log),
        1.08),
      Target(
        s"$files files, no log, beside Delta's Z: kinds that ask all columns alike",
        besideDelta(even, NoLog),
        0.50),
      Target(s"$files files, no log, beside Delta's Z: all kinds", besideDelta(cases, NoLog), 0.50),
      Target(s"$files files, with a log, beside Delta's Z: all kinds", besideDelta(cases, Log), 0.40),
      Target(s"$files files, no log, worst case beside aligned Z", worst(cases, NoLog), 1.02),
      Target(s"$files files, with a log, worst case beside aligned Z", worst(cases, Log), 1.02))
  }

  private val NoLog = "auto, no log"
  private val Log = "auto"

  private def timesBound(cases: Seq[Case], layout: String): Double =
    if (cases.isEmpty) 1.0 else Case.geometricMean(cases.map(c => c.shares(layout) / c.bound))

  private def besideDelta(cases: Seq[Case], layout: String): Double =
    Case.geometricMean(cases.map(c => c.shares(layout) / c.shares("deltaZ")))

  private def worst(cases: Seq[Case], layout: String): Double =
    cases.map(c => c.shares(layout) / c.shares("zorder")).max
}
