package org.apache.spark.sql.zorder.insight.explain

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.skipping.{RandomFilters, SyntheticIndex}
import org.apache.spark.sql.zorder.skipping.predicate.Predicates
import org.apache.spark.sql.zorder.skipping.scan.FilesThatMayMatch
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** An explanation finds the files that a scan keeps, whatever the filter. */
@SameOnAllLines
class ExplainedFilterSuite extends AnyFunSuite with ZOrderSession {

  test("800 filters at random: the same files as the scan, and no fewer with one range a file")(
    atRandom(0 until 16))

  test("2,200 filters at random: the same files as the scan, and no fewer with one range a file", LongTest)(
    atRandom(16 until 60))

  private def atRandom(seeds: Seq[Int]): Unit = {
    val _ = spark
    var gaps, bySet = 0
    seeds.foreach { seed =>
      val random = new RandomFilters(5000L + seed)
      val files = IndexedSeq.fill(6)(IndexedSeq.fill(random.nextInt(9))(random.row()))
      val index =
        SyntheticIndex(random.columns.map(c => c.name -> c.dataType), files, nullsKnown = seed % 2 == 0)
      (0 until 50).foreach { _ =>
        val filter = random.filter()
        val kept = new FilesThatMayMatch(index, _ => false)(Seq(filter))
        val explained = Predicates.whereTrue(filter, new ExplainedFilter(index, _ => false, Set.empty))
        assert(explained.files === kept, filter)
        val roughly =
          Predicates.whereTrue(filter, new ExplainedFilter(index.hulls, _ => false, Set.empty)).files
        val lost = kept.clone().asInstanceOf[java.util.BitSet]
        lost.andNot(roughly)
        assert(lost.isEmpty, filter)
        gaps += explained.gaps.size
        bySet += roughly.cardinality - kept.cardinality
      }
    }
    assert(gaps > 0 && bySet > 0)
  }
}
