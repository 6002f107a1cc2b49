package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The number of the partition that a file belongs to, by the file's path: an INT. Works for every way in
 * which a format derives partitions from rows. A path that a run has not listed is an error.
 */
final case class FileRoute(child: Expression, routes: RoutesOfFiles) extends UnaryExpression {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "file_route"

  private lazy val finder = routes.finder()

  override def eval(input: InternalRow): Any =
    finder.of(child.eval(input).asInstanceOf[UTF8String])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val all = ctx.addReferenceObj("fileRoutes", routes)
    val name = classOf[FileRouteFinder].getName
    val finder = ctx.addMutableState(name, "fileRoute", v => s"$v = $all.finder();")
    val path = child.genCode(ctx)
    ev.copy(
      code = code"""
        |${path.code}
        |int ${ev.value} = $finder.of(${path.value});""".stripMargin,
      isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

/** Partition numbers by path. */
final class RoutesOfFiles private (
    paths: SentToTasks[Array[String]],
    numbers: SentToTasks[Array[Int]])
    extends Serializable {
  def finder(): FileRouteFinder = new FileRouteFinder(paths.value, numbers.value)

  override def toString: String = s"${paths.value.length} files"
}

object RoutesOfFiles {

  /** So many paths travel in every task. */
  private val Few = 1000

  def apply(byPath: Map[String, Int]): RoutesOfFiles = {
    val sorted = byPath.toArray.sortBy(_._1)
    val large = sorted.length > Few
    new RoutesOfFiles(SentToTasks(sorted.map(_._1), large), SentToTasks(sorted.map(_._2), large))
  }
}

/**
 * Rows of one file come one after the other: the last answer is nearly always the next one.
 *
 * @param paths
 *   rising, and `numbers` in the same order
 */
final class FileRouteFinder(paths: Array[String], numbers: Array[Int]) {
  private[this] var last: UTF8String = _
  private[this] var route = -1

  def of(path: UTF8String): Int = {
    if (last == null || path != last) {
      last = path.copy()
      val place = java.util.Arrays.binarySearch(paths.asInstanceOf[Array[AnyRef]], path.toString)
      if (place < 0) throw new IllegalStateException(s"$path is not a file that this run has listed")
      route = numbers(place)
    }
    route
  }
}
