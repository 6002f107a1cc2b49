package org.apache.spark.sql.zorder.insight.advise

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.advise.ColumnSet
import sparkzorder.curve.build.QueryShares
import sparkzorder.curve.cost.RankQueries

class ProposalsSuite extends AnyFunSuite {

  test("columns are added until one does nothing: hardly a bit, and no less is read") {
    val one = set(0.5, 4.0)
    val two = set(0.25, 2.0, 2.0)
    assert(Proposals.worthwhile(IndexedSeq(one, two, set(0.2499, 2.0, 2.0, 0.0009))) === Seq(one, two))
    // read in numbers, a column may be worth it though it is cut little, or be cut and yet gain nothing here
    val rare = IndexedSeq(one, set(0.2, 4.0, 0.01))
    assert(Proposals.worthwhile(rare) === rare)
    val cut = IndexedSeq(one, set(0.5, 2.0, 2.0))
    assert(Proposals.worthwhile(cut) === cut)
  }

  private def set(share: Double, bits: Double*): ColumnSet = {
    val query = new RankQueries(Array(Array.empty), Array(1.0))
    val shares = new QueryShares(Array(share), Array(share), query)
    val columns = bits.indices
    ColumnSet(columns, "zorder", bits.toIndexedSeq, shares, shares, columns, 0.0)
  }
}
