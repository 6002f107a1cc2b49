package org.apache.spark.sql.zorder.workload.log

/** Logged queries as people read them, without values: `a = ? AND b BETWEEN ? AND ?`. */
private[zorder] object QueryText {
  private val MostCharacters = 300

  /** Equal for queries that ask the same columns in the same way. */
  def of(q: LoggedQuery): String = {
    val boxes = q.boxes.map(_.map(condition).distinct.sorted).distinct
    val texts = boxes.map { box =>
      val all = box.mkString(" AND ")
      if (boxes.size > 1 && box.size > 1) s"($all)" else all
    }.distinct
    val whole = texts.sorted.mkString(" OR ")
    if (whole.length <= MostCharacters) whole else whole.take(MostCharacters - 4) + " ..."
  }

  private def condition(c: LoggedCondition): String = c.kind match {
    case ConditionKind.Equal => s"${c.column} = ?"
    case ConditionKind.In => s"${c.column} IN (?)"
    case ConditionKind.Range if c.low.isDefined && c.high.isEmpty => s"${c.column} >= ?"
    case ConditionKind.Range if c.low.isEmpty && c.high.isDefined => s"${c.column} <= ?"
    case ConditionKind.Range => s"${c.column} BETWEEN ? AND ?"
    case ConditionKind.Prefix => s"${c.column} LIKE '?%'"
    case ConditionKind.Null => s"${c.column} IS NULL"
    case ConditionKind.NotNull => s"${c.column} IS NOT NULL"
    case _ => s"${c.column}: ?"
  }
}
