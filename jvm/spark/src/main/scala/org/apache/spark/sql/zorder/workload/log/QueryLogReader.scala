package org.apache.spark.sql.zorder.workload.log

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.types.{ArrayType, StructType}
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

/** Reads a query log from rows of the documented format. Only `boxes` with `column` and `kind` are required. */
private[workload] object QueryLogReader {
  private val page = "docs/guide/query-log.md"

  def read(name: String, rows: DataFrame): Seq[LoggedQuery] = {
    check(name, rows.schema)
    rows.collect().toSeq.map(query(name, _)).filter(q => q.boxes.nonEmpty && q.weight > 0)
  }

  private def check(name: String, schema: StructType): Unit = {
    val condition = schema.find(_.name.equalsIgnoreCase("boxes")).map(_.dataType).collect {
      case ArrayType(ArrayType(c: StructType, _), _) => c
    }.getOrElse(refuse(
      s"$name is no query log: it has no column boxes, a list of lists of conditions ($page)."))
    Seq("column", "kind").find(f => !condition.fieldNames.exists(_.equalsIgnoreCase(f))).foreach { f =>
      refuse(s"$name is no query log: the conditions in its boxes have no field $f ($page).")
    }
  }

  private def query(name: String, row: Row): LoggedQuery = {
    val boxes = get[Iterable[Iterable[Row]]](row, "boxes").toSeq.flatten.map(_.map(condition(name, _)).toSeq)
    val table = get[String](row, "table")
    LoggedQuery(
      table,
      None,
      get[String](row, "query").getOrElse(QueryShape.hash(table.getOrElse(""), boxes)),
      get[Number](row, "weight").fold(1.0)(_.doubleValue),
      boxes)
  }

  private def condition(name: String, row: Row): LoggedCondition = LoggedCondition(
    get[String](row, "column").getOrElse(refuse(s"A condition in the query log $name has no column.")),
    kind(name, get[String](row, "kind").getOrElse("")),
    get[Number](row, "count").map(_.intValue),
    get[Number](row, "width").map(_.doubleValue),
    get[Number](row, "selectivity").map(_.doubleValue),
    get[String](row, "low"),
    get[String](row, "high"),
    get[Iterable[String]](row, "values").toSeq.flatten.filter(_ != null)
  )

  private def kind(name: String, text: String): String =
    ConditionKind.all.find(_.equalsIgnoreCase(text)).getOrElse {
      val hint = NearestName.hint(text, ConditionKind.all)
      refuse(
        s"The query log $name has a condition of kind '$text'.$hint The kinds are ${ConditionKind.all.mkString(", ")}.")
    }

  private def get[A](row: Row, name: String): Option[A] = {
    val at = row.schema.fieldNames.indexWhere(_.equalsIgnoreCase(name))
    if (at < 0 || row.isNullAt(at)) None else Some(row.getAs[A](at))
  }
}
