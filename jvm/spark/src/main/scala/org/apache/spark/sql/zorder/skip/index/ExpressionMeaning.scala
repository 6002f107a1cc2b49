package org.apache.spark.sql.zorder.skip.index

import java.util.Locale

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.SPARK_VERSION_SHORT
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.ColumnPath

/**
 * What an expression computes, as a text: equal texts compute equal values from equal rows, for expressions of
 * [[IndexableFunctions]]. The SQL text does not do, since it says nothing of the time zone and of the type of each part:
 * a product of decimals has another scale under another setting. The version of Spark and the settings that name old
 * ways of functions are part of it, because what `lower` gives may change with them.
 */
private[skip] object ExpressionMeaning {
  private val Defaults = new SQLConf
  private val Settings = Seq("spark.sql.legacy.", "spark.sql.icu.", "spark.sql.ansi.")

  /** Of an optimized expression over columns; None if it cannot be written down. */
  def of(e: Expression, conf: SQLConf): Option[String] =
    try Some((Seq(Format, s"Spark $line") ++ settings(conf) :+ tree(
        e,
        conf.caseSensitiveAnalysis)).mkString(" "))
    catch { case NonFatal(_) => None }

  /** Whether a meaning was written down by this version of ours: those before it left out what matters. */
  def isCurrent(meaning: String): Boolean = meaning.startsWith(Format + " ")

  private val Format = "2"

  private val line: String = SPARK_VERSION_SHORT.split('.').take(2).mkString(".")

  /** Those that are not at their defaults. */
  private def settings(conf: SQLConf): Seq[String] =
    conf.getAllConfs.filter { case (key, value) =>
      Settings.exists(key.startsWith) && !Try(Defaults.getConfString(key)).toOption.contains(value)
    }.toSeq.sorted.map { case (key, value) => s"$key=$value" }

  private def tree(e: Expression, caseSensitive: Boolean): String = ColumnPath.of(e) match {
    case Some(path) =>
      val name = ColumnPath.sql(path)
      s"${if (caseSensitive) name else name.toLowerCase(Locale.ROOT)}:${e.dataType.json}"
    case None =>
      val own = e match {
        case l: Literal => Seq(l.dataType.json, l.sql)
        case _ => e.productIterator.filterNot(isExpression).map(text).toSeq
      }
      val parts = own ++ e.children.map(tree(_, caseSensitive))
      parts.mkString(s"${e.getClass.getName}(", ", ", s"):${e.dataType.json}")
  }

  private def isExpression(argument: Any): Boolean = argument match {
    case _: Expression | Some(_: Expression) => true
    case s: Seq[_] => s.nonEmpty && s.forall(_.isInstanceOf[Expression])
    case _ => false
  }

  private def text(argument: Any): String = argument match {
    case t: DataType => t.json
    case Some(x) => s"Some(${text(x)})"
    case other => String.valueOf(other)
  }
}
