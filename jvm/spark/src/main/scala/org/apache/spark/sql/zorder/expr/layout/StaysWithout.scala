package org.apache.spark.sql.zorder.expr.layout

import java.nio.ByteBuffer
import java.security.MessageDigest

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  Nondeterministic,
  SpecializedGetters,
  UnsafeArrayData,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodegenContext,
  ExprCode,
  FalseLiteral,
  GenerateUnsafeProjection
}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{
  ArrayType,
  BooleanType,
  DataType,
  DoubleType,
  FloatType,
  StructType,
  UserDefinedType
}

/**
 * Whether a row stays when others are taken out of its task: BOOLEAN, never NULL. The rows to take out come
 * first, and do not stay themselves; each of them takes one row that is equal to it in all columns, whichever
 * comes next. A row to take out that has no equal takes none. The caller finds that out by counting the rows
 * that stay.
 *
 * Equal are values of the same bytes: NULL is NULL, -0.0 is not 0.0, and a collation makes nothing equal. Only
 * NaN is NaN whatever its bits are. Rows are known by 128 bits of their SHA-256. Maps and variants have no such
 * bytes, and must not be among the columns.
 *
 * @param taken
 *   BOOLEAN: whether it is a row to take out
 */
final case class StaysWithout(taken: Expression, columns: Seq[Expression])
    extends Expression
    with Nondeterministic {
  override def children: Seq[Expression] = taken +: columns
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def prettyName: String = "stays_without"

  @transient private[this] var bytes: UnsafeProjection = _
  @transient private[this] var waiting: WaitingRows = _

  private def types: Array[DataType] = columns.map(_.dataType).toArray

  override protected def initializeInternal(partitionIndex: Int): Unit = {
    bytes = UnsafeProjection.create(columns)
    waiting = new WaitingRows(types)
  }

  override protected def evalInternal(row: InternalRow): Any = {
    val isTaken = taken.eval(row).asInstanceOf[Boolean]
    if (!isTaken && waiting.isEmpty) true else waiting.stays(isTaken, bytes(row))
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val name = classOf[WaitingRows].getName
    val waiting = ctx.addMutableState(name, "waiting")
    val all = ctx.addReferenceObj("types", types, s"${classOf[DataType].getName}[]")
    ctx.addPartitionInitializationStatement(s"$waiting = new $name($all);")
    val isTaken = taken.genCode(ctx)
    val row = GenerateUnsafeProjection.createCode(ctx, columns)
    ev.copy(
      code = code"""
        |${isTaken.code}
        |boolean ${ev.value} = true;
        |if (${isTaken.value} || !$waiting.isEmpty()) {
        |  ${row.code}
        |  ${ev.value} = $waiting.stays(${isTaken.value}, ${row.value});
        |}""".stripMargin,
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(taken = newChildren.head, columns = newChildren.tail)
}

/**
 * The rows that wait for an equal one to take it out, in one task.
 *
 * @param types
 *   of the columns
 */
final class WaitingRows(types: Array[DataType]) {
  private[this] val sha = MessageDigest.getInstance("SHA-256")
  private[this] val withNaN = types.indices.filter(i => WaitingRows.mayHaveNaN(types(i))).toArray
  private[this] val counts = mutable.HashMap.empty[(Long, Long), Long]

  def isEmpty: Boolean = counts.isEmpty

  /**
   * Whether the row stays; a row to take out waits from now on.
   *
   * @param row
   *   its bytes are changed
   */
  def stays(isTaken: Boolean, row: UnsafeRow): Boolean = {
    withNaN.foreach(i => WaitingRows.unifyNaN(row, i, types(i)))
    val hash = ByteBuffer.wrap(sha.digest(row.getBytes))
    val key = (hash.getLong, hash.getLong)
    val count = counts.getOrElse(key, 0L)
    if (isTaken) counts(key) = count + 1
    else if (count > 1) counts(key) = count - 1
    else counts -= key
    !isTaken && count == 0
  }
}

private object WaitingRows {

  private def mayHaveNaN(t: DataType): Boolean = t.existsRecursively {
    case FloatType | DoubleType | _: UserDefinedType[_] => true
    case _ => false
  }

  /**
   * Gives each NaN of a value the same bits, where it lies. Files of other writers may have NaNs of other bits,
   * which Parquet's writer does not keep.
   *
   * @param holder
   *   an unsafe row or array
   */
  private def unifyNaN(holder: SpecializedGetters, at: Int, t: DataType): Unit =
    if (!holder.isNullAt(at)) t match {
      case DoubleType => if (holder.getDouble(at).isNaN) setDouble(holder, at, Double.NaN)
      case FloatType => if (holder.getFloat(at).isNaN) setFloat(holder, at, Float.NaN)
      case s: StructType =>
        val fields = holder.getStruct(at, s.length)
        s.indices.foreach(i => unifyNaN(fields, i, s(i).dataType))
      case a: ArrayType =>
        val elements = holder.getArray(at)
        if (mayHaveNaN(a.elementType))
          (0 until elements.numElements()).foreach(unifyNaN(elements, _, a.elementType))
      case u: UserDefinedType[_] => unifyNaN(holder, at, u.sqlType)
      case _ => ()
    }

  private def setDouble(holder: SpecializedGetters, at: Int, value: Double): Unit = holder match {
    case row: UnsafeRow => row.setDouble(at, value)
    case other => other.asInstanceOf[UnsafeArrayData].setDouble(at, value)
  }

  private def setFloat(holder: SpecializedGetters, at: Int, value: Float): Unit = holder match {
    case row: UnsafeRow => row.setFloat(at, value)
    case other => other.asInstanceOf[UnsafeArrayData].setFloat(at, value)
  }
}
