package sparkzorder.curve.experiment

import sparkzorder.curve.Hilbert

/** The keys that other table formats sort by; their files are cut by equal counts. */
object Peers {

  /** Bits of the values as they are, interleaved: what Iceberg, Paimon and Hudi's direct mode do. */
  def rawZ(data: DataSet): Array[Long] = {
    val bits = math.min(31, 63 / data.columns)
    interleaved(data.values.map(_.map(v => (v >> (31 - bits)).toInt)), bits)
  }

  /** Range ids from quantiles of a sample, equal quantiles dropped, interleaved: Delta's Z-order. */
  def denseZ(data: DataSet, sampled: Array[Int]): Array[Long] = interleaved(ids(data, sampled), IdBits)

  /** The same ids along the Hilbert curve: Delta's liquid clustering. */
  def denseHilbert(data: DataSet, sampled: Array[Int]): Array[Long] = {
    val id = ids(data, sampled)
    val point = new Array[Int](data.columns)
    Array.tabulate(data.rows) { i =>
      point.indices.foreach(c => point(c) = id(c)(i))
      Hilbert.index(point, point.length, IdBits)
    }
  }

  private val Ranges = 1000
  private val IdBits = 10

  private def ids(data: DataSet, sampled: Array[Int]): Array[Array[Int]] = data.values.map { column =>
    val sorted = sampled.map(column(_))
    java.util.Arrays.sort(sorted)
    val bounds =
      (1 until Ranges).map(k => sorted((k.toLong * (sorted.length - 1) / Ranges).toInt)).distinct.toArray
    column.map { v =>
      val at = java.util.Arrays.binarySearch(bounds, v)
      if (at >= 0) at else -at - 1
    }
  }

  /** Most significant bits first, ties to the earlier column; bit by bit, so that it is plainly right. */
  private def interleaved(coordinates: Array[Array[Int]], bits: Int): Array[Long] =
    Array.tabulate(coordinates(0).length) { i =>
      var key = 0L
      var bit = bits - 1
      while (bit >= 0) {
        var c = 0
        while (c < coordinates.length) {
          key = (key << 1) | ((coordinates(c)(i) >>> bit) & 1)
          c += 1
        }
        bit -= 1
      }
      key
    }
}
