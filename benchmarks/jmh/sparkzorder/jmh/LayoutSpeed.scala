package sparkzorder.jmh

import org.openjdk.jmh.annotations._
import sparkzorder.curve.layout._

/** What a row costs in a fitted layout of four BIGINT columns. */
@State(Scope.Thread)
class LayoutSpeed {
  private val random = Inputs.random
  private val scales: Array[Scale] = Array.fill(4)(Inputs.scale(random))
  private val values = Array.fill(4)(Inputs.values(random, Inputs.Rows))
  private val points = Inputs.ranks(random, 4)
  private val small = new CompiledLayout(scales, Inputs.tree(random, 4, 8), InFileOrder.Hilbert)
  private val large = new CompiledLayout(scales, Inputs.tree(random, 4, 12), InFileOrder.Hilbert)
  private val ranks = new Array[Int](4)
  private val scratch = new Array[Int](4)
  private val files = new Array[Int](Inputs.Rows)
  private val keys = new Array[Long](Inputs.Rows)

  /** The rank of one value. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def rank(): Array[Int] = {
    val column = values(0)
    var i = 0
    while (i < Inputs.Rows) {
      files(i) = small.rank(0, column(i))
      i += 1
    }
    files
  }

  /** The leaf of a row in a tree of 4,096 leaves, its ranks given. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def walk4096(): Array[Int] = {
    var i = 0
    while (i < Inputs.Rows) {
      files(i) = large.cell(points(i))
      i += 1
    }
    files
  }

  /** From four values to `zorder_key`, in 256 files. */
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def fourRanksAndKey(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      var c = 0
      while (c < 4) {
        ranks(c) = small.rank(c, values(c)(i))
        c += 1
      }
      val cell = small.cell(ranks)
      keys(i) = small.key(cell, small.fileOf(cell), ranks, scratch)
      i += 1
    }
    keys
  }

  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def keyOnly(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      val cell = i & 255
      keys(i) = small.key(cell, small.fileOf(cell), points(i), scratch)
      i += 1
    }
    keys
  }
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def walk256(): Array[Int] = {
    var i = 0
    while (i < Inputs.Rows) {
      files(i) = small.cell(points(i))
      i += 1
    }
    files
  }
  @Benchmark
  @OperationsPerInvocation(Inputs.Rows)
  def fourRanks(): Array[Long] = {
    var i = 0
    while (i < Inputs.Rows) {
      var c = 0
      while (c < 4) {
        ranks(c) = small.rank(c, values(c)(i))
        c += 1
      }
      keys(i) = ranks(0) ^ ranks(1)
      i += 1
    }
    keys
  }
}
