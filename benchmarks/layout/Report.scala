package sparkzorder.bench.layout

import scala.io.Source

import sparkzorder.curve.experiment.{Case, Workload}

/** The figures as Markdown. */
object Report {

  def markdown(
      rows: Int,
      seed: Long,
      sample: Int,
      queries: Int,
      cases: Seq[(Int, Seq[Case])],
      targets: Seq[Target]): String = {
    val head =
      s"""# Layouts beside the bound
        |
        |What part of the rows later queries read: $rows rows, trees learned from $sample sampled rows
        |and a log of $queries queries, judged by $queries other queries of the same kind.
        |`make bench-layout` writes this page. Seed $seed; the margins of the choice without a log were set on the
        |seeds 1001 and 2002 with 300,000 rows.
        |
        |$machine
        |
        |## Targets
        |
        || figure | found | at most | |
        ||---|---:|---:|---|
        |""".stripMargin
    head + targets.map(target).mkString + "\n" + legend + cases.map { case (files, all) =>
      section(files, all)
    }.mkString
  }

  /** A case as a row of the table: shares in percent. */
  def row(c: Case): String = {
    val shares = Case.layouts.map(l => f"${100 * c.shares(l)}%.2f").mkString(" | ")
    val bound = if (c.data.name == "correlated" && c.kind != "rep") "-" else f"${100 * c.bound}%.2f"
    val chosen = s"${c.chosenWithoutLog} | ${c.chosen}"
    s"| ${c.data.name} | ${c.data.columns} | ${c.kind} | $bound | $shares | $chosen |"
  }

  private def target(t: Target): String =
    f"| ${t.what} | ${t.figure}%.3f | ${t.most}%.2f | ${if (t.reached) "reached" else "**missed**"} |%n"

  private val legend: String =
    """Queries: eqU look-up in a random column; rgU 1 % of a random column; box 10 % of every column;
      |eqW look-up with unequal columns; mix ranges and look-ups, mostly of the last column; rep 30 boxes that
      |come again. Layouts: lexical = a sort that begins with the best column; rawZ = interleaved bits of the
      |values (Iceberg, Hudi); deltaZ, deltaH = 1,000 range ids without duplicates along Z or Hilbert, files of
      |equal rows (Delta); zorder = the aligned Z-order; kd = k-d tree; slices, kdW, qd = slices,
      |query tree, literal tree, learned from the log; auto = the choice. The bound of rep is what
      |matches, at least one file; correlated columns have none.
      |""".stripMargin

  private def section(files: Int, cases: Seq[Case]): String = {
    val names = Case.layouts.mkString(" | ")
    val lines = Case.layouts.map(_ => "---:").mkString("|")
    val groups = Seq(
      "all kinds" -> Workload.kinds,
      "eqU, rgU, box" -> Workload.even,
      "eqW, mix" -> Seq("eqW", "mix"),
      "rep" -> Seq("rep"))
    s"\n## $files files: rows read, in percent\n\n" +
      s"| data | columns | query | bound | $names | chosen without log | chosen |\n" +
      s"|---|---:|---|---:|$lines|---|---|\n" + cases.map(row(_) + "\n").mkString +
      s"\n## $files files: geometric means\n\n| | $names |\n|---|$lines|\n" +
      groups.map { case (label, kinds) =>
        means(s"beside deltaZ, $label", cases.filter(c => kinds.contains(c.kind)), _.shares("deltaZ"))
      }.mkString +
      means("times the bound, independent columns", cases.filter(_.bounded), _.bound)
  }

  private def means(label: String, cases: Seq[Case], by: Case => Double): String = {
    val figures = Case.layouts.map(l => f"${Case.geometricMean(cases.map(c => c.shares(l) / by(c)))}%.3f")
    s"| $label | ${figures.mkString(" | ")} |\n"
  }

  private def machine: String = {
    val cpu =
      try {
        val source = Source.fromFile("/proc/cpuinfo")
        try source.getLines().collectFirst { case l if l.startsWith("model name") => l.split(":")(1).trim }
        finally source.close()
      } catch { case _: java.io.IOException => None }
    s"${cpu.getOrElse(sys.props("os.arch"))}, one thread, Java ${sys.props("java.version")}, " +
      s"Scala ${scala.util.Properties.versionNumberString}."
  }
}
