package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types._
import sparkzorder.curve.{NormalizedBytes, Interleave, MsdOrder}
import org.scalatest.Assertions

/** How two rows compare: by their keys, and by the comparator, which must say the same. */
trait KeyOrder extends Assertions {

  /** Sign of row `a` against row `b`; values as `Literal.create` takes them. */
  protected def order(types: DataType*)(a: Any*)(b: Any*): Int = {
    val row = RowWords(types)
    def words(values: Seq[Any]): Array[Long] = {
      val out = row.scratch()
      values.zip(types).zipWithIndex.foreach { case ((v, t), i) =>
        row.put(out, i, Literal.create(v, t).value)
      }
      out
    }
    val (x, y) = (words(a), words(b))
    val byKey = NormalizedBytes.compareBytes(Interleave.key(row.shape, x), Interleave.key(row.shape, y))
    assert(MsdOrder.compare(row.shape, x, y) === Integer.signum(byKey), s"comparator and key: $a, $b")
    Integer.signum(byKey)
  }

  /** Each value lies strictly below the next one, alone and beside an equal column. */
  protected def ascending(dataType: DataType)(values: Any*): Unit =
    values.zip(values.tail).foreach { case (a, b) =>
      assert(order(dataType)(a)(b) === -1, s"$a < $b")
      assert(order(IntegerType, dataType)(7, a)(7, b) === -1, s"$a < $b beside an int")
      assert(order(dataType, StringType)(b, "x")(a, "x") === 1, s"$b > $a beside a string")
    }
}
