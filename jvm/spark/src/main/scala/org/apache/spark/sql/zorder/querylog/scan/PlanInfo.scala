package org.apache.spark.sql.zorder.querylog.scan

import scala.collection.JavaConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skipping.predicate.FilterRanges

/** The file scans in the plan that an event log keeps of a query (`sparkPlanInfo`). */
private[querylog] object PlanInfo {
  private val Node = """Scan \S+ ?(.*)""".r
  private val OnePath = """\w+\(1 paths\)\[(.*)\]""".r

  /**
   * Nodes whose children are not of this query: of a dynamic filter, where the other side of the join stands
   * a second time, and of a cache, whose files were read once for all queries.
   */
  private def isCopy(node: String): Boolean =
    Set("SubqueryBroadcast", "SubqueryAdaptiveBroadcast", "InMemoryTableScan")(node) ||
      node.startsWith("Scan In-memory table")

  /** Table and ranges of each scan that filters. */
  def scans(plan: JsonNode, timeZone: String): Seq[(String, FilterRanges)] = {
    val here = for {
      table <- tableOf(plan)
      filters <- filtersOf(plan, timeZone)
      ranges = FilterRanges.of(filters)
      if !ranges.free && ranges.all.nonEmpty
    } yield (table, ranges)
    val below = if (isCopy(plan.path("nodeName").asText)) Nil else plan.path("children").elements.asScala
    here.toSeq ++ below.flatMap(scans(_, timeZone))
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

/**
 * The text of the filters that Spark pushes into a scan, `[IsNotNull(a), EqualTo(a,5)]`, as expressions.
 * Spark prints values without quotes: text that can be read in two ways, as a string with brackets, gives no
 * filter.
 *
 * @param schema
 *   the columns of the scan with their types
 * @param timeZone
 *   the zone of the JVM that printed timestamps
 */
final private class PushedFilters(schema: StructType, timeZone: String) {
  import PushedFilters._

  private val columns = ColumnPath.attributes(schema)

  /** The filters of a list that can be read. */
  def of(list: String): Seq[Expression] =
    list.stripPrefix("[").stripSuffix("]").split(Border).toSeq.flatMap(text => Try(filter(text)).toOption)

  private def filter(text: String): Expression = text match {
    case Call("AlwaysTrue", _) => Literal(true)
    case Call("AlwaysFalse", _) => Literal(false)
    case Call("Not", inner) => Not(filter(inner))
    case Call("And", FilterPair(l, r)) => And(filter(l), filter(r))
    case Call("Or", FilterPair(l, r)) => Or(filter(l), filter(r))
    case Call("IsNull", name) => IsNull(column(name))
    case Call("IsNotNull", name) => IsNotNull(column(name))
    case Call(name, Named(attribute, value)) => test(name, column(attribute), value)
    case _ => unreadable(text)
  }

  private def test(name: String, c: Expression, text: String): Expression = name match {
    case "EqualTo" => EqualTo(c, value(text, c))
    case "EqualNullSafe" => EqualNullSafe(c, value(text, c))
    case "LessThan" => LessThan(c, value(text, c))
    case "LessThanOrEqual" => LessThanOrEqual(c, value(text, c))
    case "GreaterThan" => GreaterThan(c, value(text, c))
    case "GreaterThanOrEqual" => GreaterThanOrEqual(c, value(text, c))
    case "StringStartsWith" => StartsWith(c, value(text, c))
    case "In" => In(c, list(text).map(value(_, c)))
    case _ => unreadable(name)
  }

  /** Spark writes no blank behind a comma, so one that has a blank is in a text. */
  private def list(text: String): Seq[String] = {
    val values = text.trim.stripPrefix("[").stripSuffix("]").split(",", -1).toSeq
    if (values.exists(_.startsWith(" "))) unreadable(text) else values
  }

  private def value(text: String, c: Expression): Literal = {
    val read = c.dataType match {
      case _ if text == "null" => null
      case _: StringType => Literal(text).value
      case BinaryType => unreadable("bytes")
      case other =>
        Option(Cast(Literal(text), other, Some(timeZone), EvalMode.TRY).eval())
          .getOrElse(unreadable(text))
    }
    Literal.create(read, c.dataType)
  }

  private def column(name: String): Expression = {
    val parts = CatalystSqlParser.parseMultipartIdentifier(name)
    parts.tail.foldLeft[Expression](columns.find(_.name == parts.head).get) { (parent, field) =>
      GetStructField(parent, parent.dataType.asInstanceOf[StructType].fieldIndex(field), Some(field))
    }
  }
}

private object PushedFilters {

  /** Between two filters of the list; inside one there is no blank behind a comma. */
  private val Border =
    ", (?=(?:And|Or|Not|In|IsNull|IsNotNull|EqualTo|EqualNullSafe|LessThan|LessThanOrEqual|GreaterThan|" +
      "GreaterThanOrEqual|StringStartsWith|StringEndsWith|StringContains|AlwaysTrue|AlwaysFalse)\\()"

  private def unreadable(text: String): Nothing = throw new IllegalArgumentException(text)

  /** `Name(arguments)`. */
  private object Call {
    def unapply(text: String): Option[(String, String)] = {
      val open = text.indexOf('(')
      if (open < 1 || !text.endsWith(")")) None
      else Some((text.take(open), text.substring(open + 1, text.length - 1)))
    }
  }

  /** Two filters, at the comma outside all brackets. */
  private object FilterPair {
    def unapply(text: String): Option[(String, String)] = {
      var depth = 0
      val commas = text.indices.filter { i =>
        val c = text.charAt(i)
        if (c == '(' || c == '[') depth += 1
        if (c == ')' || c == ']') depth -= 1
        c == ',' && depth == 0
      }
      if (depth != 0 || commas.size != 1) None
      else Some((text.take(commas.head), text.drop(commas.head + 1)))
    }
  }

  /** A column's name and the rest. */
  private object Named {
    def unapply(text: String): Option[(String, String)] = {
      val comma = if (text.startsWith("`")) text.indexOf(",", text.lastIndexOf('`')) else text.indexOf(',')
      if (comma < 1) None else Some((text.take(comma), text.drop(comma + 1)))
    }
  }
}
