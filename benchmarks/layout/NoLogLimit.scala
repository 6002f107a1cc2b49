package sparkzorder.bench.layout

import sparkzorder.curve.experiment.{Case, Unlogged}

/**
 * How much less could be read without a log if layouts were chosen better: beside the choice, the best layout
 * of each table and of each case, picked with hindsight by the queries that judge it. Layouts that were
 * learned for the kinds of queries, with columns and literals preferred alike, are among them.
 *
 *     tools/sbt.sh "bench_layout/runMain sparkzorder.bench.layout.NoLogLimit 300000"
 */
object NoLogLimit {

  /** @param args rows of a data set, 300,000 if not given; seed, that of `LayoutBench` if not given */
  def main(args: Array[String]): Unit = {
    val rows = args.lift(0).fold(300000)(_.toInt)
    val seed = args.lift(1).fold(0L)(_.toLong)
    println(s"Rows read beside Delta's Z: geometric means of all kinds, $rows rows, seed $seed")
    Seq(256, 200).foreach(files =>
      print(files, LayoutBench.experiments(rows, files, seed).flatMap(_.unlogged())))
  }

  private def print(files: Int, cases: Iterator[Unlogged]): Unit = {
    val all = cases.toVector
    val byTable = all.groupBy(_.table).values.toVector
    def mean(of: Seq[Double]) = f"${Case.geometricMean(of)}%.3f"
    Unlogged.general.foreach(n => println(s"$files files, $n: ${mean(all.map(_.besideDelta(n)))}"))
    val perTable =
      byTable.map(t => Unlogged.general.map(n => Case.geometricMean(t.map(_.besideDelta(n)))).min)
    println(s"$files files, best of each table with hindsight: ${mean(perTable)}")
    println(s"$files files, best of each case with hindsight: ${mean(all.map(_.best))}")
  }
}
