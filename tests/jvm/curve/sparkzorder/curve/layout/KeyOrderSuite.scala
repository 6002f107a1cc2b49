package sparkzorder.curve.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Against a stable sort of boxed keys. */
class KeyOrderSuite extends AnyFunSuite {
  private val random = new Random(7)

  private def check(keys: Array[Long]): Unit =
    assert(KeyOrder.of(keys).toSeq === keys.indices.sortBy(keys(_)))

  test("rows by their keys; rows of one key keep their order") {
    for (values <- Seq(1, 2, 50, 1000000); n <- Seq(0, 1, 2, 3, 1000))
      check(Array.fill(n)(random.nextInt(values).toLong))
    check(Array(Long.MaxValue, 256L, 0L, 255L, 256L, Long.MaxValue, 1L << 62))
    for (n <- Seq(2, 5000)) check(Array.fill(n)(random.nextLong() & Long.MaxValue))
  }

  test("keys behind the rows do not count") {
    assert(KeyOrder.of(Array(3L, 1L, 2L, 0L, 0L), 3).toSeq === Seq(1, 2, 0))
  }
}
