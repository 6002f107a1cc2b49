package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType, NullType, StringType, StructType}
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType, NormalizedType}
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{HilbertKey, Interleave, KeyShape, KeyWords}

/**
 * A key over raw values (docs/spec.md, section 1): BINARY, never NULL. Its length depends on the argument
 * types only. Types, words and code generation of both curves.
 */
abstract class RawKey extends Expression {

  /** The key of the row whose words were written; generated code calls `curveClass.key` for it. */
  protected def key(shape: KeyShape, words: Array[Long]): Array[Byte]

  /** Class with the static method `byte[] key(KeyShape, long[])`. */
  protected def curveClass: String

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def foldable: Boolean = children.nonEmpty && children.forall(_.foldable)

  // eval writes into one scratch array
  override def stateful: Boolean = true

  override def checkInputDataTypes(): TypeCheckResult = ArgumentCheck.all(prettyName, children)

  @transient private lazy val layout: RowWords = RowWords(children.map(_.dataType))
  @transient private lazy val words: Array[Long] = layout.scratch()

  override def eval(input: InternalRow): Any = {
    var i = 0
    while (i < layout.columns) {
      layout.put(words, i, children(i).eval(input))
      i += 1
    }
    key(layout.shape, words)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val shape = ctx.addReferenceObj("shape", layout.shape, classOf[KeyShape].getName)
    val scratch = layout.scratchCode(ctx, "words")
    val puts = children.indices.map { i =>
      val child = children(i).genCode(ctx)
      s"${child.code}\n${layout.putCode(scratch, i, child.isNull.toString, child.value.toString)}"
    }
    val fill = ctx.splitExpressionsWithCurrentInputs(
      expressions = puts,
      funcName = prettyName,
      extraArguments = Nil,
      returnType = "void",
      makeSplitFunction = identity,
      foldFunctions = _.mkString("", ";\n", ";"))
    ev.copy(
      code = code"""
        $fill
        final byte[] ${ev.value} = $curveClass.key($shape, $scratch);""",
      isNull = FalseLiteral)
  }
}

/** `zorder(c1, ..., cn)`: the bits of the arguments, interleaved (docs/spec.md, section 1). */
case class ZOrder(children: Seq[Expression]) extends RawKey {
  override def prettyName: String = "zorder"

  override protected def curveClass: String = "sparkzorder.curve.Interleave"

  override protected def key(shape: KeyShape, words: Array[Long]): Array[Byte] = Interleave.key(shape, words)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): ZOrder =
    copy(children = newChildren)
}

/** `hilbert(c1, ..., cn)`: the place of the arguments on the Hilbert curve (docs/spec.md, section 1). */
case class HilbertOrder(children: Seq[Expression]) extends RawKey {
  override def prettyName: String = "hilbert"

  override protected def curveClass: String = "sparkzorder.curve.HilbertKey"

  override protected def key(shape: KeyShape, words: Array[Long]): Array[Byte] = HilbertKey.key(shape, words)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): HilbertOrder =
    copy(children = newChildren)
}

/**
 * Writes the values of a row, in Spark's internal representation, as the words of a [[KeyShape]]: `put`
 * interprets, `putCode` generates code.
 */
final class RowWords private (types: IndexedSeq[NormalizedType], plainString: IndexedSeq[Boolean]) {
  val columns: Int = types.length
  val shape: KeyShape = new KeyShape(types.map(_.bits).toArray)

  /** A new array for the words of one row. Each value overwrites its own part of it. */
  def scratch(): Array[Long] = new Array[Long](shape.words)

  def put(words: Array[Long], i: Int, value: Any): Unit = {
    val at = shape.begin(i)
    if (value == null) KeyWords.putNull(words, at, shape.widths(i))
    else types(i) match {
      case t: NormalizedLongType => KeyWords.putLong(words, at, t.bits, t.toLong(value))
      case _ if plainString(i) => StringWords.put(words, at, value.asInstanceOf[UTF8String])
      case t: NormalizedBytesType => KeyWords.putBytes(words, at, t.toBytes(value))
    }
  }

  /** Adds a field with a scratch array to the generated class and returns its name. */
  def scratchCode(ctx: CodegenContext, name: String): String =
    ctx.addMutableState("long[]", name, v => s"$v = new long[${shape.words}];")

  /** A Java statement that writes column `i`, whose value and NULL flag are the given Java expressions. */
  def putCode(words: String, i: Int, isNull: String, value: String): String = {
    val at = shape.begin(i)
    val put = types(i) match {
      case t: NormalizedLongType => s"${RowWords.Words}.putLong($words, $at, ${t.bits}, ${t.code(value)});"
      case _ if plainString(i) => s"${RowWords.Strings}.put($words, $at, $value);"
      case t: NormalizedBytesType => s"${RowWords.Words}.putBytes($words, $at, ${t.code(value)});"
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

  /** The words of a row of these types, which [[ArgumentCheck]] must accept. */
  def apply(dataTypes: Seq[DataType]): RowWords = {
    val types = dataTypes.map { t =>
      Normalization.of(t).getOrElse(throw new IllegalArgumentException(s"${t.sql} has no order"))
    }
    new RowWords(types.toIndexedSeq, dataTypes.map(Normalization.isPlainString).toIndexedSeq)
  }
}

/** Checks the types of the arguments of a curve. */
object ArgumentCheck {

  /** The check of a function of one or more columns. */
  def all(function: String, arguments: Seq[Expression]): TypeCheckResult =
    if (arguments.isEmpty)
      TypeCheckFailure(s"$function needs at least one argument: name the columns to order by.")
    else arguments.flatMap(a => refusal(function, a.sql, a.dataType)).headOption
      .map(TypeCheckFailure(_)).getOrElse(TypeCheckSuccess)

  /** Why the argument `sql` of this type is refused, as one sentence; None if it is accepted. */
  def refusal(function: String, sql: String, dataType: DataType): Option[String] = dataType match {
    case NullType =>
      Some(
        s"$function cannot tell the type of $sql: write cast(NULL AS <type>), so that the key has a length.")
    case t if Normalization.of(t).isDefined => None
    case s: StructType =>
      val first = s.fieldNames.headOption.map(f => s", for example $sql.$f").getOrElse("")
      Some(s"$function cannot order $sql of type ${s.sql}: name its fields (s.f)$first.")
    case _: StringType =>
      Some(s"$function cannot order $sql, whose parts have different collations: choose one with COLLATE.")
    case other =>
      Some(s"$function cannot order $sql of type ${other.sql}: " +
        "use an expression of an atomic type instead, for a struct name its fields: s.f.")
  }
}
