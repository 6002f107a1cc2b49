package sparkzorder.curve

/**
 * Codes by any bit pattern: a list of columns says whose next bit is the next bit of the code, so that
 * Z-order is 0 1 0 1 ... and a sort is 0 0 ... 1 1 ... Each byte of a column has a table of what its 256
 * values give, and the code is these entries, OR-ed. Nothing is allocated.
 *
 * @param turns
 *   the column of each bit of the code, most significant first; 1 to 64 of them
 * @param widths
 *   bits of each column's coordinate, 1 to 32. A column gives its bits from the top, so it may have at most
 *   so many turns; the bits for which it has none do not count.
 */
final class BitPattern(turns: Array[Int], widths: Array[Int]) extends Serializable {
  require(turns.nonEmpty && turns.length <= 64, "1 to 64 bits a code")
  require(widths.forall(w => w >= 1 && w <= 32), "1 to 32 bits a coordinate")
  require(turns.forall(c => c >= 0 && c < widths.length), "a turn of a column that is not there")

  private[this] val taken: Array[Int] = widths.indices.map(c => turns.count(_ == c)).toArray
  require(widths.indices.forall(c => taken(c) <= widths(c)), "more turns than the column has bits")

  // the bits of a column below its last turn
  private[this] val dropped: Array[Int] = widths.indices.map(c => widths(c) - taken(c)).toArray

  // a column is read 16 bits at a time, lowest first: part p are the bits of column(p) above shift(p)
  private[this] val parts: Array[(Int, Int)] =
    widths.indices.flatMap(c => (0 until taken(c) by 16).map(from => (c, from))).toArray
  private[this] val column: Array[Int] = parts.map(_._1)
  private[this] val shift: Array[Int] = parts.map { case (c, from) => dropped(c) + from }

  // 512 entries a part: 256 of its low byte, then 256 of its high byte
  private[this] val entries: Array[Long] = BitPattern.entries(turns, taken, parts)

  /** Number of bits of a code; it is negative only where they are 64. */
  def bits: Int = turns.length

  /** The code of a point; bits of `coordinates(c)` above its width are ignored. */
  def code(coordinates: Array[Int]): Long = column.length match {
    // a loop of a few rounds takes longer to set up than to run
    case 1 => part(coordinates, 0)
    case 2 => part(coordinates, 0) | part(coordinates, 1)
    case 3 => part(coordinates, 0) | part(coordinates, 1) | part(coordinates, 2)
    case 4 => part(coordinates, 0) | part(coordinates, 1) | part(coordinates, 2) | part(coordinates, 3)
    case parts =>
      var out = 0L
      var p = 0
      while (p < parts) {
        out |= part(coordinates, p)
        p += 1
      }
      out
  }

  private def part(coordinates: Array[Int], p: Int): Long = {
    val bits = coordinates(column(p)) >>> shift(p)
    val table = p << 9
    entries(table | (bits & 0xff)) | entries(table | 0x100 | ((bits >>> 8) & 0xff))
  }

  /** The way back, one bit at a time: the coordinates of `code`, zeros where a column had no turn. */
  def point(code: Long, out: Array[Int]): Unit = {
    java.util.Arrays.fill(out, 0, widths.length, 0)
    var i = 0
    while (i < turns.length) {
      val bit = (code >>> (turns.length - 1 - i)).toInt & 1
      out(turns(i)) = (out(turns(i)) << 1) | bit
      i += 1
    }
    widths.indices.foreach(c => if (taken(c) > 0) out(c) <<= dropped(c))
  }
}

private object BitPattern {

  /** The tables: each bit of a column is put where its turn is. */
  def entries(turns: Array[Int], taken: Array[Int], parts: Array[(Int, Int)]): Array[Long] = {
    val out = new Array[Long](parts.length << 9)
    val left = taken.clone()
    turns.indices.foreach { i =>
      val c = turns(i)
      left(c) -= 1
      val table = (parts.indexOf((c, left(c) & ~15)) << 9) | ((left(c) & 8) << 5)
      val place = turns.length - 1 - i
      for (byte <- 0 until 256) out(table | byte) |= ((byte >>> (left(c) & 7)) & 1L) << place
    }
    out
  }
}
