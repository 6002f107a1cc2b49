package sparkzorder.jmh

import org.openjdk.jmh.annotations._

import sparkzorder.curve.{Hilbert, Morton}

/** Codes that fit one long, from coordinates. */
@State(Scope.Thread)
class CurveSpeed {
  private val random = Inputs.random
  private val a = Inputs.ints(random, 32)
  private val b = Inputs.ints(random, 32)
  private val point = new Array[Int](2)
  private val out = new Array[Long](Inputs.Rows)

  /** What reading and writing alone take. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def floorTwoInts(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      out(i) = (a(i).toLong << 32) | (b(i) & 0xffffffffL)
      i += 1
    }
    out
  }

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def morton2x32(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      out(i) = Morton.morton2(a(i), b(i))
      i += 1
    }
    out
  }

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def hilbert2x32(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      point(0) = a(i)
      point(1) = b(i)
      out(i) = Hilbert.index(point, 2, 32)
      i += 1
    }
    out
  }
}
