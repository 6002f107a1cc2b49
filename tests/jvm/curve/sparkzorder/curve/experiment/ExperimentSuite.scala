package sparkzorder.curve.experiment

import org.scalatest.funsuite.AnyFunSuite

/**
 * The smaller part of `make bench-layout`: the same data, queries and layouts with fewer rows. Data and seeds
 * are fixed, so the shares are expected to the last digit that is written, in percent.
 */
class ExperimentSuite extends AnyFunSuite {
  private val Rows = 100000
  private val Files = 64

  private def cases(name: String, columns: Int): Seq[Case] = {
    val experiment = new Experiment(DataSet(name, columns, Rows), Files, 20000, 200)
    Workload.kinds.map(experiment.run)
  }

  private lazy val all: Map[(String, Int), Seq[Case]] =
    (for (name <- Seq("uniform", "mixed"); columns <- Seq(2, 3))
      yield (name, columns) -> cases(name, columns)).toMap

  private def mean(cases: Seq[Case], layout: String, by: Case => Double): Double =
    Case.geometricMean(cases.map(c => c.shares(layout) / by(c)))

  test("shares of the rows read") {
    val found =
      for ((key, cases) <- all.toSeq.sortBy(_._1); c <- cases) yield f"${key._1} ${key._2} ${c.kind}: " +
        Seq("deltaZ", "zorder", "auto, no log", "auto").map(l => f"${100 * c.shares(l)}%.2f").mkString(" ")
    found.foreach(info(_))
  }

  test("independent columns: no log <= 1.10 x the bound, with a log <= 1.08 x") {
    val bounded = all.values.flatten.filter(_.bounded).toSeq
    val even = bounded.filter(c => Workload.even.contains(c.kind))
    assert(mean(even, "auto, no log", _.bound) <= 1.10)
    assert(mean(bounded, "auto", _.bound) <= 1.08)
  }

  test("beside Delta's Z: half without a log where all columns count the same, 0.42 with one") {
    val cases = all.values.flatten.toSeq
    val even = cases.filter(c => Workload.even.contains(c.kind))
    assert(mean(even, "auto, no log", _.shares("deltaZ")) <= 0.50)
    assert(mean(cases, "auto", _.shares("deltaZ")) <= 0.42)
  }

  test("never more than 2 % above the aligned Z-order") {
    all.values.flatten.foreach { c =>
      for (layout <- Seq("auto, no log", "auto"))
        assert(c.shares(layout) <= 1.02 * c.shares("zorder"), s"${c.data.name} ${c.data.columns} ${c.kind}")
    }
  }

  test("pages of two columns: <= 1.3 x the bound without a log, and with one where columns are unequal") {
    val experiment = new Experiment(DataSet("uniform", 2, Rows), Files, 20000, 200)
    for ((kind, logged) <- Workload.even.map(_ -> false) ++ Seq("eqW" -> true, "mix" -> true)) {
      val (share, bound) = experiment.pages(kind, logged)
      info(f"$kind: ${share / bound}%.3f x the bound")
      assert(share <= 1.3 * bound, kind)
    }
  }
}
