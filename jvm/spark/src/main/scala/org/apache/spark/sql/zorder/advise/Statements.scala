package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.zorder.table.TableRef

/** The statements that carry an advice out. */
private[advise] object Statements {

  /** Views that the Python package makes for one call, and drops. */
  private val PassingViews = "zorder_queries_"

  /**
   * @param log
   *   the queries to lay out for
   * @param options
   *   more for `WITH (...)`
   */
  def zorder(
      target: TableRef,
      columns: Seq[String],
      lexical: Boolean,
      log: Option[String],
      options: (String, String)*): String = {
    val curve = if (lexical) " USING CURVE lexical" else ""
    val all = log.filterNot(_.startsWith(PassingViews)).map("queryLog" -> _).toSeq ++ options
    val pairs = all.map { case (name, value) => s"$name = ${literal(value)}" }
    val settings = if (pairs.isEmpty) "" else pairs.mkString(" WITH (", ", ", ")")
    s"ZORDER TABLE ${target.sql} BY ${columns.mkString("(", ", ", ")")}$curve$settings"
  }

  private def literal(text: String): String = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
}
