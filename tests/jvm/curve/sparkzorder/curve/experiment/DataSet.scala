package sparkzorder.curve.experiment

import java.util.Random

/**
 * Generated columns of numbers.
 *
 * @param values
 *   by column and row
 * @param independent
 *   whether the columns are independent and without heavy values, so that the bound can be reached
 */
final class DataSet(val name: String, val values: Array[Array[Long]], val independent: Boolean) {
  val columns: Int = values.length
  val rows: Int = values(0).length
}

object DataSet {
  val names: Seq[String] = Seq("uniform", "lognormal", "zipf", "correlated", "mixed")

  /** @param seed another one gives other rows of the same distributions */
  def apply(name: String, columns: Int, rows: Int, seed: Long = 0L): DataSet = {
    val random = new Random(7L + columns + seed)
    val values = Array.fill(columns)(new Array[Long](rows))
    var i = 0
    while (i < rows) {
      fill(name, random, values, i)
      i += 1
    }
    new DataSet(name, values, name == "uniform" || name == "lognormal")
  }

  private def fill(name: String, random: Random, values: Array[Array[Long]], row: Int): Unit = {
    val common = random.nextGaussian()
    var c = 0
    while (c < values.length) {
      values(c)(row) = name match {
        case "uniform" => random.nextInt(1 << 20).toLong
        case "lognormal" => math.min(math.exp(8 + 2 * random.nextGaussian()), Int.MaxValue.toDouble).toLong
        case "zipf" => zipf(random, 1.2)
        case "correlated" =>
          val g = math.sqrt(Correlation) * common + math.sqrt(1 - Correlation) * random.nextGaussian()
          math.exp(g + 1.5 * c + 8).toLong
        case "mixed" => random.nextInt(Cardinalities(c)).toLong
      }
      c += 1
    }
  }

  private val Correlation = 0.95
  private val Cardinalities = Array(7, 1000000, 300, 30000)

  /** By rejection (Devroye 1986, X.6), cut off at 2^20. */
  private def zipf(random: Random, a: Double): Long = {
    val b = math.pow(2, a - 1)
    var x = 0.0
    var accepted = false
    while (!accepted) {
      x = math.floor(math.pow(1 - random.nextDouble(), -1 / (a - 1)))
      val t = math.pow(1 + 1 / x, a - 1)
      accepted = x < 1e15 && random.nextDouble() * x * (t - 1) / (b - 1) <= t / b
    }
    math.min(x, (1 << 20).toDouble).toLong
  }
}
