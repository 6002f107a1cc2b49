package org.apache.spark.sql.zorder.skipping

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression}
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.index.{
  BytesRanges,
  ColumnRanges,
  IndexedColumn,
  IndexedFiles,
  LongRanges,
  NoRanges,
  RangeSet,
  StatisticsIndex
}
import org.apache.spark.sql.zorder.skipping.scan.FilesThatMayMatch
import sparkzorder.LongTest
import sparkzorder.curve.{NormalizedLong, NormalizedValue, Zone}
import sparkzorder.mark.SameOnAllLines

/** Every filter over every file beside a search through all rows: no file with a matching row is left out. */
@SameOnAllLines
class FilterOracleSuite extends AnyFunSuite with ZOrderSession {

  test("5,000 filters at random: a file that holds a matching row is never left out")(atRandom(0 until 100))

  test("15,000 filters at random: a file that holds a matching row is never left out", LongTest)(
    atRandom(100 until 400))

  private def atRandom(seeds: Seq[Int]): Unit = {
    val _ = spark
    var pruned, prunable = 0L
    seeds.foreach { seed =>
      val random = new RandomFilters(seed.toLong)
      val files = IndexedSeq.fill(1 + random.nextInt(6))(IndexedSeq.fill(random.nextInt(7))(random.row()))
      val known = random.nextInt(4) != 0
      val matching = new FilesThatMayMatch(
        SyntheticIndex(random.columns.map(c => c.name -> c.dataType), files, known),
        _ => false)
      (0 until 50).foreach { _ =>
        val filter = random.filter()
        val found = matching(Seq(filter))
        files.indices.foreach { f =>
          val holds = matches(filter, random, files(f))
          assert(!holds || found.get(f), s"seed $seed: $filter left out file $f: ${files(f)}")
          if (!holds) prunable += 1
          if (!found.get(f)) pruned += 1
        }
      }
    }
    // not a bound, but a check that something is left out at all
    assert(pruned > prunable / 4, s"$pruned of $prunable")
  }

  test("files are left out wherever their ranges allow it, but for 5 % at most") {
    val _ = spark
    var prunable, missed = 0L
    (1000 until 1100).foreach { seed =>
      val random = new RandomFilters(seed.toLong)
      val files = IndexedSeq.fill(6)(IndexedSeq.fill(random.nextInt(7))(random.row()))
      val index = SyntheticIndex(
        random.columns.map(c => c.name -> c.dataType),
        files,
        nullsKnown = random.nextInt(4) != 0)
      val matching = new FilesThatMayMatch(index, _ => false)
      val oracle = new PruningOracle(index, random.columns, random)
      Seq.fill(30)(random.filter()).filter(PruningOracle.isAnswerable).foreach { filter =>
        val found = matching(Seq(filter))
        files.indices.filterNot(oracle.mayBeTrue(filter, _)).foreach { f =>
          prunable += 1
          if (found.get(f)) missed += 1
        }
      }
    }
    assert(prunable > 3000 && missed <= prunable * 0.05, s"$missed of $prunable prunings missed")
  }

  private def matches(filter: Expression, random: RandomFilters, rows: Seq[InternalRow]): Boolean = {
    val bound = BindReferences.bindReference(filter, random.columns)
    rows.exists(r => bound.eval(r) == true)
  }
}

/** An index of files whose rows are at hand. */
object SyntheticIndex {
  import org.apache.spark.sql.types.DataType

  /** @param nullsKnown whether files say how many NULLs they hold */
  def apply(
      columns: IndexedSeq[(String, DataType)],
      files: IndexedSeq[IndexedSeq[InternalRow]],
      nullsKnown: Boolean): StatisticsIndex = {
    val n = files.length
    val indexed = new IndexedFiles(
      Array.tabulate(n)(i => s"f$i"),
      Array.fill(n)(1L),
      Array.fill(n)(0L),
      files.map(_.length.toLong).toArray,
      Array.fill(n)(Long.MaxValue))
    val ranges = columns.indices.map(c => column(c, columns(c)._2, files, nullsKnown))
    new StatisticsIndex(
      indexed,
      columns.map { case (name, dataType) => IndexedColumn(name, Seq(name), dataType, absentIsNull = true) },
      caseSensitive = false,
      c => Some(ranges(c)))
  }

  private def column(
      c: Int,
      dataType: DataType,
      files: IndexedSeq[IndexedSeq[InternalRow]],
      nullsKnown: Boolean): ColumnRanges = {
    val normalizedType = Normalization.of(dataType).get
    val sets = files.zipWithIndex.map { case (rows, f) =>
      val parts = rows.grouped(2).map { page =>
        val values = page.filterNot(_.isNullAt(c)).map(r => normalizedType.normalize(r.get(c, dataType)))
        if (values.isEmpty) Zone.OnlyNulls else Zone.Between(values.reduce(least), values.reduce(greatest))
      }.toSeq
      // some files have no statistics of a column, others a list of values
      (f + c) % 6 match {
        case 5 => RangeSet.Unknown
        case 4 =>
          val values = rows.filterNot(_.isNullAt(c)).map(r => normalizedType.normalize(r.get(c, dataType)))
          RangeSet.of(parts).only(values.distinct.sortWith(_ < _))
        case _ => RangeSet.of(parts)
      }
    }
    val all = sets.flatMap(_.ranges)
    val normalizedRanges =
      if (all.isEmpty) NoRanges
      else if (all.head._1.isInstanceOf[NormalizedLong])
        LongRanges(all.map(r => long(r._1)).toArray, all.map(r => long(r._2)).toArray)
      else BytesRanges(all.map(r => bytes(r._1)).toArray, all.map(r => bytes(r._2)).toArray)
    new ColumnRanges(
      dataType,
      sets.map(_.state).toArray,
      files.map(rows => if (nullsKnown) rows.count(_.isNullAt(c)).toLong else -1L).toArray,
      sets.scanLeft(0)(_ + _.ranges.length).toArray,
      normalizedRanges)
  }

  private def least(a: NormalizedValue, b: NormalizedValue): NormalizedValue = if (a < b) a else b
  private def greatest(a: NormalizedValue, b: NormalizedValue): NormalizedValue = if (a > b) a else b
  private def long(w: NormalizedValue): Long = w.asInstanceOf[NormalizedLong].value
  private def bytes(w: NormalizedValue): Array[Byte] = w.asInstanceOf[sparkzorder.curve.NormalizedBytes].bytes
}
