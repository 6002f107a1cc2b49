package org.apache.spark.sql.zorder.skipping

import java.util.BitSet

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.skipping.predicate.TopRows
import org.apache.spark.sql.zorder.skipping.scan.{FilesThatMatchWholly, FilesThatMayMatch, FilesThatReachTop}
import sparkzorder.mark.SameOnAllLines

/** Orders, limits and filters at random beside a sort of all rows: no file with a row of the answer is left out. */
@SameOnAllLines
class TopRowsOracleSuite extends AnyFunSuite with ZOrderSession {

  test("2,500 queries at random: the first rows, ties included, are in the files that are read")(withoutAnsi {
    var pruned, all = 0L
    (0 until 250).foreach { seed =>
      val random = new RandomFilters(7000L + seed)
      val files = IndexedSeq.fill(2 + random.nextInt(8))(rows(random))
      val index = SyntheticIndex(
        random.columns.map(c => c.name -> c.dataType),
        files,
        nullsKnown = random.nextInt(4) != 0)
      (0 until 10).foreach { n =>
        val filters =
          if (n < 4) Nil else if (n < 7) Seq(random.filter(1)) else Seq(random.filter(), random.filter(0))
        val (ascending, nullsFirst) = (random.nextInt(2) == 0, random.nextInt(2) == 0)
        val order = SortOrder(
          random.columns(random.nextInt(random.columns.length)),
          if (ascending) Ascending else Descending,
          if (nullsFirst) NullsFirst else NullsLast,
          Nil)
        val k = 1 + random.nextInt(6)
        // not every file has an entry that counts
        val listed = new BitSet()
        files.indices.filter(_ => random.nextInt(8) != 0).foreach(f => listed.set(f))
        val read = new FilesThatMayMatch(index, _ => false)(filters)
        read.and(new FilesThatReachTop(index, _ => false)(
          TopRows(order, order.child, k.toLong, filters),
          listed))
        files.indices.filterNot(f => listed.get(f)).foreach(f => read.set(f))
        // nor is every file that has an entry still there
        val there = files.indices.map(f =>
          if (!listed.get(f) && n % 2 == 0) IndexedSeq.empty[InternalRow] else files(f))
        val needed = answer(random, there, filters, order, k)
        needed.foreach(f =>
          assert(read.get(f), s"seed $seed: $order LIMIT $k of $filters left out file $f: $files"))
        pruned += files.length - read.cardinality
        all += files.length - needed.size
      }
    }
    // not a bound, but a check that something is left out at all
    assert(pruned > all / 5, s"$pruned of $all")
  })

  test("2,000 filters at random: a file that is said to match wholly has no other row")(withoutAnsi {
    var found = 0
    (0 until 100).foreach { seed =>
      val random = new RandomFilters(9000L + seed)
      val files = IndexedSeq.fill(2 + random.nextInt(5))(rows(random))
      val index = SyntheticIndex(random.columns.map(c => c.name -> c.dataType), files, random.nextInt(4) != 0)
      (0 until 20).foreach { n =>
        val filter = random.filter(n % 4)
        val whole = new FilesThatMatchWholly(index, _ => false)(Seq(filter))
        val bound = BindReferences.bindReference(filter, random.columns)
        files.indices.filter(f => whole.get(f)).foreach { f =>
          assert(
            files(f).forall(r => bound.eval(r) == true),
            s"seed $seed: $filter is not true in file $f: ${files(f)}")
          if (files(f).nonEmpty && !filter.foldable) found += 1
        }
      }
    }
    assert(found > 200, found)
  })

  /** Filters at random overflow, which ANSI mode makes an error of. */
  private def withoutAnsi(body: => Unit): Unit = withConf("spark.sql.ansi.enabled" -> "false")(body)

  /** Like rows together in one file, now and then, so that limits have something to leave out. */
  private def rows(random: RandomFilters): IndexedSeq[InternalRow] = {
    val n = random.nextInt(7)
    if (random.nextInt(3) == 0) IndexedSeq.fill(n)(random.row())
    else {
      val row = random.row()
      IndexedSeq.fill(n)(if (random.nextInt(6) == 0) random.row() else row)
    }
  }

  /** The files with rows that may be in the answer: those before the k-th, and all that are equal to it. */
  private def answer(
      random: RandomFilters,
      files: IndexedSeq[IndexedSeq[InternalRow]],
      filters: Seq[Expression],
      order: SortOrder,
      k: Int): Set[Int] = {
    val condition = BindReferences.bindReference(
      filters.reduceOption(And(_, _)).getOrElse(Literal(true, BooleanType)),
      random.columns)
    val compare = RowOrdering.create(Seq(order), random.columns)
    val sorted = (for {
      f <- files.indices
      row <- files(f)
      if condition.eval(row) == true
    } yield (row, f)).sortWith((a, b) => compare.compare(a._1, b._1) < 0)
    val last = sorted.lift(math.min(k, sorted.length) - 1)
    last.fold(Set.empty[Int]) { case (end, _) =>
      sorted.takeWhile { case (row, _) => compare.compare(row, end) <= 0 }.map(_._2).toSet
    }
  }
}
