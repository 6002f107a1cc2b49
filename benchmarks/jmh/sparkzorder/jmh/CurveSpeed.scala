package sparkzorder.jmh

import org.openjdk.jmh.annotations._

import sparkzorder.curve.{BitPattern, Hilbert, Morton}

/** Codes that fit one long, from coordinates. */
@State(Scope.Thread)
class CurveSpeed {
  private val random = Inputs.random
  private val a = Inputs.ints(random, 32)
  private val b = Inputs.ints(random, 32)
  private val narrow = Array.fill(4)(Inputs.ints(random, 16))
  private val point = new Array[Int](4)
  private val out = new Array[Long](Inputs.Rows)

  // no turn follows another in an even rhythm, as in a pattern that was learned
  private val pattern = {
    val turns = Array.tabulate(64)(_ % 4)
    for (i <- 63 to 1 by -1) {
      val j = random.nextInt(i + 1)
      val turn = turns(i)
      turns(i) = turns(j)
      turns(j) = turn
    }
    new BitPattern(turns, Array.fill(4)(16))
  }

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

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def bitPattern4x16(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      point(0) = narrow(0)(i)
      point(1) = narrow(1)(i)
      point(2) = narrow(2)(i)
      point(3) = narrow(3)(i)
      out(i) = pattern.code(point)
      i += 1
    }
    out
  }
}
