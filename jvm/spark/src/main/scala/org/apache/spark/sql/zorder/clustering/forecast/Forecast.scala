package org.apache.spark.sql.zorder.clustering.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.clustering.fit.{
  ByLevel,
  Fit,
  LayoutForecast,
  ReadLowerBound,
  Levels,
  RankCorrelation,
  ReadEstimator,
  Sample,
  TruncatedBounds
}
import org.apache.spark.sql.zorder.clustering.inspect.{
  Inspection,
  PresentLevels,
  Probes,
  SomePages,
  TrackedColumns
}
import org.apache.spark.sql.zorder.clustering.plan.{
  FileCount,
  FilePlan,
  GrowingPartition,
  Growth,
  GrowthPlan,
  PlacedPartition
}
import org.apache.spark.sql.zorder.clustering.report.{
  AlternativeReport,
  ColumnReport,
  HumanReadable,
  OtherReport,
  QueryReport,
  RunReport,
  Shares
}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.FileFooter
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.clustering.draw.{DrawnQueries, QueryGroup}
import sparkzorder.curve.{Block, NormalizedBytes}
import sparkzorder.curve.build.{Candidate, CurveRegistry, Lexical}
import sparkzorder.curve.cost.{ReadCost, ShareRead, SortedValues}
import sparkzorder.curve.layout.{BytesScale, CutTree}
import sparkzorder.curve.page.PageCut

/** What is read: per column that a run samples, and per group of queries of its log. */
final private[clustering] case class Readings(
    columns: IndexedSeq[ByLevel[Double]],
    queries: IndexedSeq[ByLevel[Double]])

/**
 * What look-ups and the queries of the log read now, what they are expected to read after the run, what is
 * measured then, and the least that is possible.
 *
 * @param asOneMore
 *   by the place of a watched column that gets worse, its share if the table were clustered by it too
 * @param alternatives
 *   the table as it is, the layouts that were compared, the bound
 */
final private[clustering] case class Forecast(
    tracked: TrackedColumns,
    estimator: ReadEstimator,
    groups: IndexedSeq[QueryGroup],
    now: Readings,
    expected: Readings,
    bound: Readings,
    asOneMore: Map[Int, Double],
    alternatives: Seq[Candidate],
    measured: Option[Readings] = None) {

  /** Adds what look-ups read of the blocks that the run has written. */
  def measuredOn(levels: Levels): Forecast = copy(measured = Some(Forecast.read(tracked, estimator, levels)))

  /** A result row with these figures. */
  def shownIn(report: RunReport): RunReport = report.copy(
    columns = columns,
    queries = queries,
    others = others,
    alternatives = alternatives.map(c => AlternativeReport(c.name, c.files, c.pages)))

  def columns: Seq[ColumnReport] = tracked.clustering.indices.map { c =>
    def at(level: ByLevel[Double] => Double): Shares = {
      val shares = column(c, level)
      shares.copy(bound = standing(level).flatMap(part => shares.bound.map(_ * part)))
    }
    // nothing is said of blocks that will have no bounds of the column
    def within(level: ByLevel[Double] => Double): Shares =
      if (tracked.ofWholeFiles(c)) Shares() else at(level)
    ColumnReport(tracked.all(c).sql, at(_.files), within(_.rowGroups), within(_.pages))
  }

  def others: Seq[OtherReport] = tracked.watchedPlaces.map { c =>
    OtherReport(tracked.all(c).sql, column(c, _.files), asOneMore.get(c))
  }

  def queries: Seq[QueryReport] =
    groups.indices.sortBy(g => -groups(g).weight).take(QueryReport.Most).map { g =>
      def at(level: ByLevel[Double] => Double): Shares = {
        def share(of: Readings): Double = level(of.queries(g))
        val least = ReadLowerBound.unlessBeaten(share(bound), known.map(share))
        Shares(Some(share(now)), Some(share(expected)), measured.map(share), least)
      }
      QueryReport(groups(g).text, groups(g).weight, at(_.files), at(_.rowGroups), at(_.pages))
    }

  /** What a layout is known to read, if only by forecast. */
  private def known: Seq[Readings] = expected +: measured.toSeq

  /** The bound is one of the mean over the columns: the part of it that no layout is known to beat. */
  private def standing(level: ByLevel[Double] => Double): Option[Double] = {
    def all(of: Readings): Double = tracked.clustering.indices.map(c => level(of.columns(c))).sum
    ReadLowerBound.unlessBeaten(all(bound), known.map(all)).map(_ / math.max(1e-9, all(bound)))
  }

  /** Files have no statistics of an expression: only the forecast of where its values will be is known. */
  private def column(c: Int, level: ByLevel[Double] => Double): Shares = {
    def share(of: Readings): Double = level(of.columns(c))
    val inFiles = tracked.stored(c).map(_ => now)
    Shares(
      inFiles.map(share),
      Some(share(expected)),
      inFiles.flatMap(_ => measured).map(share),
      Some(share(bound)))
  }

  def logged: Boolean = groups.exists(_.weight > 0)

  /** Mean share read, by the log or else by look-ups in the clustering columns. */
  private def mean(of: Readings, level: ByLevel[Double] => Double): Double =
    if (logged) {
      groups.indices.map(g => groups(g).weight * level(of.queries(g))).sum / groups.map(_.weight).sum
    } else if (tracked.measured.isEmpty) 0.0
    else tracked.measured.map(c => level(of.columns(c))).sum / tracked.measured.length

  private def meanCost(of: Readings): Double = mean(of, shares => ReadCost.of(shares.files, shares.pages))

  /** Fall of the mean share read, files and pages alike; 0.5 = half as much is read, below 0 = more is. */
  val gain: Double = {
    val before = meanCost(now)
    if (before == 0) 0.0 else 1.0 - meanCost(expected) / before
  }

  /** How much more than the bound is read now; 1 = nothing could read less. */
  private[forecast] def nowToBound: Double = meanCost(now) / math.max(1e-9, meanCost(bound))

  def summary: String = {
    val each = columns.map(c => s"${c.name}: files ${c.files.text}, pages ${c.pages.text}")
      .mkString("a look-up reads, by ", "; by ", "")
    each + (if (logged) s"; the queries of the log: files ${change(_.files)}, pages ${change(_.pages)}"
            else "")
  }

  /**
   * What the reason of a run adds if columns get worse: clustering columns first, of which some may rise
   * though the mean falls, for example one that the files were sorted by.
   */
  def warning: String = {
    val worse = columns.filter(_.files.rises).map(c => s"${c.name} ${c.files.sentence}") ++
      others.filter(_.getsWorse).map(_.text)
    if (worse.isEmpty) "" else s" ${OtherReport.Worse}: look-ups by ${worse.mkString("; by ")}."
  }

  private def change(level: ByLevel[Double] => Double): String =
    s"${HumanReadable.share(mean(now, level))} -> ${HumanReadable.share(mean(expected, level))}"
}

private[clustering] object Forecast {
  def read(tracked: TrackedColumns, estimator: ReadEstimator, levels: Levels): Readings =
    Readings(tracked.read(estimator.columns(levels)), estimator.queries(levels))
}

/**
 * Forecasts a rewrite from footers and from the sampled rows that its layouts were not fitted on.
 *
 * @param planned
 *   the pages of the files to write
 */
final private[clustering] class RewriteForecaster(
    input: Inspection,
    plan: FilePlan,
    tracked: TrackedColumns,
    fitted: FittedLayouts,
    planned: PageCut) {
  private val clustering = tracked.clustering.indices
  private val sample = fitted.sampled.ofTable
  private val values = sample.columns.map(_.sorted)

  def forecast(session: ClassicSession, log: Option[Sample => DrawnQueries]): Forecast = {
    val pages = SomePages.of(session, input, tracked, plan.files)
    val groups = log.fold(IndexedSeq.empty[QueryGroup])(_(sample).shapes)
    val estimator = new ReadEstimator(values, groups.map(_.queries))
    val now = Forecast.read(tracked, estimator, levels(input.footersOf(plan), pages))
    val parts = ahead
    val whole = Levels.concat(parts)
    // shows where the values of a clustering expression will be, though no query can use it
    val placed =
      whole.masked(tracked.stored.indices.map(c => tracked.stored(c).isEmpty || tracked.bounded(c)))
    val queried = whole.masked(tracked.bounded).maskedInFiles(tracked.ofWholeFiles.map(!_))
    val expected = Readings(tracked.read(estimator.columns(placed)), estimator.queries(queried))
    val worse = tracked.watchedPlaces.filter(c =>
      OtherReport.getsWorse(now.columns(c).files, expected.columns(c).files))
    Forecast(
      tracked,
      estimator,
      groups,
      now,
      expected,
      bound(parts, groups, expected),
      worse.map(c => c -> asOneMore(c)).toMap,
      alternatives(pages, parts.head))
  }

  private def levels(footers: Seq[FileFooter], pages: SomePages): Levels =
    tracked.levels(footers, input.statistics.columns, pages)

  /** The blocks of each partition after the run. */
  private def ahead: IndexedSeq[Levels] =
    plan.partitions.indices.map { p =>
      val blocks = LayoutForecast.blocks(
        fitted.sampled.heldOut(p),
        fitted.refs(p).layout,
        input.rows(plan.partitions(p).partition),
        planned,
        byPages = input.ordersPages)
      blocks.times(fitted.sampled.rowsPerRow(p))
    }

  private def bound(ahead: IndexedSeq[Levels], groups: Seq[QueryGroup], expected: Readings): Readings = {
    val parts = ahead.indices.map { p =>
      ReadLowerBound.Part(
        fitted.sampled.heldOut(p),
        input.rows(plan.partitions(p).partition).toDouble,
        ahead(p).counts)
    }
    val least = new ReadLowerBound(parts, values)
    Readings(
      tracked.read(least.columns(clustering, Some(clustering.map(expected.columns(_)))) ++
        tracked.watchedPlaces.map(c => least.columns(clustering :+ c, None).last)),
      groups.zip(expected.queries).map { case (g, read) =>
        least.queries(g.queries, Some(read))
      }.toIndexedSeq)
  }

  /**
   * The share of files that look-ups in a watched column read of a Z-order by it and the clustering columns.
   */
  private def asOneMore(place: Int): Double = {
    val places = clustering :+ place
    val rows =
      math.max(RewriteForecaster.LeastRows, RewriteForecaster.RowsForOneMore / plan.partitions.length)
    val files = plan.partitions.indices.flatMap { p =>
      val sized = plan.partitions(p)
      val columns = places.map(tracked.all(_).fit)
      val learnt = fitted.sampled.fitting(p).select(places).thinned(rows)
      val layout = Fit.choose(learnt, columns, sized.files, CurveRegistry.ZOrder.name, Nil, 1.0).layout
      val held = fitted.sampled.heldOut(p).select(places).thinned(rows)
      val share = input.rows(sized.partition).toDouble / math.max(1, held.rows)
      LayoutForecast.blocks(held, layout, held.rows.toLong, PageCut.Whole).files
        .map(b => (math.round(b.rows * share), b.zones.last))
    }
    ShareRead.of(files, values(place))
  }

  /** Compared in the first partition, whose queries they were compared by. */
  private def alternatives(pages: SomePages, ahead: Levels): Seq[Candidate] = {
    val files = plan.partitions.head.partition.files.map(_.path).toSet
    val footers = input.footersOf(plan).filter(f => files(f.file.path))
    val present = levels(footers, pages.only(files))
    val scorer = fitted.first.scorer
    val tried =
      if (fitted.first.candidates.nonEmpty) fitted.first.candidates
      else Seq(scorer.of(fitted.first.layout.curve, ahead))
    val known = scorer.bound(ahead)
    val least = for {
      files <- ReadLowerBound.unlessBeaten(known.files, tried.map(_.files))
      pages <- ReadLowerBound.unlessBeaten(known.pages, tried.map(_.pages))
    } yield known.copy(files = files, pages = pages)
    (scorer.of("now", present) +: tried) ++ least
  }
}

private[clustering] object RewriteForecaster {
  private val RowsForOneMore = 40000
  private val LeastRows = 2000
}

/** Forecasts what look-ups read of partitions that grow, from footers and from a sample of the new rows. */
final private[clustering] class IncrementForecaster(
    session: ClassicSession,
    input: Inspection,
    val tracked: TrackedColumns,
    options: RunOptions,
    tableBytes: Long) {
  private val present = new PresentLevels(session, input, tracked)

  /** Values inside the ranges of the files, as many of a file as its rows are of all. */
  private def values(files: Seq[Block]): IndexedSeq[SortedValues] =
    tracked.all.indices.map(c => SortedValues.of(Probes.byRows(files.map(f => (f.rows, f.zones(c))))))

  def growth(placed: PlacedPartition, rows: Array[Long]): Growth = Growth(
    rows.indices.map(n => placed.inLayout.getOrElse(n, Nil).map(_.length).sum).toArray,
    rows,
    placed.newBytes,
    placed.sortedRuns,
    () => hurts(placed),
    newLayoutFiles(placed.all.map(_.length).sum))

  private def newLayoutFiles(bytes: Long): Int =
    FileCount.of(bytes, FileCount.target(tableBytes, options.targetFileSize), options)

  /**
   * Whether look-ups read noticeably more because of the files across cells: those by one column a greater
   * share of the rows, or those by all columns more rows than one that stays within the cells.
   */
  private def hurts(placed: PlacedPartition): Boolean = {
    val inLayout = present.files(placed.inLayout.values.flatten.toSeq)
    val across =
      present.files(placed.sortedRunFiles ++ placed.newFilesAfter.getOrElse(placed.newFiles))
    val probes = values(inLayout)
    def byOne(blocks: Seq[Block]): Double = {
      val shares = ShareRead.ofColumns(blocks, probes.take(tracked.clustering.length))
      shares.sum / math.max(1, shares.length)
    }
    def more(read: Seq[Block] => Double): Boolean =
      read(inLayout ++ across) > read(inLayout) * (1.0 + options.minGain)
    inLayout.nonEmpty && (more(byOne) || more(rowsReadByAll))
  }

  /** Rows that a look-up by all clustering columns reads in the mean, of values inside the files' ranges. */
  private def rowsReadByAll(files: Seq[Block]): Double = {
    val every = 1 + files.length / IncrementForecaster.MostAsked
    val asked = for {
      file <- files.indices.by(every).map(files)
      point <- Probes.points(tracked.clustering.indices.map(file.zones))
    } yield (file.rows.toDouble, files.filter(_.mayHold(point)).map(_.rows.toDouble).sum)
    val weight = asked.map(_._1).sum
    if (weight == 0.0) 0.0 else asked.map { case (rows, read) => rows * read }.sum / weight
  }

  /** The blocks of the partitions without these files. */
  def levelsWithout(growing: Seq[GrowingPartition], gone: Seq[DataFile]): Levels = {
    val paths = gone.map(_.path).toSet
    present.of(growing.flatMap(_.placed.all).filterNot(f => paths(f.path)))
  }

  /** For a partition that is put into its stored layout, from a sample of all its rows. */
  def ofStoredLayout(placed: PlacedPartition, ref: LayoutRef, sample: Sample): Forecast = {
    val estimator = new ReadEstimator(sample.columns.map(_.sorted), IndexedSeq.empty)
    val rows = present.rows(placed.all)
    val ahead =
      LayoutForecast.blocks(
        sample,
        ref.layout,
        rows,
        PageCut(options.pageRowLimit.toDouble, Double.MaxValue),
        byPages = input.ordersPages)
    forecast(estimator, present.of(placed.all), ahead, sample, 1)
  }

  /** @param pages of the files to write */
  def forecast(growing: Seq[GrowingPartition], pages: PageCut): Forecast = {
    val all = growing.flatMap(_.placed.all)
    val estimator = new ReadEstimator(values(present.files(all)), IndexedSeq.empty)
    // merged rows lie in the blocks that are there; without any, and for appended rows, blocks are new
    val inBlocks = growing.filter(g => g.plan.isInstanceOf[GrowthPlan.Append] || g.placed.inLayout.isEmpty)
    val again = inBlocks.flatMap(_.rewritten).map(_.path).toSet
    val inLayout = growing.flatMap(g => g.placed.inLayout.values.flatten ++ g.placed.sortedRunFiles)
      .filterNot(f => again(f.path))
    val ahead = Levels.concat(present.of(inLayout) +: inBlocks.map(blocks(_, pages)))
    val sample = Sample.concat(growing.map(_.counted.sample).toIndexedSeq)
    forecast(estimator, present.of(all), ahead, sample, growing.length)
  }

  private def forecast(
      estimator: ReadEstimator,
      now: Levels,
      ahead: Levels,
      sample: Sample,
      partitions: Int): Forecast = {
    val blocksOfEach = ahead.counts.map(_ / partitions)
    Forecast(
      tracked,
      estimator,
      IndexedSeq.empty,
      Forecast.read(tracked, estimator, now),
      Forecast.read(tracked, estimator, ahead),
      Readings(tracked.read(bound(sample, blocksOfEach)), IndexedSeq.empty),
      Map.empty,
      Nil)
  }

  private def blocks(g: GrowingPartition, pages: PageCut): Levels = {
    val sample = g.counted.sample
    val fileOf: Int => Int = g.plan match {
      case append: GrowthPlan.Append if g.own.isEmpty => append.fileOf(_)
      case _ => identity
    }
    // rows that earlier runs appended are taken to lie as the new ones do
    val rows = g.growth.rows.sum + present.rows(g.rewritten)
    if (sample.rows == 0) Levels(Nil, Nil, Nil)
    else {
      val cut =
        LayoutForecast.blocks(sample, g.cutBy.layout, rows, pages, fileOf, byPages = input.ordersPages)
      cut.times(rows.toDouble / sample.rows)
    }
  }

  private def bound(sample: Sample, blocks: ByLevel[Double]): IndexedSeq[ByLevel[Double]] =
    if (sample.rows == 0) tracked.all.indices.map(_ => ByLevel.same(0.0))
    else {
      val boundOf = LayoutForecast.bound(sample.select(tracked.clustering.indices))
      val least = blocks.map(n => boundOf(math.max(1.0, n)))
      tracked.all.indices.map(c =>
        if (c < tracked.clustering.length) least.map(_(c)) else ByLevel.same(1.0))
    }
}

private object IncrementForecaster {

  /** Files whose values are looked up among all: enough for a mean, and a table may have 100,000. */
  private val MostAsked = 100
}

/** Explains in one sentence why a rewrite gains too little; it begins with the cause if that is known. */
final private[clustering] class NoGain(forecast: Forecast, plan: FilePlan, fitted: FittedLayouts) {
  private val columns = forecast.tracked.clustering
  private val values: IndexedSeq[SortedValues] = forecast.estimator.values

  /** Without a full stop at its end. */
  def sentence(least: Double): String = {
    val change =
      if (HumanReadable.percent(forecast.gain.abs) == HumanReadable.percent(0)) "as much would be read as now"
      else if (forecast.gain < 0) s"more would be read than now, by ${HumanReadable.percent(-forecast.gain)}"
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
    if (sorted.size == 0 && fitted.sampled.fitting.exists(_.columns(c).sorted.size > 0)) None
    else if (sorted.size == 0) Some(s"column ${columns(c).sql} holds NULL alone, so nothing can skip by it")
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
      case (NormalizedBytes(low), NormalizedBytes(high)) =>
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

  private lazy val sample: Sample = fitted.sampled.ofTable

  private def plainSort: Option[String] = {
    val layout = fitted.first.layout
    Lexical.firstColumn(layout.curve).orElse(CutTree.onlyColumn(layout.tree)).filter(_ => isNear).map {
      first =>
        s"a plain sort by ${columns(first).sql} reads least, and the rows lie in about that order already"
    }
  }

  private def inLayout: Option[String] =
    if (isNear) Some("the files are close to the best layout already") else None

  private def isNear: Boolean = forecast.nowToBound < NoGain.Near
}

private[clustering] object NoGain {
  private val SameOrder = 0.95

  /** So much more than the bound is what layouts read. */
  private val Near = 1.3
}
