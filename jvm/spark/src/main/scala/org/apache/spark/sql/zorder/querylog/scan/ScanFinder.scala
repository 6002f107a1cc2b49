package org.apache.spark.sql.zorder.querylog.scan

import java.math.BigInteger

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.{CatalogColumnStat, CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  BloomFilterMightContain,
  DynamicPruning,
  ExprId,
  Expression,
  PlanExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.types.{DataType, DecimalType, DoubleType, FloatType}
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{Footers, StatColumn, ZoneAlgebra}
import org.apache.spark.sql.zorder.table.file.{DataFile, OwnScan}
import org.apache.spark.sql.zorder.skipping.predicate.{FilterColumn, FilterRanges, ValueText}
import sparkzorder.curve.{BelowBytes, NormalizedBytes, NormalizedLong, NormalizedValue, Zone}
import sparkzorder.curve.cost.Interval
import sparkzorder.curve.layout.BytesScale

/**
 * One scan of a table in a query.
 *
 * @param ranges
 *   those of its filters, perhaps free
 * @param keys
 *   columns, and the values with which the query has joined them, ascending
 */
final private[querylog] case class Scan(
    table: String,
    leaf: LogicalPlan,
    ranges: FilterRanges,
    keys: Seq[(FilterColumn, IndexedSeq[NormalizedValue])])

/**
 * The scans of an optimised plan that filter rows of a table, subqueries included.
 *
 * @param keys
 *   with which the query has joined columns: a scan filters by them, too
 */
final private[querylog] class ScanFinder(keys: Map[ExprId, Seq[Set[Any]]]) {

  def of(plan: LogicalPlan): Seq[Scan] = {
    val here = plan match {
      case PhysicalOperation(_, filters, leaf: LeafNode) => scan(filters.reduceOption(And), leaf)
      case _ => plan.children.flatMap(of)
    }
    here ++ subqueries(plan)
  }

  private def subqueries(plan: LogicalPlan): Seq[Scan] = {
    val operators = plan match {
      case PhysicalOperation(_, _, _: LeafNode) => plan.collect { case p => p }
      case _ => Seq(plan)
    }
    operators.flatMap(_.expressions).flatMap(plans).flatMap(of)
  }

  /**
   * The queries of subqueries. What Spark adds to prune a join has a copy of the other side's plan, which is
   * no query.
   */
  private def plans(e: Expression): Seq[LogicalPlan] = e match {
    case _: DynamicPruning | _: BloomFilterMightContain => Nil
    case p: PlanExpression[_] => p.plan match {
        case query: LogicalPlan => Seq(query)
        case _ => Nil
      }
    case other => other.children.flatMap(plans)
  }

  private def scan(filters: Option[Expression], leaf: LeafNode): Seq[Scan] =
    for {
      table <- tableOf(leaf).toSeq
      ranges = filters.fold(FilterRanges.Free)(FilterRanges.of)
      joined = leaf.output.flatMap(joinedWith)
      if ranges.all.nonEmpty && (!ranges.free || joined.nonEmpty)
    } yield Scan(table, leaf, ranges, joined)

  /** No keys are none: such a query reads nothing, and tells nothing. */
  private def joinedWith(a: Attribute): Seq[(FilterColumn, IndexedSeq[NormalizedValue])] =
    for {
      values <- keys.getOrElse(a.exprId, Nil)
      if values.nonEmpty
      column <- FilterColumn.of(a)
      normalizedType <- Normalization.of(a.dataType)
    } yield column -> values.map(normalizedType.normalize).toIndexedSeq.sortWith(_.compare(_) < 0)

  /** The name with its catalog, or the path; None for what is no table, and for the scans of our own runs. */
  private def tableOf(leaf: LeafNode): Option[String] = leaf match {
    case l: LogicalRelation => l.relation match {
        case fs: HadoopFsRelation if fs.location.isInstanceOf[OwnScan] => None
        case fs: HadoopFsRelation =>
          l.catalogTable.map(t => ColumnPath.sql(t.identifier.nameParts))
            .orElse(Some(fs.location.rootPaths).filter(_.size == 1).map(_.head.toString))
        case _ => l.catalogTable.map(t => ColumnPath.sql(t.identifier.nameParts))
      }
    case h: HiveTableRelation => Some(ColumnPath.sql(h.tableMeta.identifier.nameParts))
    case v: DataSourceV2ScanRelation =>
      val r = v.relation
      r.identifier.map(i => ColumnPath.sql(r.catalog.map(_.name).toSeq ++ i.namespace :+ i.name))
        .orElse(Some(r.table.name))
    case _ => None
  }
}

/**
 * Column statistics from the catalog and from the footers of a few Parquet files, without a Spark job. Cached
 * by table and column until the table grows or is analysed again.
 */
final private[querylog] class ScanStatistics {
  private val known =
    scala.collection.mutable.HashMap.empty[(String, FilterColumn), (Any, ColumnStatistics)]

  /** @param session the one that the query ran in, which is not kept */
  def of(session: ClassicSession, scan: Scan)(column: FilterColumn): ColumnStatistics = {
    val (key, now) = ((scan.table, column), stateOf(scan.leaf))
    known.get(key).collect { case (`now`, statistics) => statistics }.getOrElse {
      if (known.size >= ScanStatistics.MostKept) known.clear()
      val statistics = look(session, scan.leaf, column)
      known(key) = (now, statistics)
      statistics
    }
  }

  /** What changes when rows come to a table, or its columns are analysed. */
  private def stateOf(leaf: LogicalPlan): Any = leaf match {
    case l: LogicalRelation =>
      val size = l.relation match {
        // other formats have left out files by the filter already
        case fs: HadoopFsRelation if fs.fileFormat.getClass == classOf[ParquetFileFormat] =>
          fs.location.sizeInBytes
        case _ => 0L
      }
      (size, l.catalogTable.flatMap(_.stats))
    case _ => ()
  }

  private def look(session: ClassicSession, leaf: LogicalPlan, column: FilterColumn): ColumnStatistics = {
    val path = Try(session.sessionState.sqlParser.parseMultipartIdentifier(column.sql)).toOption
    leaf match {
      case l: LogicalRelation =>
        val catalog = l.catalogTable.flatMap(ScanStatistics.ofCatalog(_, column))
        val fromFiles = l.relation match {
          case fs: HadoopFsRelation if catalog.forall(_.range.isEmpty) =>
            path.flatMap(ofFooters(session, fs, _, column))
          case _ => None
        }
        val facts = catalog.getOrElse(ColumnStatistics(column.dataType))
        facts.copy(range = facts.range.orElse(fromFiles))
      case _ => ColumnStatistics(column.dataType)
    }
  }

  private def ofFooters(
      session: ClassicSession,
      fs: HadoopFsRelation,
      path: Seq[String],
      column: FilterColumn): Option[(NormalizedValue, NormalizedValue)] =
    // a CatalogFileIndex would list every partition now
    if (!fs.fileFormat.isInstanceOf[ParquetFileFormat] || fs.location.isInstanceOf[CatalogFileIndex]) None
    else {
      val all = fs.location.inputFiles.sorted
      val few = ScanStatistics.spread(all.length).map(all(_))
      val files = few.map(f => DataFile(new Path(new java.net.URI(f)).toString, -1L, 0L, ""))
      val stat = StatColumn(path, column.dataType, overlookNaN = true)
      val zones = Footers.read(session, files, Seq(stat)).map(_.zone(0)).filterNot(_ == Zone.Unknown)
      ZoneAlgebra.union(zones) match {
        case Zone.Between(min, max) => Some((min, max))
        case _ => None
      }
    }
}

private[querylog] object ScanStatistics {

  /** Footers that are read for a scan: few enough to need no job. */
  private val Files = 4
  private val MostKept = 1000

  /** First, last, and evenly between. */
  def spread(files: Int): Seq[Int] =
    if (files <= Files) 0 until files
    else (0 until Files).map(i => (i.toLong * (files - 1) / (Files - 1)).toInt)

  private def ofCatalog(table: CatalogTable, column: FilterColumn): Option[ColumnStatistics] =
    for {
      statistics <- table.stats
      (name, found) <- statistics.colStats.find(_._1.equalsIgnoreCase(column.sql))
    } yield {
      def normalized(text: Option[String]): Option[NormalizedValue] = for {
        t <- text
        value <- Try(CatalogColumnStat.fromExternalString(t, name, column.dataType, found.version)).toOption
        normalizedType <- Normalization.of(column.dataType)
      } yield normalizedType.normalize(value)
      val range = for { low <- normalized(found.min); high <- normalized(found.max) } yield (low, high)
      val nulls = for {
        n <- found.nullCount; rows <- statistics.rowCount; if rows > 0
      } yield (n.toDouble / rows.toDouble)
      ColumnStatistics(
        column.dataType,
        range,
        found.distinctCount.map(_.toDouble),
        nulls.map(ColumnStatistics.rounded(_)))
    }
}

/**
 * What is known about a column's values without reading rows.
 *
 * @param range
 *   lowest and highest value
 * @param distinct
 *   number of values that differ
 * @param nullShare
 *   share of the rows that are NULL, 0 to 1
 */
final private[zorder] case class ColumnStatistics(
    dataType: DataType,
    range: Option[(NormalizedValue, NormalizedValue)] = None,
    distinct: Option[Double] = None,
    nullShare: Option[Double] = None) {

  /**
   * The share of the range that an interval covers, as if values were spread evenly; two digits of it. None for one that
   * lies beside all known values: rows have come since they were looked at, or the files that were looked at had none.
   */
  def width(interval: Interval): Option[Double] = range.filter { case (low, high) =>
    interval.min.forall(_ <= high) && interval.max.forall(low <= _)
  }.map { case (low, high) =>
    val place = new RangePosition(low, high, dataType)
    val from = interval.min.fold(0.0)(place.of)
    val until = interval.max.fold(1.0)(place.of)
    ColumnStatistics.rounded(math.max(0.0, until - from))
  }

  /** The share of the rows that have one of `values` values, as if all values were equally frequent. */
  def selectivity(values: Int): Option[Double] =
    distinct.filter(_ >= 1).map(n =>
      ColumnStatistics.rounded(math.min(1.0, values / n) * (1 - nullShare.getOrElse(0.0))))
}

private[zorder] object ColumnStatistics {

  /** Nothing is known of any column. */
  val none: FilterColumn => ColumnStatistics = c => ColumnStatistics(c.dataType)

  /** Few significant digits, so that queries which look alike are counted as one. */
  def rounded(number: Double, digits: Int = 2): Double =
    if (number <= 0.0) 0.0 else BigDecimal(number).round(new java.math.MathContext(digits)).toDouble
}

/** The position of a value between the lowest and the highest one of its column, from 0 to 1. */
final private class RangePosition(low: NormalizedValue, high: NormalizedValue, dataType: DataType) {
  private val shared = (low, high) match {
    case (NormalizedBytes(a), NormalizedBytes(b)) => BytesScale.commonPrefix(a, b)
    case _ => 0
  }
  private val from = number(low)
  private val size = number(high) - from

  /** Values outside are at the nearer end; in a column of one value everything above it is at 1. */
  def of(normalized: NormalizedValue): Double =
    if (normalized <= low) 0.0
    else if (normalized >= high || !(size > 0.0)) 1.0
    else math.max(0.0, math.min(1.0, (number(normalized) - from) / size))

  private def number(normalized: NormalizedValue): Double = normalized match {
    case NormalizedLong(v) => dataType match {
        case FloatType | DoubleType =>
          ValueText.value(normalized, dataType).map(_.toString.toDouble).filterNot(_.isNaN)
            .map(d => math.max(-Double.MaxValue / 4, math.min(Double.MaxValue / 4, d)))
            .getOrElse(Double.MaxValue / 4)
        case _ => v.toDouble
      }
    case NormalizedBytes(b) if dataType.isInstanceOf[DecimalType] => ValueText.bigInteger(b).doubleValue
    case BelowBytes(b) => number(NormalizedBytes(b))
    case NormalizedBytes(b) =>
      new BigInteger(1, java.util.Arrays.copyOfRange(b, math.min(shared, b.length), shared + 8)).doubleValue
  }
}
