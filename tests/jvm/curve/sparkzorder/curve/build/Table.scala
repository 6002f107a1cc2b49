package sparkzorder.curve.build

import java.util.SplittableRandom

/** Generated columns of numbers; row i is NULL where `isNull(c)(i)`. */
final class Table(val name: String, val values: Array[Array[Long]], val isNull: Array[Array[Boolean]]) {
  val columns: Int = values.length
  val rows: Int = values(0).length

  /** Every k-th row, so many of them; the rows come in random order. */
  def sample(n: Int): Table =
    if (n >= rows) this
    else new Table(name, values.map(pick(_, n)), isNull.map(m => Array.tabulate(n)(i => m(at(i, n)))))

  private def at(i: Int, n: Int): Int = (i.toLong * rows / n).toInt

  private def pick(column: Array[Long], n: Int): Array[Long] = Array.tabulate(n)(i => column(at(i, n)))
}

object Table {
  private val Seed = 5L

  def apply(name: String, rows: Int)(columns: (SplittableRandom => Long)*): Table = {
    val random = new SplittableRandom(Seed)
    val values = columns.map(_ => new Array[Long](rows)).toArray
    val nulls = columns.map(_ => new Array[Boolean](rows)).toArray
    for (i <- 0 until rows; c <- columns.indices) {
      val v = columns(c)(random)
      nulls(c)(i) = v == Null
      values(c)(i) = if (v == Null) 0L else v
    }
    new Table(name, values, nulls)
  }

  /** A generator gives this for NULL. */
  val Null: Long = Long.MinValue

  def below(n: Long): SplittableRandom => Long = _.nextLong(n)

  def constant(v: Long): SplittableRandom => Long = _ => v

  /** Of the values, a share becomes `instead`. */
  def often(share: Double, instead: Long, of: SplittableRandom => Long): SplittableRandom => Long =
    r => if (r.nextDouble() < share) instead else of(r)

  /** Zipf by rejection (Devroye 1986, X.6), cut off at 2^20. */
  def zipf(a: Double): SplittableRandom => Long = { r =>
    val b = math.pow(2, a - 1)
    var x = 0.0
    var accepted = false
    while (!accepted) {
      x = math.floor(math.pow(1 - r.nextDouble(), -1 / (a - 1)))
      val t = math.pow(1 + 1 / x, a - 1)
      accepted = x < 1e15 && r.nextDouble() * x * (t - 1) / (b - 1) <= t / b
    }
    math.min(x, 1 << 20).toLong
  }

  /** Two columns of normal values with this correlation. */
  def correlated(name: String, rows: Int, rho: Double): Table = {
    val random = new java.util.Random(Seed)
    val values = Array.fill(2)(new Array[Long](rows))
    (0 until rows).foreach { i =>
      val x = random.nextGaussian()
      val y = rho * x + math.sqrt(1 - rho * rho) * random.nextGaussian()
      values(0)(i) = (x * 1e6).toLong
      values(1)(i) = (y * 1e6).toLong
    }
    new Table(name, values, Array.fill(2)(new Array[Boolean](rows)))
  }

  /** Places around some towns, more of them around the first. */
  def towns(rows: Int, seed: Long, count: Int): Table = {
    val random = new java.util.Random(seed)
    val centres = Array.fill(count)((random.nextDouble() * 1e6, random.nextDouble() * 1e6))
    val spread = Array.fill(count)(3e3 + random.nextDouble() * 3e4)
    val values = Array.fill(2)(new Array[Long](rows))
    (0 until rows).foreach { i =>
      val town = (count * math.pow(random.nextDouble(), 2)).toInt
      values(0)(i) = (centres(town)._1 + random.nextGaussian() * spread(town)).toLong
      values(1)(i) = (centres(town)._2 + random.nextGaussian() * spread(town)).toLong
    }
    new Table(s"$count towns, seed $seed", values, Array.fill(2)(new Array[Boolean](rows)))
  }

  /** The tables whose figures the issue names. */
  def named(rows: Int): Seq[Table] = {
    val wide = below(1000000)
    Seq(
      Table("uniform", rows)(wide, wide),
      Table("int and bigint", rows)(below(1000), wide),
      Table("8 values and wide", rows)(below(8), wide),
      Table("wide and 8 values", rows)(wide, below(8)),
      Table("zipf 1.2", rows)(zipf(1.2), zipf(1.2)),
      Table("zipf 1.5", rows)(zipf(1.5), zipf(1.5)),
      Table("30 % NULL in both", rows)(often(0.3, Null, wide), often(0.3, Null, wide)),
      Table("30 % NULL in one", rows)(often(0.3, Null, wide), wide),
      Table("30 % NULL in the second", rows)(wide, often(0.3, Null, wide)),
      Table("4.5 % NULL in both", rows)(often(0.045, Null, wide), often(0.045, Null, wide)),
      Table("uniform, 3 columns", rows)(wide, wide, wide))
  }

  /** Tables with atoms, dependence or few keys: the sizes must hold, the figures are softer. */
  def hard(rows: Int): Seq[Table] = {
    val wide = below(1000000)
    Seq(
      Table("40 % heavy", rows)(often(0.4, 500000, wide), wide),
      Table("40 % heavy in both", rows)(often(0.4, 500000, wide), often(0.4, 0, wide)),
      Table("90 % heavy", rows)(wide, often(0.9, 7, wide)),
      Table("all NULL", rows)(constant(Null), constant(Null)),
      Table("one all NULL", rows)(constant(Null), wide),
      Table("all equal", rows)(constant(7), constant(9)),
      Table("five keys", rows)(below(5), constant(0)),
      Table("3 x 3 keys", rows)(below(3), below(3)),
      Table("40 keys, skewed", rows)(r => math.min(39, zipf(1.5)(r)), constant(1)),
      Table("97 % NULL in both", rows)(often(0.97, Null, wide), often(0.97, Null, wide)),
      Table("zipf 2.5", rows)(zipf(2.5), zipf(2.5)),
      Table("flags", rows)(often(0.999, 0, below(2)), below(2), often(0.01, Null, below(3))),
      Table("one column", rows)(wide),
      Table("one zipf column", rows)(zipf(1.2)),
      Table("8 columns", rows)(Seq.fill(8)(wide): _*),
      correlated("correlation .95", rows, 0.95))
  }
}
