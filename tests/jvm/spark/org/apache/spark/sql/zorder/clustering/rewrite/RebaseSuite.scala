package org.apache.spark.sql.zorder.clustering.rewrite

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.NamedType
import sparkzorder.mark.SameOnAllLines

/** What is told apart by its values alone. */
@SameOnAllLines
class RebaseSuite extends AnyFunSuite {

  test("rows are hashed and compared by no column with a map, a variant or a place in it") {
    val others =
      Seq("variant", "geometry(4326)", "geography(any)").map(new NamedType(_)) :+ MapType(LongType, LongType)
    for (t <- others) {
      assert(!Rebase.isComparable(t) && !Rebase.isComparable(ArrayType(t)), t.typeName)
      assert(!Rebase.isComparable(new StructType().add("id", LongType).add("in", t)), t.typeName)
    }
    for (t <- Seq(LongType, StringType, ArrayType(BinaryType), new NamedType("time(6)")))
      assert(Rebase.isComparable(t), t.typeName)
  }
}
