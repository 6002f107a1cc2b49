package sparkzorder.curve.experiment

import java.util.Random

import sparkzorder.curve.build.{
  AlignedZ,
  AutoChoice,
  Chosen,
  CurveRegistry,
  KdTree,
  Lexical,
  LiteralTree,
  Placed,
  QueryTree,
  SliceTree
}
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{RankQueries, WorkloadBound}
import sparkzorder.curve.layout.{CompiledLayout, CutTree, InFileOrder, LongScale, Scale, ScaleBuilder}
import sparkzorder.curve.page.PageTree

/**
 * One data set laid out in every way: what later queries of a kind read, in blocks of real rows.
 *
 * @param sampleRows
 *   rows that scales and trees are learned from
 * @param seed
 *   of the sample and the queries
 */
final class Experiment(
    val data: DataSet,
    files: Int,
    sampleRows: Int,
    queries: Int,
    seed: Long = 0L) {
  private[this] val random = new Random(11L + data.columns + seed)
  private[this] val sampled: Array[Int] = Array.fill(sampleRows)(random.nextInt(data.rows))
  private[this] val workload = new Workload(data, sampled, random)

  private[this] val scales: Array[LongScale] = data.values.map { column =>
    val values = sampled.map(column(_))
    java.util.Arrays.sort(values)
    ScaleBuilder.ofLongs(values, 0).asInstanceOf[LongScale]
  }
  private[this] val ranks: Array[Array[Int]] = data.values.zip(scales).map { case (v, s) => v.map(s.rank(_)) }
  val sample: RankedSample = new RankedSample(scales.toIndexedSeq, ranks.map(all => sampled.map(all(_))))

  /** What other formats give, and the layouts that need no log. */
  private[this] lazy val fixed: Seq[(String, Boxes)] = Seq(
    "rawZ" -> Boxes.equalCounts(data, Peers.rawZ(data), files),
    "deltaZ" -> Boxes.equalCounts(data, Peers.denseZ(data, sampled), files),
    "deltaH" -> Boxes.equalCounts(data, Peers.denseHilbert(data, sampled), files),
    "zorder" -> boxes(AlignedZ.build(sample, files), InFileOrder.Hilbert, 1),
    "kd" -> boxes(KdTree.build(sample, files), InFileOrder.Hilbert, 1),
    "slices, no log" -> boxes(SliceTree.build(sample, files), InFileOrder.Hilbert, 1))
  private[this] lazy val lexical: Seq[Boxes] = (0 until data.columns).map { c =>
    boxes(Lexical.by(c).build(sample, files), InFileOrder.Hilbert, 1)
  }
  lazy val withoutLog: Chosen = choose(RankQueries.none)
  private[this] lazy val withoutLogBoxes = boxes(withoutLog.tree, withoutLog.inFile, 1)

  private def choose(log: RankQueries): Chosen =
    AutoChoice.fit(sample, log, files, Experiment.PagesPerFile, CurveRegistry.Auto.builders(data.columns))

  /** A log and, independently, later queries; the layouts are judged by the latter. */
  def run(kind: String): Case = {
    val log = workload.queries(kind, queries)
    val test = workload.queries(kind, queries)
    val known = RankQueries.of(log.map(_.query).toSeq, scales.toIndexedSeq)
    val chosen = choose(known)
    val learned =
      Seq("slices" -> SliceTree, "kdW" -> QueryTree, "qd" -> LiteralTree).map {
        case (name, builder) => name -> boxes(builder.build(sample, known, files), InFileOrder.Hilbert, 1)
      }
    val all = fixed ++ learned ++ Seq(
      "auto, no log" -> withoutLogBoxes,
      "auto" -> boxes(chosen.tree, chosen.inFile, 1))
    val shares = ("lexical" -> lexical.map(_.share(test)).min) +: all.map { case (n, b) =>
      n -> b.share(test)
    }
    Case(data, kind, bound(kind, test, files), shares.toMap, chosen.name, withoutLog.name)
  }

  /** Share of the rows in pages that later queries read, and the bound for so many pages. */
  def pages(kind: String, logged: Boolean): (Double, Double) = {
    val chosen = if (logged) choose(log(kind)) else withoutLog
    val test = workload.queries(kind, queries)
    (
      boxes(chosen.tree, chosen.inFile, Experiment.PagesPerFile).share(test),
      bound(kind, test, files * Experiment.PagesPerFile))
  }

  /** Queries of a kind in ranks. */
  def log(kind: String): RankQueries = ranked(workload.queries(kind, queries))

  private def ranked(asked: Array[Asked]): RankQueries =
    RankQueries.of(asked.map(_.query).toSeq, scales.toIndexedSeq)

  /**
   * What later queries of each kind read, in the layouts that no log is needed for, as shares of the rows;
   * also in those made by somebody who knows the kinds but not which columns and literals they prefer.
   */
  def unlogged(): Seq[Unlogged] = {
    val boxesOf = fixed.toMap
    val general = Unlogged.general.map(n => n -> boxesOf.getOrElse(n, withoutLogBoxes))
    Workload.kinds.map { kind =>
      val known = ranked(workload.unbiased(kind, queries))
      val made = Seq(SliceTree, QueryTree).map(b =>
        s"${b.name} for the kind" -> boxes(b.build(sample, known, files), InFileOrder.Hilbert, 1))
      val test = workload.queries(kind, queries)
      Unlogged(
        s"${data.name} ${data.columns}",
        kind,
        boxesOf("deltaZ").share(test),
        (general ++ made).map { case (n, b) => n -> b.share(test) }.toMap)
    }
  }

  private def bound(kind: String, test: Array[Asked], blocks: Int): Double =
    if (kind == "rep") {
      val matching = test.map(q => sampled.count(q.holds(data, _)).toDouble / sampled.length)
      WorkloadBound.floor(matching, test.map(_ => 1.0), blocks)
    } else WorkloadBound.of(test.map(_.shape).toSeq, workload.caps, blocks).share

  /** The real rows, placed by a layout. */
  private def boxes(tree: CutTree, inFile: InFileOrder, perFile: Int): Boxes = {
    val layout = new CompiledLayout(scales.map(s => s: Scale), tree, inFile)
    val row = new Array[Int](data.columns)
    val scratch = new Array[Int](data.columns)
    val keys = Array.tabulate(data.rows) { i =>
      row.indices.foreach(c => row(c) = ranks(c)(i))
      val cell = layout.cell(row)
      val file = layout.file(cell, i * 0x9e3779b9)
      if (perFile == 1) file.toLong else layout.key(cell, file, row, scratch)
    }
    val order = Placed.argSort(keys)
    def fileOf(i: Int) = if (perFile == 1) keys(order(i)).toInt else layout.fileOfKey(keys(order(i)))
    val fileStarts = order.indices.filter(i => i == 0 || fileOf(i) != fileOf(i - 1)) :+ data.rows
    val starts = fileStarts.sliding(2).flatMap { s =>
      val pageRows = (s(1) - s(0)).toDouble / perFile
      if (perFile > 1)
        layout.pageSides.foreach(PageTree.arrange(order, s(0), s(1), ranks, _, pageRows))
      (0 until perFile).map(p => s(0) + PageTree.start(p, pageRows, s(1) - s(0))).distinct
    }.toArray :+ data.rows
    Boxes.of(data, order, starts)
  }
}

object Experiment {
  val PagesPerFile = 32
}

/** What later queries of one kind read of one data set, by layout, as shares of the rows. */
final case class Case(
    data: DataSet,
    kind: String,
    bound: Double,
    shares: Map[String, Double],
    chosen: String,
    chosenWithoutLog: String) {

  /** Whether the bound is one that independent columns can come near to. */
  def bounded: Boolean = data.independent && kind != "rep"
}

object Case {
  val layouts: Seq[String] = Seq(
    "lexical",
    "rawZ",
    "deltaZ",
    "deltaH",
    "zorder",
    "kd",
    "slices, no log",
    "slices",
    "kdW",
    "qd",
    "auto, no log",
    "auto")

  def geometricMean(values: Seq[Double]): Double = math.exp(values.map(math.log).sum / values.size)
}
