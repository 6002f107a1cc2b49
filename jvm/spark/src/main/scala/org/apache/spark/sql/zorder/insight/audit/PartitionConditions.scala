package org.apache.spark.sql.zorder.insight.audit

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{CharType, DataType}
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.clustering.draw.{LogColumns, ResolvedColumn}
import org.apache.spark.sql.zorder.querylog.LoggedQuery
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.PartitionValues
import sparkzorder.curve.{Block, Zone}

/**
 * What the filters of a log ask of partitions: columns that have one value in each of them, and expressions
 * of these alone. No layout changes what such a condition leaves out.
 *
 * @param logged
 *   the columns of the log
 */
final private[audit] class PartitionConditions(
    session: ClassicSession,
    table: ClusterTable,
    logged: LogColumns) {
  private val constant = table.constantColumns.filter(table.refusalOfName(_).isEmpty).toSet

  /** By their texts in the log. */
  private val asked: Seq[(String, ResolvedColumn)] =
    logged.all.filter { case (_, r) =>
      r.paths.nonEmpty && r.paths.forall(p => constant(p.mkString(".")))
    }

  private val texts = asked.map(_._1).toSet

  /** Whether a query filters partitions and nothing else. */
  def only(q: LoggedQuery): Boolean =
    q.conjunctions.nonEmpty && q.conjunctions.map(_.filter(_.asks)).forall(all =>
      all.nonEmpty && all.forall(c => texts(c.column)))

  /** Those whose values the names of partitions tell: of Iceberg and Hudi, the files hold them. */
  private val named: IndexedSeq[(String, ResolvedColumn)] = {
    val fields = table.partitionSchema.fieldNames.toSet
    val ofNames = asked.filter { case (_, r) => r.paths.forall(p => fields(p.mkString("."))) }
    ofNames.groupBy(_._2.column).values.map(_.head).toIndexedSeq.sortBy(_._1)
  }

  /** The names as SQL. */
  val names: IndexedSeq[String] = named.map(_._1)

  val types: IndexedSeq[DataType] = named.map(_._2.column.dataType)

  /** A file's block with a zone for each name behind its own. */
  def addedTo(block: Block, partition: String): Block = {
    val its = zones.getOrElseUpdate(partition, zonesOf(partition))
    val first = block.zones.length
    val valued = its.indices.collect { case i if its(i).isInstanceOf[Zone.Between] => first + i }
    block.copy(zones = block.zones ++ its, nullFree = block.nullFree ++ valued)
  }

  private val zones = mutable.HashMap.empty[String, IndexedSeq[Zone]]

  private def zonesOf(partition: String): IndexedSeq[Zone] = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val schema = table.partitionSchema
    val values =
      if (named.isEmpty) Nil
      else Try(PartitionValues.of(partition, schema, zone)).getOrElse(Nil)
    // a query sees CHAR padded, the name of a directory may not have the blanks
    val known = schema.zip(values).filterNot { case (field, _) =>
      CharVarcharUtils.getRawType(field.metadata).exists(_.isInstanceOf[CharType])
    }
    val byName = known.map { case (field, value) => field.name -> value }.toMap
    named.map { case (_, column) => zoneOf(column, byName) }
  }

  /** Unknown where the expression cannot be computed. */
  private def zoneOf(column: ResolvedColumn, values: Map[String, Literal]): Zone =
    Try(column.expression.transform { case a: Attribute => values(a.name) }.eval()).toOption.flatMap {
      case null => Some(Zone.OnlyNulls)
      case value =>
        Normalization.of(column.column.dataType).map(_.normalize(value)).map(v => Zone.Between(v, v))
    }.getOrElse(Zone.Unknown)
}
