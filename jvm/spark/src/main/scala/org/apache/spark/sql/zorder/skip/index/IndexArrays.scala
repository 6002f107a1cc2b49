package org.apache.spark.sql.zorder.skip.index

import java.io.{DataInputStream, DataOutputStream}
import java.nio.ByteBuffer

/** Arrays in the bytes of an index file. */
private[index] object IndexArrays {

  def longs(values: Array[Long], out: DataOutputStream): Unit = {
    val buffer = ByteBuffer.allocate(8 * values.length)
    buffer.asLongBuffer().put(values)
    out.write(buffer.array)
  }

  def readLongs(count: Int, in: DataInputStream): Array[Long] = {
    val bytes = new Array[Byte](8 * count)
    in.readFully(bytes)
    val values = new Array[Long](count)
    ByteBuffer.wrap(bytes).asLongBuffer().get(values)
    values
  }

  def byteStrings(values: Array[Array[Byte]], out: DataOutputStream): Unit = {
    values.foreach(v => out.writeInt(v.length))
    values.foreach(v => out.write(v))
  }

  def readByteStrings(count: Int, in: DataInputStream): Array[Array[Byte]] = {
    val values = Array.fill(count)(new Array[Byte](in.readInt()))
    values.foreach(v => in.readFully(v))
    values
  }

  def strings(values: Array[String], out: DataOutputStream): Unit =
    byteStrings(values.map(_.getBytes("UTF-8")), out)

  def readStrings(count: Int, in: DataInputStream): Array[String] =
    readByteStrings(count, in).map(new String(_, "UTF-8"))
}
