package org.apache.spark.sql.zorder.querylog.scan

import scala.collection.JavaConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.skipping.predicate.{FilterRanges, Predicates}

/** The file scans in the plan that an event log keeps of a query (`sparkPlanInfo`). */
private[querylog] object PlanInfo {
  private val Node = """Scan \S+ ?(.*)""".r
  private val OnePath = """\w+\(1 paths\)\[(.*)\]""".r

  /** Table and ranges of each scan that filters. */
  def scans(plan: JsonNode, timeZone: String): Seq[(String, FilterRanges)] = {
    val here = for {
      table <- tableOf(plan)
      filters <- filtersOf(plan, timeZone)
      ranges = Predicates.ranges(filters)
      if !ranges.free && ranges.all.nonEmpty
    } yield (table, ranges)
    here.toSeq ++ plan.path("children").elements.asScala.flatMap(scans(_, timeZone))
  }

  private def tableOf(plan: JsonNode): Option[String] = plan.path("nodeName").asText match {
    case Node(name) if name.trim.nonEmpty => Some(name.trim)
    case Node(_) => metadata(plan, "Location").collect { case OnePath(path) => path }
    case _ => None
  }

  private def filtersOf(plan: JsonNode, timeZone: String): Option[Expression] =
    for {
      pushed <- metadata(plan, "PushedFilters")
      text <- metadata(plan, "ReadSchema")
      schema <- Try(CatalystSqlParser.parseDataType(text)).toOption.collect { case s: StructType => s }
      filter <- new PushedFilters(schema, timeZone).of(pushed).reduceOption(And)
    } yield filter

  private def metadata(plan: JsonNode, key: String): Option[String] =
    Option(plan.path("metadata").path(key).textValue)
}
