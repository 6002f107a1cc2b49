package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.expr.word.{BytesWordType, LongWordType, WordType}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{KeyShape, KeyWords}

/**
 * Writes the values of a row, in Spark's internal representation, as the words of a [[KeyShape]]: `put` interprets,
 * `putCode` generates code.
 */
final class RowWords private (types: IndexedSeq[WordType], plainString: IndexedSeq[Boolean]) {
  val columns: Int = types.length
  val shape: KeyShape = new KeyShape(types.map(_.bits).toArray)

  /** A new array for the words of one row. Each value overwrites its own part of it. */
  def scratch(): Array[Long] = new Array[Long](shape.words)

  def put(words: Array[Long], i: Int, value: Any): Unit = {
    val at = shape.begin(i)
    if (value == null) KeyWords.putNull(words, at, shape.widths(i))
    else types(i) match {
      case t: LongWordType => KeyWords.putLong(words, at, t.bits, t.toLong(value))
      case _ if plainString(i) => StringWords.put(words, at, value.asInstanceOf[UTF8String])
      case t: BytesWordType => KeyWords.putBytes(words, at, t.toBytes(value))
    }
  }

  /** Adds a field with a scratch array to the generated class and returns its name. */
  def scratchCode(ctx: CodegenContext, name: String): String =
    ctx.addMutableState("long[]", name, v => s"$v = new long[${shape.words}];")

  /** A Java statement that writes column `i`, whose value and NULL flag are the given Java expressions. */
  def putCode(words: String, i: Int, isNull: String, value: String): String = {
    val at = shape.begin(i)
    val put = types(i) match {
      case t: LongWordType => s"${RowWords.Words}.putLong($words, $at, ${t.bits}, ${t.code(value)});"
      case _ if plainString(i) => s"${RowWords.Strings}.put($words, $at, $value);"
      case t: BytesWordType => s"${RowWords.Words}.putBytes($words, $at, ${t.code(value)});"
    }
    val putNull = s"${RowWords.Words}.putNull($words, $at, ${shape.widths(i)});"
    isNull match {
      case "false" => put
      case "true" => putNull
      case flag => s"if ($flag) { $putNull } else { $put }"
    }
  }
}

object RowWords {
  private val Words = "sparkzorder.curve.KeyWords"
  private val Strings = "org.apache.spark.sql.zorder.expr.StringWords"

  /** For types that [[ArgumentCheck]] accepts. */
  def apply(dataTypes: Seq[DataType]): RowWords = {
    val types = dataTypes.map { t =>
      WordTypes.of(t).getOrElse(throw new IllegalArgumentException(s"${t.sql} has no order"))
    }
    new RowWords(types.toIndexedSeq, dataTypes.map(isPlainString).toIndexedSeq)
  }

  /** A string that is ordered by its bytes: it need not be copied. */
  private def isPlainString(dataType: DataType): Boolean = dataType match {
    case s: StringType => Shims.stringWordType(s).isEmpty
    case _ => false
  }
}
