package org.apache.spark.sql.zorder.table.storage

import java.io.IOException

import org.scalatest.funsuite.AnyFunSuite

class DriverReadsSuite extends AnyFunSuite {

  test("answers come in the order of what was asked") {
    for (n <- Seq(0, 1, 2, 100))
      assert(DriverReads.each(0 until n, 8) { i =>
        Thread.sleep((i % 3).toLong)
        i * 2
      } === (0 until n).map(_ * 2))
  }

  test("an error is thrown as it is, also one after which nobody would answer") {
    for (e <- Seq(new IOException("gone"), new NoClassDefFoundError("a codec"), new StackOverflowError)) {
      val thrown = intercept[Throwable](DriverReads.each(0 until 20, 4)(i => if (i == 7) throw e else i))
      assert(thrown eq e)
    }
  }
}
