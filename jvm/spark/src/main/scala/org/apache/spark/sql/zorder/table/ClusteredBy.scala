package org.apache.spark.sql.zorder.table

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.zorder.conf.OptionValue
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath

/** The clustering columns that a table names itself, for statements without `BY (...)`. */
private[zorder] object ClusteredBy {

  /** Property that makes `ZORDER TABLE t` complete. */
  val Property = "zorder.by"

  /**
   * The columns that the table's properties or its format name, else those of its last run; None if there are none. An
   * empty list names none.
   */
  def of(table: ClusterTable): Option[Seq[String]] =
    fromProperty(table).orElse(table.clusteredBy).orElse(fromClusterBy(table)).orElse(lastRun(table))
      .filter(_.nonEmpty)

  /** The columns of the last run, by their present names. */
  private def lastRun(table: ClusterTable): Option[Seq[String]] =
    table.state.latest().map(ColumnIds.named(table, _))

  /** As [[lastRun]], but None if one of them was dropped: then the last run was by others, whatever is asked. */
  def lastRunIfThere(table: ClusterTable): Option[Seq[String]] =
    table.state.latest().filter(run => ColumnIds.renamed(table, run).values.forall(_.isDefined))
      .map(ColumnIds.named(table, _))

  /**
   * Whether a record names this column. Files may have a column in another case than the catalog; the text of an
   * expression may hold literals.
   */
  def names(table: ClusterTable, recorded: String, sql: String, isExpression: Boolean): Boolean =
    recorded == sql || !table.caseSensitive && !isExpression && recorded.equalsIgnoreCase(sql)

  private def fromProperty(table: ClusterTable): Option[Seq[String]] =
    table.properties.get(Property).map(inList).filter(_.nonEmpty)

  /** The columns of Spark 4's `CREATE TABLE ... CLUSTER BY`: JSON lists of name parts. */
  private def fromClusterBy(table: ClusterTable): Option[Seq[String]] =
    table.properties.get("clusteringColumns").map { json =>
      val lists = new ObjectMapper().readTree(json).elements().asScala
      lists.map(parts => QuotingUtils.quoteNameParts(parts.elements().asScala.map(_.asText).toSeq)).toSeq
    }.filter(_.nonEmpty)

  /** The items of a list as in `BY (...)`, without its empty places. */
  def inList(list: String): Seq[String] = OptionValue.items(list).filter(_.nonEmpty)
}

/** The columns of a layout by their ids, since a table can give the name of a column to another one (ADR 29). */
private[zorder] object ColumnIds {

  /** The columns of a run by their present names. */
  def named(table: ClusterTable, run: RunRecord): Seq[String] =
    if (run.columnIds.length != run.columns.length) run.columns
    else {
      val now = renamed(table, run)
      run.columns.map(c =>
        now.getOrElse(c, Some(c)).getOrElse(refuse(
          "ZORDER_COLUMN_NOT_FOUND.DROPPED",
          "table" -> table.name,
          "column" -> c,
          "columns" -> run.columns.mkString(", "))))
    }

  /** The columns of a run that have another name now, with that name; None for one that was dropped. */
  def renamed(table: ClusterTable, run: RunRecord): Map[String, Option[String]] =
    if (run.columnIds.length != run.columns.length) Map.empty
    else {
      val now = paths(table).flatMap(p => table.columnId(p).map(_ -> ColumnPath.sql(p))).toMap
      // the id of an expression contains its text, so it keeps the names that it was written with
      run.columns.zip(run.columnIds).filterNot { case (c, id) => id.startsWith(s"$c of ") }
        .map { case (c, id) => c -> now.get(id) }.filterNot { case (c, name) => name.contains(c) }.toMap
    }

  /**
   * Whether two lists are of the same columns: by their ids where both have them. Records of older versions have
   * names alone.
   *
   * @param named
   *   whether they are by their names
   */
  def areSame(ids: Seq[String], others: Seq[String])(named: => Boolean): Boolean =
    if (ids.nonEmpty && others.nonEmpty) ids == others else named

  /** A column of a run whose name belongs to another column now, with its present name. */
  def misnamed(table: ClusterTable, run: RunRecord): Option[(String, Option[String])] = {
    val names = paths(table).map(ColumnPath.sql).toSet
    renamed(table, run).find { case (before, _) => names(before) }
  }

  private def paths(table: ClusterTable): Seq[Seq[String]] = ColumnPath.ofSchema(table.schema).map(_._1)
}
