package org.apache.spark.sql.zorder.audit

import scala.util.Try

import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.{unescapePathName, DEFAULT_PARTITION_NAME}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}

/** Cures as the statements that carry them out. */
final private[audit] class AuditStatements(session: ClassicSession, target: TableRef, table: ClusterTable) {

  /** @param partitions to restrict it to; empty for the whole table */
  def of(cure: Cure, partitions: Seq[String]): String = cure match {
    case Cure.Index => s"ZORDER INDEX ${target.sql}"
    case Cure.Cluster(columns, curve, options, full, _) =>
      val conditions = partitions.map(condition)
      val using = curve.fold("")(c => s" USING CURVE $c")
      val settings =
        if (options.isEmpty) "" else options.map { case (k, v) => s"$k = $v" }.mkString(" WITH (", ", ", ")")
      val where =
        if (conditions.isEmpty || conditions.exists(_.isEmpty)) ""
        else s" WHERE ${conditions.flatten.mkString(" OR ")}"
      s"ZORDER TABLE ${target.sql}${if (full) " FULL" else ""}$where BY ${columns.mkString("(", ", ", ")")}$using$settings"
  }

  /** What holds in one partition alone; None where its directories are not named after columns. */
  private def condition(partition: String): Option[String] = {
    val parts = partition.split('/').toSeq.filter(_.nonEmpty).map(test)
    if (parts.isEmpty || parts.exists(_.isEmpty)) None
    else Some(if (parts.length == 1) parts.flatten.head else parts.flatten.mkString("(", " AND ", ")"))
  }

  private def test(part: String): Option[String] = {
    val at = part.indexOf('=')
    for {
      name <- if (at < 0) None else Some(unescapePathName(part.take(at)))
      field <- table.schema.find(f => session.sessionState.conf.resolver(f.name, name))
      condition <- equals(field, unescapePathName(part.drop(at + 1)))
    } yield condition
  }

  private def equals(field: StructField, text: String): Option[String] = {
    val name = ColumnPath.sql(Seq(field.name))
    if (text == DEFAULT_PARTITION_NAME) Some(s"$name IS NULL")
    else {
      val zone = Some(session.sessionState.conf.sessionLocalTimeZone)
      Try(Cast(Literal(text), field.dataType, zone).eval()).toOption.filter(_ != null)
        .map(v => s"$name = ${Literal(v, field.dataType).sql}")
    }
  }
}
