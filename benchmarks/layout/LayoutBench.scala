package sparkzorder.bench.layout

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}

import sparkzorder.curve.build.{AlignedZ, AutoChoice, CurveRegistry, KdTrees, LayoutBuilder, Placed, Table}
import sparkzorder.curve.experiment.{Case, DataSet, Experiment, Workload}

/**
 * Lays every data set out in every way and writes what later queries read, beside the bound and beside
 * models of other formats, to a Markdown file. `make bench-layout` runs it; it takes about a quarter of an
 * hour.
 */
object LayoutBench {
  private val Sample = 51200
  private val Queries = 400

  /** @param args the file to write; rows of a data set, 1,000,000 if not given; another seed */
  def main(args: Array[String]): Unit = {
    val out = Paths.get(args(0))
    val rows = args.lift(1).fold(1000000)(_.toInt)
    val seed = args.lift(2).fold(0L)(_.toLong)
    val cases = Seq(256, 200).map(files => files -> allCases(experiments(rows, files, seed)))
    val pages = for (files <- Seq(256, 200); (kind, logged) <- pageKinds) yield {
      val (share, bound) =
        new Experiment(DataSet("uniform", 2, rows, seed), files, Sample, Queries, seed).pages(kind, logged)
      val log = if (logged) "with a log" else "no log"
      Target(s"$files files of 32 pages, two columns, $kind, $log: times the bound", share / bound, 1.10)
    }
    val targets = cases.flatMap { case (files, all) =>
      Targets.of(files, all)
    } ++ pages ++ clustered ++ fitTimes(rows)
    write(out, Report.markdown(rows, seed, Sample, Queries, cases, targets))
    println(s"$out: ${targets.count(_.reached)} of ${targets.size} targets reached")
  }

  /** Tables whose rows lie in clusters, or whose values are skewed. */
  private def clustered: Seq[Target] = {
    val zipf = Table("zipf 1.2, three columns", 300000)(Seq.fill(3)(Table.zipf(1.2)): _*)
    for (table <- Seq(1L, 2L).map(Table.towns(300000, _, 12)) :+ zipf; files <- Seq(64, 100)) yield {
      def read(builder: LayoutBuilder): Double = {
        val placed = Placed(table, files, builder, Sample)
        placed.shares(placed.fileStarts).sum
      }
      val beside = read(AlignedZ) / KdTrees.all.map(read).min
      Target(s"$files files, ${table.name}, look-ups, beside the best k-d tree", beside, 1.01)
    }
  }

  private val pageKinds = Workload.even.map(_ -> false) ++ Seq("eqW" -> true, "mix" -> true)

  /** Every data set; one at a time is held. */
  def experiments(rows: Int, files: Int, seed: Long): Iterator[Experiment] =
    for (name <- DataSet.names.iterator; columns <- Seq(2, 3, 4))
      yield new Experiment(DataSet(name, columns, rows, seed), files, Sample, Queries, seed)

  private def allCases(experiments: Iterator[Experiment]): Seq[Case] =
    experiments.flatMap { experiment =>
      Workload.kinds.map { kind =>
        val done = experiment.run(kind)
        println(Report.row(done))
        done
      }
    }.toVector

  /** Processor time of all threads, which hardly grows with other work: the median of fits on a warm JVM. */
  private def fitTimes(rows: Int): Seq[Target] = {
    val threads = ManagementFactory.getThreadMXBean
    def cpu: Long = threads.getAllThreadIds.map(threads.getThreadCpuTime(_)).filter(_ > 0).sum
    val experiment = new Experiment(DataSet("uniform", 4, math.min(rows, 200000)), 256, 50000, Queries)
    for (kind <- Seq("mix", "rep")) yield {
      val log = experiment.log(kind)
      val seconds = Seq.fill(9) {
        val start = cpu
        AutoChoice.fit(experiment.sample, log, 256, Experiment.PagesPerFile, CurveRegistry.Auto.builders(4))
        (cpu - start) / 1e9
      }
      Target(
        s"processor seconds to fit 50,000 rows, 400 queries ($kind), 4 columns, 256 files",
        seconds.drop(4).sorted.apply(2),
        2.0)
    }
  }

  private def write(out: Path, text: String): Unit = {
    Files.createDirectories(out.toAbsolutePath.getParent)
    Files.write(out, text.getBytes("UTF-8"))
    ()
  }
}
