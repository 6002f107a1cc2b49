package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The number that a run has given a file, by the file's path: an INT. That of its table partition, so that it
 * does not matter how the format derives partitions from rows; or one for sampling. A path that the run has
 * not listed is an error.
 */
final case class NumberOfFile(child: Expression, numbers: FileNumbers) extends UnaryExpression {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "file_number"

  @transient private lazy val finder = numbers.finder()

  override def eval(input: InternalRow): Any =
    finder.of(child.eval(input).asInstanceOf[UTF8String])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val all = ctx.addReferenceObj("fileNumbers", numbers)
    val name = classOf[FileNumberFinder].getName
    val finder = ctx.addMutableState(name, "fileNumber", v => s"$v = $all.finder();")
    val path = child.genCode(ctx)
    ev.copy(
      code = code"""
        |${path.code}
        |int ${ev.value} = $finder.of(${path.value});""".stripMargin,
      isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

/** Numbers of files by their paths. */
final class FileNumbers private (
    paths: MaybeBroadcast[Array[String]],
    numbers: MaybeBroadcast[Array[Int]])
    extends Serializable {
  def finder(): FileNumberFinder = new FileNumberFinder(paths.value, numbers.value)

  override def toString: String = s"${paths.value.length} files"
}

object FileNumbers {

  /** Up to this number of paths are sent within the task. */
  private val Few = 1000

  def apply(byPath: Map[String, Int]): FileNumbers = {
    val sorted = byPath.toArray.sortBy(_._1)
    val large = sorted.length > Few
    new FileNumbers(MaybeBroadcast(sorted.map(_._1), large), MaybeBroadcast(sorted.map(_._2), large))
  }
}

/**
 * Finds the number of a path. Rows of one file follow each other, so the last result is nearly always
 * the next one.
 *
 * @param paths
 *   ascending; `numbers` has the same order
 */
final class FileNumberFinder(paths: Array[String], numbers: Array[Int]) {
  private[this] var last: UTF8String = _
  private[this] var number = -1

  def of(path: UTF8String): Int = {
    if (last == null || path != last) {
      last = path.copy()
      val place = java.util.Arrays.binarySearch(paths.asInstanceOf[Array[AnyRef]], path.toString)
      if (place < 0) throw new IllegalStateException(s"$path is not a file that this run has listed")
      number = numbers(place)
    }
    number
  }
}
