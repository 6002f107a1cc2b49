package sparkzorder.jmh

import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.Blackhole

import sparkzorder.curve.{HilbertKey, Interleave, KeyShape, KeyWords}

/** BINARY keys over raw values, from the values to the new byte array. */
@State(Scope.Thread)
class RawKeySpeed {
  private val random = Inputs.random
  private val a = Inputs.ints(random, 32)
  private val b = Inputs.ints(random, 32)
  private val c = Inputs.values(random, Inputs.Rows)
  private val equal = new KeyShape(Array(32, 32))
  private val unequal = new KeyShape(Array(32, 64))
  private val words = new Array[Long](unequal.words)

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def zorderIntInt(keys: Blackhole): Unit = {
    var i = 0
    while (i < Inputs.Rows) {
      KeyWords.putLong(words, 0, 32, a(i).toLong)
      KeyWords.putLong(words, 1, 32, b(i).toLong)
      keys.consume(Interleave.key(equal, words))
      i += 1
    }
  }

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def zorderIntBigint(keys: Blackhole): Unit = {
    var i = 0
    while (i < Inputs.Rows) {
      KeyWords.putLong(words, 0, 32, a(i).toLong)
      KeyWords.putLong(words, 1, 64, c(i))
      keys.consume(Interleave.key(unequal, words))
      i += 1
    }
  }

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def hilbertIntInt(keys: Blackhole): Unit = {
    var i = 0
    while (i < Inputs.Rows) {
      KeyWords.putLong(words, 0, 32, a(i).toLong)
      KeyWords.putLong(words, 1, 32, b(i).toLong)
      keys.consume(HilbertKey.key(equal, words))
      i += 1
    }
  }
}
