package sparkzorder.curve.experiment

import java.util.Random

import sparkzorder.curve.cost.{Factor, Shape}

/** The kinds of queries of the experiment: what is logged and what is asked later come from one source. */
final class Workload(data: DataSet, sampled: Array[Int], random: Random) {
  private[this] val d = data.columns
  private[this] val sorted: Array[Array[Long]] = data.values.map { column =>
    val values = sampled.map(column(_))
    java.util.Arrays.sort(values)
    values
  }

  /** Distinct sampled values of each column, as bits. */
  val caps: IndexedSeq[Double] =
    sorted.map(s => math.log(s.distinct.length.toDouble) / math.log(2)).toIndexedSeq

  private[this] lazy val repeated: Array[Asked] = Array.fill(Repeated)(ofTwo())
  private[this] val inOrder: IndexedSeq[Int] = 0 until d

  def queries(kind: String, n: Int): Array[Asked] =
    Array.fill(n)(if (kind == "rep") repeated(zipfBelow(Repeated)) else one(kind, inOrder))

  /**
   * What is known of a kind by somebody who does not know which columns and literals it prefers: every query
   * has its columns in an order of its own, and none comes again.
   */
  def unbiased(kind: String, n: Int): Array[Asked] = Array.fill(n) {
    if (kind == "rep") ofTwo() else one(kind, inOrder.map(c => (random.nextDouble(), c)).sorted.map(_._2))
  }

  /** @param by the columns in the order in which the kind takes them */
  private def one(kind: String, by: IndexedSeq[Int]): Asked = kind match {
    case "eqU" => ask(equality(by(random.nextInt(d))))
    case "eqW" => ask(equality(by(weighted())))
    case "rgU" => ask(range(by(random.nextInt(d)), 0.01))
    case "box" => ask(by.map(range(_, 0.1)): _*)
    case "mix" =>
      val u = random.nextDouble()
      if (u < 0.5) ask(range(by.last, 0.02))
      else if (u < 0.8) ask(equality(by.head), range(by.last, 0.2))
      else ask(range(by(0), 0.1), range(by(1), 0.1))
  }

  /** A box of two columns. */
  private def ofTwo(): Asked = {
    val first = random.nextInt(d)
    val second = (first + 1 + random.nextInt(d - 1)) % d
    ask(Seq(first, second).map(range(_, Widths(random.nextInt(Widths.length)))): _*)
  }

  private def weighted(): Int = {
    val u = random.nextDouble()
    val upTo = Weights(d).scanLeft(0.0)(_ + _).tail
    math.min(d - 1, math.max(0, upTo.indexWhere(u < _)))
  }

  private def zipfBelow(n: Int): Int = {
    val mass = Array.tabulate(n)(k => math.pow(k + 1.0, -1.3))
    var u = random.nextDouble() * mass.sum
    var k = 0
    while (k < n - 1 && u >= mass(k)) {
      u -= mass(k)
      k += 1
    }
    k
  }

  private def equality(column: Int): (Factor, Long, Long) = {
    val value = data.values(column)(random.nextInt(data.rows))
    val from = firstAt(sorted(column), value)
    val share = (firstAt(sorted(column), value + 1) - from).toDouble / sampled.length
    (Factor.equality(column, share), value, value)
  }

  private def range(column: Int, width: Double): (Factor, Long, Long) = {
    val from = random.nextDouble() * (1 - width)
    val n = sampled.length
    val low = sorted(column)((from * n).toInt)
    val high = sorted(column)(math.min(n - 1, ((from + width) * n).toInt))
    (Factor.range(column, width, 0.0), low, high)
  }

  private def ask(sides: (Factor, Long, Long)*): Asked = {
    val low = Array.fill(d)(Long.MinValue)
    val high = Array.fill(d)(Long.MaxValue)
    sides.foreach { case (f, from, until) =>
      low(f.column) = from
      high(f.column) = until
    }
    new Asked(low, high, Shape(sides.map(_._1).toIndexedSeq, 1.0))
  }

  private def firstAt(values: Array[Long], value: Long): Int = {
    var lo = 0
    var hi = values.length
    while (lo < hi) {
      val mid = (lo + hi) >>> 1
      if (values(mid) < value) lo = mid + 1 else hi = mid
    }
    lo
  }

  private def Repeated = 30
  private def Widths = Array(0.02, 0.05, 0.1, 0.3)
  private def Weights = Map(
    2 -> Seq(0.15, 0.85),
    3 -> Seq(0.1, 0.2, 0.7),
    4 -> Seq(0.05, 0.1, 0.25, 0.6))
}

object Workload {

  /** Kinds that need no log to do well in: every column counts the same. */
  val even: Seq[String] = Seq("eqU", "rgU", "box")

  /** Unequal columns, and literals that come again. */
  val uneven: Seq[String] = Seq("eqW", "mix", "rep")

  val kinds: Seq[String] = even ++ uneven
}
