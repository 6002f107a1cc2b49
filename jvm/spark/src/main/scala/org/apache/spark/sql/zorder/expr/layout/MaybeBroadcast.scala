package org.apache.spark.sql.zorder.expr.layout

import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast

/**
 * A value that an expression needs in every task. A small one is sent within the task; a large one, of a
 * table with thousands of partitions, is broadcast, so that an executor unpacks it once and not once for each
 * task. Its class must be one of the JDK: executors may load our classes with another class loader.
 */
sealed private[expr] trait MaybeBroadcast[A] extends Serializable {
  def value: A
}

private[expr] object MaybeBroadcast {
  def apply[A: ClassTag](value: A, large: Boolean): MaybeBroadcast[A] =
    if (large) new Broadcasted(SparkContext.getOrCreate().broadcast(value)) else new Inlined(value)

  final private class Inlined[A](override val value: A) extends MaybeBroadcast[A]

  final private class Broadcasted[A](sent: Broadcast[A]) extends MaybeBroadcast[A] {
    override def value: A = sent.value
  }
}
