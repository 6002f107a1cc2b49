package org.apache.spark.sql.zorder.clustering.sort

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, CodeGeneratorWithInterpretedFallback}
import org.apache.spark.sql.catalyst.expressions.codegen._
import sparkzorder.curve.{HilbertKey, KeyShape, KeyWords}

/**
 * The words and the order of the curve keys of rows, without building the keys. Not shared between tasks,
 * since it holds scratch arrays.
 */
abstract class RowKeys {

  /** Writes the words of the row's key; every long of `words` is written. */
  def fill(row: InternalRow, words: Array[Long]): Unit

  /** The order of the keys of two rows: -1, 0 or 1. */
  def compare(a: InternalRow, b: InternalRow): Int
}

/** Generated for the column types, or interpreted if code generation is off. */
object RowKeys extends CodeGeneratorWithInterpretedFallback[CurveKey, RowKeys] {

  /** @param key bound to the input of the sort */
  def of(key: CurveKey): RowKeys = createObject(key)

  override protected def createCodeGeneratedObject(key: CurveKey): RowKeys = GenerateRowKeys.generate(key)

  override protected def createInterpretedObject(key: CurveKey): RowKeys = new InterpretedRowKeys(key)
}

/** [[RowKeys]] by calls of `eval`. */
final private class InterpretedRowKeys(key: CurveKey) extends RowKeys {
  private val columns = key.columns.toArray
  private val row = key.words
  private val bits = key.bits
  private val left = new Array[Long](bits.words)
  private val right = new Array[Long](bits.words)
  private val cells = row.scratch()
  private val hilbert = new Array[Byte](row.shape.hilbertBytes)

  override def fill(input: InternalRow, words: Array[Long]): Unit =
    if (key.hilbert) {
      put(input, cells)
      HilbertKey.write(row.shape, cells, hilbert)
      KeyWords.putKey(words, hilbert)
    } else put(input, words)

  private def put(input: InternalRow, words: Array[Long]): Unit = {
    var i = 0
    while (i < columns.length) {
      row.put(words, i, columns(i).eval(input))
      i += 1
    }
  }

  override def compare(a: InternalRow, b: InternalRow): Int = {
    fill(a, left)
    fill(b, right)
    bits.compare(left, right)
  }
}

/** Generates [[RowKeys]] for the types of the columns: straight code from the row's memory to the words. */
private[sort] object GenerateRowKeys extends CodeGenerator[CurveKey, RowKeys] {

  /** Up to this number of longs, the comparison is unrolled; for more, the JIT would not compile it. */
  private val MostUnrolled = 32

  override protected def canonicalize(in: CurveKey): CurveKey = in

  override protected def bind(in: CurveKey, inputSchema: Seq[Attribute]): CurveKey = in.bound(inputSchema)

  override protected def create(key: CurveKey): RowKeys = {
    val ctx = newCodeGenContext()
    val fill = fillCode(ctx, key)
    val compare = compareCode(ctx, key)
    val source = s"""
      public Object generate(Object[] references) {
        return new SpecificRowKeys(references);
      }

      class SpecificRowKeys extends ${classOf[RowKeys].getName} {
        private Object[] references;
        private long[] left = new long[${key.bits.words}];
        private long[] right = new long[${key.bits.words}];
        ${ctx.declareMutableStates()}

        public SpecificRowKeys(Object[] references) {
          this.references = references;
          ${ctx.initMutableStates()}
        }

        public void fill(InternalRow ${ctx.INPUT_ROW}, long[] words) {
          $fill
        }

        public int compare(InternalRow a, InternalRow b) {
          fill(a, left);
          fill(b, right);
          $compare
        }

        ${ctx.declareAddedFunctions()}
      }"""
    val code = CodeFormatter.stripOverlappingComments(
      new CodeAndComment(source, ctx.getPlaceHolderToComments()))
    val (clazz, _) = CodeGenerator.compile(code)
    clazz.generate(ctx.references.toArray).asInstanceOf[RowKeys]
  }

  private def fillCode(ctx: CodegenContext, key: CurveKey): String = {
    val into = if (key.hilbert) key.words.scratchCode(ctx, "cells") else "words"
    val puts = key.columns.zipWithIndex.map { case (column, i) =>
      val value = column.genCode(ctx)
      s"${value.code}\n${key.words.putCode("cells", i, value.isNull.toString, value.value.toString)}"
    }
    val split = ctx.splitExpressions(
      puts,
      "fill",
      Seq(("InternalRow", ctx.INPUT_ROW), ("long[]", "cells")))
    val declared = s"final long[] cells = $into;"
    if (key.hilbert) s"{ $declared\n$split }\n${hilbertCode(ctx, key, into)}" else s"$declared\n$split"
  }

  private def hilbertCode(ctx: CodegenContext, key: CurveKey, cells: String): String = {
    val shape = ctx.addReferenceObj("shape", key.words.shape, classOf[KeyShape].getName)
    val bytes =
      ctx.addMutableState("byte[]", "hilbert", v => s"$v = new byte[${key.words.shape.hilbertBytes}];")
    s"""
      sparkzorder.curve.HilbertKey.write($shape, $cells, $bytes);
      sparkzorder.curve.KeyWords.putKey(words, $bytes);"""
  }

  private def compareCode(ctx: CodegenContext, key: CurveKey): String =
    if (key.bits.words > MostUnrolled) {
      val bounds = ctx.addReferenceObj("bounds", key.bits.bounds, "int[]")
      s"return sparkzorder.curve.MsdOrder.compare($bounds, left, right);"
    } else {
      val columns = key.bits.bounds.toSeq.sliding(2).collect { case Seq(begin, end) =>
        (begin until end).foldRight("") { (word, unequalLater) =>
          val orElse = if (unequalLater.isEmpty) "" else s" else $unequalLater"
          s"""if (left[$word] != right[$word]) {
            level = ${64 * (word - begin)} + Long.numberOfLeadingZeros(left[$word] ^ right[$word]);
            if (level < highest) {
              highest = level;
              sign = Long.compareUnsigned(left[$word], right[$word]);
            }
          }$orElse"""
        }
      }
      s"""
        int highest = ${Int.MaxValue};
        int level;
        int sign = 0;
        ${columns.mkString("\n")}
        return sign;"""
    }
}
