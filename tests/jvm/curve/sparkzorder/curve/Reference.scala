package sparkzorder.curve

import java.math.BigInteger

/** Raw keys one bit at a time, from docs/spec.md, section 1, alone; slow, for comparison. */
object Reference {

  /** A column of one row: `None` is NULL, else an unsigned number of `width` bits. */
  final case class Cell(width: Int, value: Option[BigInteger]) {
    def bits: String = value match {
      case None => "0" * (width + 1)
      case Some(v) =>
        val digits = v.toString(2)
        require(v.signum >= 0 && digits.length <= width)
        "1" + "0" * (width - digits.length) + digits
    }
  }

  def zorder(row: Seq[Cell]): Array[Byte] = {
    val columns = row.map(_.bits)
    val key = new StringBuilder
    for (level <- 0 until columns.map(_.length).max; c <- columns if level < c.length) key.append(c(level))
    pack(key.toString)
  }

  /** The Hilbert key by the rule of one level, on numbers of any size. */
  def hilbert(row: Seq[Cell]): Array[Byte] = {
    val columns = row.map(_.bits)
    val levels = columns.map(_.length).max
    val d = columns.length
    if (d == 1) pack(columns.head)
    else {
      // entry and cell as bit lists, first coordinate first
      var entry = Seq.fill(d)(0)
      var turn = 0 // the list index that the Gray code's first bit goes to
      val key = new StringBuilder
      for (level <- 0 until levels) {
        val cell = columns.map(c => if (level < c.length) c(level) - '0' else 0)
        val turned = Seq.tabulate(d)(j => cell((j + turn) % d) ^ entry((j + turn) % d))
        val digit = turned.scanLeft(0)(_ ^ _).tail
        key.append(digit.mkString)
        val w = BigInt(digit.mkString, 2)
        if (w > 0) {
          val e = (w - 1) & ~BigInt(1)
          val gray = e ^ (e >> 1)
          val grayBits = Seq.tabulate(d)(j => if (gray.testBit(d - 1 - j)) 1 else 0)
          entry = Seq.tabulate(d)(j => entry(j) ^ grayBits((j - turn + d) % d))
        }
        val odd = if (w == 0) BigInt(0) else if (w.testBit(0)) w else w - 1
        val ones = Iterator.from(0).takeWhile(i => odd.testBit(i)).size
        turn = Math.floorMod(turn - (1 + ones), d)
      }
      pack(key.toString)
    }
  }

  def pack(bits: String): Array[Byte] =
    bits.grouped(8).map(b => Integer.parseInt(b.padTo(8, '0'), 2).toByte).toArray

  /** Words of the row as the product lays them out, written without [[KeyWords]]. */
  def words(row: Seq[Cell]): (KeyShape, Array[Long]) = {
    val longs = row.flatMap { c =>
      val n = KeyShape.longs(c.width)
      c.bits.padTo(64 * n, '0').grouped(64).map(java.lang.Long.parseUnsignedLong(_, 2))
    }
    (new KeyShape(row.map(_.width).toArray), longs.toArray)
  }

  def hex(bytes: Array[Byte]): String = bytes.map(b => f"${b & 0xff}%02x").mkString
}
