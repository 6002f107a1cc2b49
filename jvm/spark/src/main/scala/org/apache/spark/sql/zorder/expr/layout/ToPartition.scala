package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, IntegerType}
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/**
 * An INT that Spark's hash partitioning sends to the shuffle partition whose number the child gives: the
 * child is looked up in a table of pre-images of `pmod(murmur3(x), n)`. So rows go straight to a computed
 * partition on every Spark line, with public API only, and AQE keeps the number of partitions.
 */
final case class ToPartition(child: Expression, preImages: PreImages) extends UnaryExpression {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = child.nullable
  override def prettyName: String = "to_partition"

  override protected def nullSafeEval(partition: Any): Any = preImages.table(partition.asInstanceOf[Int])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val table = ctx.addReferenceObj("preImages", preImages.table, "int[]")
    defineCodeGen(ctx, ev, partition => s"$table[$partition]")
  }

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

/**
 * `table(i)` is an int that Spark's hash partitioning sends to partition `targets(i)` of `partitions`, or
 * without targets to partition i.
 */
final class PreImages(val partitions: Int, val targets: Option[IndexedSeq[Int]] = None) extends Serializable {
  private val HashPartitioningSeed = 42

  val table: Array[Int] = {
    val all = found()
    targets.fold(all)(_.map(all(_)).toArray)
  }

  /** Needs about n ln n hashes. */
  private def found(): Array[Int] = {
    val found = Array.fill(partitions)(-1)
    var missing = partitions
    var candidate = 0
    while (missing > 0) {
      val p = partition(candidate)
      if (found(p) < 0) {
        found(p) = candidate
        missing -= 1
      }
      candidate += 1
    }
    found
  }

  /** The shuffle partition of a row for which `ToPartition` gives this. */
  def partition(preImage: Int): Int =
    Math.floorMod(Murmur3_x86_32.hashInt(preImage, HashPartitioningSeed), partitions)

  override def toString: String = partitions.toString

  override def equals(other: Any): Boolean = other match {
    case that: PreImages => that.partitions == partitions && that.targets == targets
    case _ => false
  }

  override def hashCode(): Int = partitions
}
