package org.apache.spark.sql.zorder.run.request

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.ClusterTable

/** The clustering columns: the statement's list, else those that the table itself names. */
private[zorder] object ClusteredBy {

  /** Property that makes `ZORDER TABLE t` complete. */
  val Property = "zorder.by"

  private[run] def of(request: ClusterRequest, table: ClusterTable): Seq[String] =
    if (request.by.nonEmpty) request.by
    else
      of(table)
        .getOrElse(
          refuse(
            s"No clustering columns are named and ${table.name} has none of its own: say BY (a, b), or set " +
              s"the table property '$Property' = 'a, b'."))

  /** Those that the table names itself, or was last clustered by; None if there are none. */
  def of(table: ClusterTable): Option[Seq[String]] =
    fromProperty(table).orElse(fromClusterBy(table)).orElse(lastRun(table)).filter(_.nonEmpty)

  /** Those of the last run, by their present names. */
  def lastRun(table: ClusterTable): Option[Seq[String]] = table.state.latest().map(ColumnIds.named(table, _))

  private def fromProperty(table: ClusterTable): Option[Seq[String]] =
    table.properties.get(Property).map(splitTopLevel)

  /** The columns of Spark 4's `CREATE TABLE ... CLUSTER BY`: JSON lists of name parts. */
  private def fromClusterBy(table: ClusterTable): Option[Seq[String]] =
    table.properties.get("clusteringColumns").map { json =>
      val lists = new ObjectMapper().readTree(json).elements().asScala
      lists.map(_.elements().asScala.map(part => quoted(part.asText)).mkString(".")).toSeq
    }

  private def quoted(part: String): String = "`" + part.replace("`", "``") + "`"

  /** Splits at commas outside brackets and quotes. */
  def splitTopLevel(list: String): Seq[String] = {
    val out = Seq.newBuilder[String]
    val item = new StringBuilder
    var depth = 0
    var quote = '\u0000'
    list.foreach { c =>
      if (quote != '\u0000') { if (c == quote) quote = '\u0000' }
      else if (c == '\'' || c == '"' || c == '`') quote = c
      else if (c == '(' || c == '[') depth += 1
      else if (c == ')' || c == ']') depth -= 1
      if (c == ',' && depth == 0 && quote == '\u0000') {
        out += item.toString.trim
        item.clear()
      } else item += c
    }
    out += item.toString.trim
    out.result().filter(_.nonEmpty)
  }
}
