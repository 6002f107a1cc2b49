package org.apache.spark.sql.zorder.stats

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.zip.{Deflater, DeflaterOutputStream, InflaterInputStream}

/** Bytes that are packed with Deflate, fast rather than small. */
private[zorder] object Deflated {
  private val BufferBytes = 1 << 16

  def of(bytes: Array[Byte]): Array[Byte] = {
    val out = new ByteArrayOutputStream(bytes.length / 2 + 64)
    val deflater = new Deflater(Deflater.BEST_SPEED)
    try {
      val packer = new DeflaterOutputStream(out, deflater, BufferBytes)
      packer.write(bytes)
      packer.finish()
    } finally deflater.end()
    out.toByteArray
  }

  def plain(packed: Array[Byte]): Array[Byte] = {
    val in = new InflaterInputStream(new ByteArrayInputStream(packed))
    try {
      val out = new ByteArrayOutputStream(packed.length)
      val buffer = new Array[Byte](BufferBytes)
      var read = in.read(buffer)
      while (read >= 0) {
        out.write(buffer, 0, read)
        read = in.read(buffer)
      }
      out.toByteArray
    } finally in.close()
  }
}
