package sparkzorder.curve.experiment

import java.util.Locale

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.mark.LongTest

/**
 * The smaller part of `make bench-layout`: the same data, queries and layouts with fewer rows. Data and seeds
 * are fixed, so the shares are expected to the last digit that is written, in percent.
 */
@LongTest
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

  test("shares of the rows read, in percent: Delta's Z, aligned Z, chosen without a log, chosen with one") {
    val layouts = Seq("deltaZ", "zorder", "auto, no log", "auto")
    val found = for ((key, cases) <- all.toSeq.sortBy(_._1); c <- cases) yield {
      val shares = layouts.map(l => "%.2f".formatLocal(Locale.ROOT, 100 * c.shares(l)))
      s"${key._1} ${key._2} ${c.kind}: ${shares.mkString(" ")}"
    }
    assert(found.mkString("\n") === expected)
  }

  private def expected: String =
    """mixed 2 eqU: 51.05 12.82 12.82 12.82
      |mixed 2 rgU: 53.95 13.84 13.84 13.84
      |mixed 2 box: 12.08 5.00 5.00 5.00
      |mixed 2 eqW: 18.21 11.79 11.79 9.63
      |mixed 2 mix: 10.82 9.14 9.14 7.36
      |mixed 2 rep: 9.35 6.09 6.09 3.36
      |mixed 3 eqU: 52.23 25.15 25.15 25.15
      |mixed 3 rgU: 50.72 25.64 25.64 25.64
      |mixed 3 box: 10.70 3.86 3.86 3.86
      |mixed 3 eqW: 43.01 25.38 25.38 18.42
      |mixed 3 mix: 45.75 19.77 19.77 12.84
      |mixed 3 rep: 19.02 11.98 11.98 5.45
      |uniform 2 eqU: 20.75 12.45 12.45 12.45
      |uniform 2 rgU: 21.17 13.40 13.40 13.40
      |uniform 2 box: 9.31 5.05 5.05 5.05
      |uniform 2 eqW: 23.18 12.50 12.50 9.43
      |uniform 2 mix: 17.72 9.64 9.64 6.86
      |uniform 2 rep: 8.16 5.12 5.12 2.79
      |uniform 3 eqU: 38.11 24.89 24.89 24.89
      |uniform 3 rgU: 39.70 25.36 25.36 25.36
      |uniform 3 box: 10.58 3.83 3.83 3.83
      |uniform 3 eqW: 44.99 24.92 24.92 18.07
      |uniform 3 mix: 36.64 19.58 19.58 11.88
      |uniform 3 rep: 22.24 10.03 10.03 4.64""".stripMargin

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

  test("other seeds, 50 files of three columns, no log: never more than 2 % above the aligned Z-order") {
    for (seed <- Seq(101L, 202L); name <- Seq("uniform", "zipf", "mixed")) {
      val experiment = new Experiment(DataSet(name, 3, Rows, seed), 50, 10000, 100, seed)
      experiment.unlogged().foreach { c =>
        assert(c.shares("auto, no log") <= 1.02 * c.shares("zorder"), s"${c.table} ${c.kind}, seed $seed")
        assert(c.best <= c.besideDelta("auto, no log"))
      }
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
