package sparkzorder.curve

/** The way back from a raw key to the words of its columns, one bit at a time. */
object Deinterleave {

  /** The words that [[Interleave.key]] made `key` from. */
  def words(shape: KeyShape, key: Array[Byte]): Array[Long] = {
    require(
      key.length == shape.zorderBytes,
      s"a key of this shape has ${shape.zorderBytes} bytes, not ${key.length}")
    val out = new Array[Long](shape.words)
    var position = 0
    for (level <- 0 until shape.levels; i <- 0 until shape.columns if level <= shape.widths(i)) {
      val bit = (key(position >>> 3) >>> (7 - (position & 7))) & 1L
      val at = shape.begin(i) + (level >>> 6)
      out(at) |= bit << (63 - (level & 63))
      position += 1
    }
    out
  }
}
