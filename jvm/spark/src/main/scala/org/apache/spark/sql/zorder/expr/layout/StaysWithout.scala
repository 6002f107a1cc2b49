package org.apache.spark.sql.zorder.expr.layout

import java.nio.ByteBuffer
import java.security.MessageDigest

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Nondeterministic, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Whether a row stays when others are taken out of its task: BOOLEAN, never NULL. The rows to take out come first, and
 * do not stay themselves; each of them takes one row that is equal to it in all columns, whichever comes next. A row
 * that is not found takes none: who asks counts the rows that stay.
 *
 * Equal are values of the same bytes: NULL is NULL, NaN is NaN, -0.0 is not 0.0, and a collation makes nothing equal. Rows are known
 * by 128 bits of their SHA-256. Maps and variants have no such bytes, and must not be among the columns.
 *
 * @param taken
 *   BOOLEAN: whether it is a row to take out
 */
final case class StaysWithout(taken: Expression, columns: Seq[Expression])
    extends Expression
    with Nondeterministic
    with CodegenFallback {
  override def children: Seq[Expression] = taken +: columns
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def prettyName: String = "stays_without"

  @transient private[this] var bytes: UnsafeProjection = _
  @transient private[this] var sha: MessageDigest = _
  @transient private[this] var waiting: mutable.Map[(Long, Long), Long] = _

  override protected def initializeInternal(partitionIndex: Int): Unit = {
    bytes = UnsafeProjection.create(columns)
    sha = MessageDigest.getInstance("SHA-256")
    waiting = mutable.HashMap.empty
  }

  override protected def evalInternal(row: InternalRow): Any =
    if (taken.eval(row).asInstanceOf[Boolean]) {
      val key = keyOf(row)
      waiting(key) = waiting.getOrElse(key, 0L) + 1
      false
    } else waiting.isEmpty || stays(keyOf(row))

  private def stays(key: (Long, Long)): Boolean = waiting.get(key) match {
    case None => true
    case Some(1L) =>
      waiting -= key
      false
    case Some(n) =>
      waiting(key) = n - 1
      false
  }

  private def keyOf(row: InternalRow): (Long, Long) = {
    val hash = ByteBuffer.wrap(sha.digest(bytes(row).getBytes))
    (hash.getLong, hash.getLong)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(taken = newChildren.head, columns = newChildren.tail)
}
