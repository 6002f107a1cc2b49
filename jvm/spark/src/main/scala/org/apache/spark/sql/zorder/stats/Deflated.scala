package org.apache.spark.sql.zorder.stats

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.zip.{Deflater, DeflaterOutputStream, InflaterInputStream}

import org.apache.hadoop.io.IOUtils

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
    val out = new ByteArrayOutputStream(packed.length)
    // closes both
    IOUtils.copyBytes(new InflaterInputStream(new ByteArrayInputStream(packed)), out, BufferBytes, true)
    out.toByteArray
  }
}
