package org.apache.spark.sql.zorder.expr.layout

import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast

/**
 * A value that expressions need in every task. A small one travels in the task; a large one, of a table with
 * thousands of partitions, is sent once to each executor, or thousands of tasks would unpack it thousands of
 * times. Its class must be one of the JDK: executors may know ours by another loader.
 */
sealed private[expr] trait SentToTasks[A] extends Serializable {
  def value: A
}

private[expr] object SentToTasks {
  def apply[A: ClassTag](value: A, large: Boolean): SentToTasks[A] =
    if (large) new Shared(SparkContext.getOrCreate().broadcast(value)) else new Along(value)

  final private class Along[A](override val value: A) extends SentToTasks[A]

  final private class Shared[A](sent: Broadcast[A]) extends SentToTasks[A] {
    override def value: A = sent.value
  }
}
