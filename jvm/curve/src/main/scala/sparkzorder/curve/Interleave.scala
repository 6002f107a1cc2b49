package sparkzorder.curve

import java.nio.ByteBuffer

/** The raw `zorder` key: the bits of all columns, level by level. Only the result is allocated. */
object Interleave {

  /** The key of one row, whose words are laid out as `shape` says. */
  def key(shape: KeyShape, words: Array[Long]): Array[Byte] = {
    val out = new Array[Byte](shape.zorderBytes)
    run(shape.steps, words, out)
    out
  }

  /** The bits of all steps one after the other. */
  private[curve] def run(steps: Array[KeyStep], words: Array[Long], out: Array[Byte]): Unit = {
    // one store for eight bytes; the buffer itself is never made, since it does not leave this method
    val buffer = ByteBuffer.wrap(out)
    var at = 0
    // the last 64 bits that were stored, and those that are not yet, from the top of a long
    var stored = 0L
    var hold = 0L
    var held = 0
    var s = 0
    while (s < steps.length) {
      val step = steps(s)
      val bits = step.bits
      val code = step.code(words) << (64 - bits)
      hold |= code >>> held
      held += bits
      if (held >= 64) {
        buffer.putLong(at, hold)
        stored = hold
        at += 8
        held -= 64
        // what did not fit; a shift by 64 would be none
        hold = if (held == 0) 0L else code << (bits - held)
      }
      s += 1
    }
    if (held > 0) {
      // stored together with the bytes before it
      val last = out.length - 8
      if (last >= 0) {
        val tail = 8 * (out.length - at)
        buffer.putLong(last, if (tail == 64) hold else (stored << tail) | (hold >>> (64 - tail)))
      } else putBytes(out, hold)
    }
  }

  private def putBytes(out: Array[Byte], bits: Long): Unit = {
    var i = 0
    while (i < out.length) {
      out(i) = (bits >>> (56 - 8 * i)).toByte
      i += 1
    }
  }
}
