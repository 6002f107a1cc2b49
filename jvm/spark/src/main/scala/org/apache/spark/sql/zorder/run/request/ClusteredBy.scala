package org.apache.spark.sql.zorder.run.request

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.zorder.conf.OptionValue
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
    table.properties.get(Property).map(inList)

  /** The columns of Spark 4's `CREATE TABLE ... CLUSTER BY`: JSON lists of name parts. */
  private def fromClusterBy(table: ClusterTable): Option[Seq[String]] =
    table.properties.get("clusteringColumns").map { json =>
      val lists = new ObjectMapper().readTree(json).elements().asScala
      lists.map(parts => QuotingUtils.quoteNameParts(parts.elements().asScala.map(_.asText).toSeq)).toSeq
    }

  /** The items of a list as in `BY (...)`, without its empty places. */
  def inList(list: String): Seq[String] = OptionValue.items(list).filter(_.nonEmpty)
}
