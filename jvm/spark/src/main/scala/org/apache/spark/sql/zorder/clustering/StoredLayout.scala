package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.clustering.fit.LayoutJson
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ColumnIds, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver

/**
 * The layout that a clustered table keeps: `table:db.t`, `path:/data/t`, with `#id` or `#day=2026-01-01`
 * behind for that of a partition.
 */
object StoredLayout {

  /** The newest layout of a table that is not partitioned, if it has one. */
  def newest(session: ClassicSession, ref: TableRef): Option[String] = {
    val table = TableResolver.locate(session, ref)
    for {
      run <- table.state.latest()
      json <- run.layoutIds.values.headOption.flatMap(table.state.layout)
    } yield named(json, ColumnIds.renamed(table, run))
  }

  /** Replaces the columns' names by those that they have now. */
  private def named(json: String, renamed: Map[String, Option[String]]): String =
    if (renamed.isEmpty) json
    else {
      val layout = LayoutJson.read(json)
      LayoutJson.write(layout.copy(columns =
        layout.columns.map(c => c.copy(sql = renamed.get(c.sql).flatten.getOrElse(c.sql)))))
    }

  /**
   * The JSON of the layout that an id or a partition names; without one, of the only layout that the table's partitions are
   * in. It is refused if they are in several.
   */
  def json(text: String): String = {
    val session = Shims.classic(SparkSession.active)
    val (name, choice) = text match {
      case WithChoice(n, c) => (n, Some(c))
      case _ => (text, None)
    }
    val ref =
      if (name.startsWith("table:"))
        TableRef.Name(session.sessionState.sqlParser.parseMultipartIdentifier(name.stripPrefix("table:")))
      else if (name.startsWith("path:")) TableRef.Location(name.stripPrefix("path:"))
      else
        refuse("ZORDER_INVALID_LAYOUT.NOT_A_LAYOUT", "value" -> text.take(40))
    val table = TableResolver.locate(session, TableRef.inView(session, ref))
    val state = table.state
    // a run takes some of the partitions, and the others keep the layouts that they have
    val ofPartition = state.ofBranch().map(_.layoutIds).foldLeft(Map.empty[String, String])(_ ++ _)
    val ids = ofPartition.values.toSeq.distinct
    if (ids.isEmpty) refuse("ZORDER_LAYOUT_NOT_FOUND.NOT_CLUSTERED", "table" -> name)
    val wanted = choice.map(c => ofPartition.getOrElse(c, c)).getOrElse {
      if (ids.length > 1)
        refuse(
          "ZORDER_CHOICE_NEEDED.LAYOUT_OF_A_PARTITION",
          "table" -> name,
          "count" -> ids.length,
          "layout" -> ids.head)
      ids.head
    }
    state.standing().filter(_.layoutIds.values.exists(_ == wanted)).lastOption
      .flatMap(ColumnIds.misnamed(table, _)).foreach { case (column, now) =>
        now match {
          case None => refuse("ZORDER_INVALID_LAYOUT.COLUMN_DROPPED", "column" -> column, "table" -> name)
          case Some(newName) => refuse(
              "ZORDER_INVALID_LAYOUT.COLUMN_RENAMED",
              "column" -> column,
              "table" -> name,
              "newName" -> newName)
        }
      }
    state.layout(wanted).getOrElse(
      refuse("ZORDER_LAYOUT_NOT_FOUND.NO_SUCH_ID", "table" -> name, "layout" -> wanted))
  }

  /** A name with an id, or with the directory of a partition; a path may have a `#` of its own. */
  private val WithChoice = "(.*)#([0-9a-f]{8}|[0-9a-f]{16}|[^#]*=[^#]*)".r
}
