package org.apache.spark.sql.zorder.clustering.fit

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{Block, NormalizedBytes, NormalizedLong, Zone}
import sparkzorder.mark.SameOnAllLines

/** Bounds as Parquet keeps them. */
@SameOnAllLines
class TruncatedBoundsSuite extends AnyFunSuite {
  private def block(min: Array[Byte], max: Array[Byte]): Block =
    Block(
      5,
      IndexedSeq(
        Zone.Between(NormalizedLong(1), NormalizedLong(2)),
        Zone.Between(NormalizedBytes(min), NormalizedBytes(max))))

  private def bytes(n: Int, last: Int): Array[Byte] = Array.fill(n - 1)('x'.toByte) :+ last.toByte

  /** Bounds of the column of byte strings. */
  private def bounds(block: Block): (Array[Byte], Array[Byte]) = block.zones(1) match {
    case Zone.Between(NormalizedBytes(min), NormalizedBytes(max)) => (min, max)
    case other => fail(s"no bounds: $other")
  }

  /** A page of a row group of which nothing is known. */
  private def page(block: Block): Block =
    TruncatedBounds.ofPage(block, Block(block.rows, IndexedSeq(Zone.Unknown, Zone.Unknown)))

  test("a page keeps 64 bytes: the lower bound is cut, the upper one is cut and raised") {
    val kept = page(block(bytes(100, 1), bytes(70, 2)))
    val (min, max) = bounds(kept)
    assert(min.length === 64 && NormalizedBytes(min) <= NormalizedBytes(bytes(100, 1)))
    assert(max.length === 64 && NormalizedBytes(max) > NormalizedBytes(bytes(70, 2)) && max.last === 'y')
    assert(kept.zones(0) === Zone.Between(NormalizedLong(1), NormalizedLong(2)))
    val short = block(bytes(64, 1), bytes(64, 2))
    assert(page(short) === short && TruncatedBounds.ofChunk(short) === short)
  }

  test("a page whose cut bounds say nothing has those of its row group, which keeps them whole") {
    val (part, whole) = (block(bytes(100, 3), bytes(100, 4)), block(bytes(100, 1), bytes(100, 9)))
    assert(TruncatedBounds.ofPage(part, whole).zones === whole.zones)
    // and its own where they say more
    val short = block(bytes(20, 3), bytes(20, 4))
    assert(TruncatedBounds.ofPage(short, block(bytes(20, 1), bytes(20, 9))) === short)
  }

  test("what cannot be raised stays whole, also where only the first byte can") {
    val high = Array.fill(80)(0xff.toByte)
    assert(page(block(bytes(1, 1), high)).zones(1) === Zone.Between(
      NormalizedBytes(bytes(1, 1)),
      NormalizedBytes(high)))
    val (_, max) = bounds(page(block(bytes(1, 1), 7.toByte +: high)))
    assert(max.toSeq === Seq(8.toByte))
  }

  test("a footer keeps bounds of fewer than 4,096 bytes together, or none") {
    val most = block(bytes(2000, 1), bytes(2095, 2))
    assert(TruncatedBounds.ofChunk(most) === most)
    val more = TruncatedBounds.ofChunk(block(bytes(2000, 1), bytes(2096, 2)))
    assert(more.zones === IndexedSeq(Zone.Between(NormalizedLong(1), NormalizedLong(2)), Zone.Unknown))
  }
}
