package org.apache.spark.sql.zorder.clustering.fit

import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.LongTest
import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.build.CurveRegistry
import sparkzorder.curve.cost.{Condition, Query, SortedValues}
import sparkzorder.curve.page.PageCut
import sparkzorder.mark.SameOnAllLines

/** No layout reads less than the least that is told; where there is no telling, nothing is told. */
@SameOnAllLines
class ReadLowerBoundSuite extends AnyFunSuite {
  private val random = new SplittableRandom(19)
  private val rows = 8000
  private val files = 16
  private val columns = Seq(FitColumn("a", "BIGINT"), FitColumn("b", "BIGINT"))

  private def skewed: Long = (1.0 / (1e-4 + random.nextDouble())).toLong

  /** Two columns of a partition: independent, skewed, of few values, with NULLs, one after the other, in clusters. */
  private val kinds: Seq[(String, Int => (Option[Long], Option[Long]))] = Seq(
    "independent" -> (_ => (Some(random.nextLong(1000000)), Some(random.nextLong(1000000)))),
    "skewed" -> (_ => (Some(skewed), Some(skewed))),
    "a flag and a time" -> (_ => (Some(random.nextLong(5)), Some(random.nextLong(1000000)))),
    "with NULLs" -> { _ =>
      (Some(random.nextLong(1000)), if (random.nextInt(10) == 0) None else Some(random.nextLong(100000)))
    },
    "partitions in time" -> (p => (Some(p * 1000L + random.nextLong(1000)), Some(random.nextLong(1000000)))),
    "correlated" -> { _ =>
      val a = random.nextLong(1000000)
      (Some(a), Some(a + random.nextLong(20000)))
    },
    "in clusters" -> { _ =>
      val town = random.nextInt(12)
      (
        Some(town * 7L % 12 * 10000 + random.nextLong(3000)),
        Some(town * 5L % 12 * 10000 + random.nextLong(3000)))
    }
  )

  private def sample(made: Seq[(Option[Long], Option[Long])]): Sample = {
    def column(of: Seq[Option[Long]]): SampleColumn =
      LongSample(of.map(_.getOrElse(0L)).toArray, of.map(_.isEmpty).toArray)
    Sample(IndexedSeq(column(made.map(_._1)), column(made.map(_._2))))
  }

  /** Rows and queries that layouts are fitted on, and others of the same kind. */
  private case class Case(held: Seq[Sample], fitted: Seq[Sample], log: Seq[Query], later: Seq[Query]) {
    private val values = Sample.concat(held.toIndexedSeq).columns.map(_.sorted)
    private val estimator = new ReadEstimator(values, IndexedSeq(later))

    /** What look-ups in both columns read, and what the queries read, of a layout for these queries. */
    def read(curve: String, log: Seq[Query]): (Seq[ByLevel[Double]], ByLevel[Double]) = {
      val levels = Levels.concat(fitted.zip(held).map { case (learnt, seen) =>
        val layout = Fit.choose(learnt, columns, files, curve, log, 8.0).layout
        LayoutForecast.blocks(
          seen,
          layout,
          seen.rows.toLong,
          PageCut(seen.rows / files / 8.0, Double.MaxValue))
      })
      (estimator.columns(levels), estimator.queries(levels).head)
    }

    def least(known: (Seq[ByLevel[Double]], ByLevel[Double])): (Seq[ByLevel[Double]], ByLevel[Double]) = {
      val blocks = ByLevel(files.toDouble, files.toDouble, files * 8.0)
      val least =
        new ReadLowerBound(
          held.map(s => ReadLowerBound.Part(s, s.rows.toDouble, blocks)).toIndexedSeq,
          Sample.concat(held.toIndexedSeq).columns.map(_.sorted))
      (least.columns(Seq(0, 1), Some(known._1)), least.queries(later, Some(known._2)))
    }
  }

  /** Of both columns together and of the queries, at files and at pages. */
  private def figures(of: (Seq[ByLevel[Double]], ByLevel[Double])): Seq[Double] =
    Seq(of._1.map(_.files).sum, of._1.map(_.pages).sum, of._2.files, of._2.pages)

  private def drawn(kind: Int => (Option[Long], Option[Long]), partitions: Int): Case = {
    val made = (0 until partitions).map(p => Seq.fill(rows)(kind(p)))
    val (held, fitted) = made.map(sample(_).halves).unzip
    // values that the table has
    val log = Seq.fill(200) {
      val (a, b) = made(random.nextInt(partitions))(random.nextInt(rows / 2) * 2)
      val from = b.getOrElse(0L)
      Query.of(
        0 -> Condition.equal(NormalizedLong(a.getOrElse(0L))),
        1 -> Condition.between(NormalizedLong(from), NormalizedLong(from + 20000)))
    }
    Case(held, fitted, log.take(100), log.drop(100))
  }

  test("of a column that no value is looked up in, the bound is 0") {
    val few = sample(Seq.tabulate(100)(i => (Option(i.toLong), Option(i.toLong))))
    val values = IndexedSeq(few.columns.head.sorted, SortedValues.ofLongs(Array.emptyLongArray))
    val part = ReadLowerBound.Part(few, 100.0, ByLevel.same(4.0))
    val least = new ReadLowerBound(IndexedSeq(part), values).columns(Seq(0, 1), None)
    assert(least.head.files > 0.2 && least.last === ByLevel.same(0.0))
  }

  test(
    "no layout of any kind reads less than is told of it; what is told is not far below the best",
    LongTest) {
    val told = for ((name, kind) <- kinds; partitions <- Seq(1, 5)) yield {
      val of = drawn(kind, partitions)
      val read =
        for (curve <- CurveRegistry.names; log <- Seq(Nil, of.log)) yield figures(of.read(curve, log))
      // look-ups are judged by a layout without a log, queries by one with their log
      val known = (of.read(CurveRegistry.Auto.name, Nil)._1, of.read(CurveRegistry.Auto.name, of.log)._2)
      val (least, chosen) = (figures(of.least(known)), figures(known))
      least.indices.map { i =>
        val told = ReadLowerBound.unlessBeaten(least(i), Seq(chosen(i)))
        val best = read.map(_(i)).min
        // a sample is off by a few percent
        told.foreach(t => assert(best >= 0.94 * t, s"$name, $partitions partitions, figure $i"))
        told.map(_ / best)
      }
    }
    info(s"${told.flatten.flatten.length} of ${told.flatten.length} told")
    assert(told.flatten.flatten.length >= 0.85 * told.flatten.length)
    assert(told.flatten.flatten.forall(_ >= 0.8))
  }
}
