package org.apache.spark.sql.zorder.insight.brief

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.clustering.report.{ColumnReport, Shares}
import org.apache.spark.sql.zorder.insight.audit.{AuditRow, Auditor}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.Maintenance

/**
 * `ZORDER AUDIT`: the audit as rows that people read, of files alone. First the table with its verdict, then
 * its columns, then its partitions.
 */
private[zorder] object BriefAudit {

  /**
   * `column` is NULL in rows about all columns together; verdict, reason, statement and record are only
   * there.
   */
  val schema: StructType = new StructType()
    .add("partition", StringType).add("column", StringType).add("verdict", StringType)
    .add("files", LongType).add("now", DoubleType).add("bound", DoubleType).add("depth", DoubleType)
    .add("reason", StringType).add("statement", StringType).add("record", StringType)

  /** @param columns as in `BY (...)`; None for those that the table names itself or was clustered by */
  def rows(session: ClassicSession, target: TableRef, columns: Option[String]): Seq[Row] = {
    val all = Auditor.of(session, target, columns, None).rows().map(r =>
      new GenericRowWithSchema(r.toSeq.toArray, AuditRow.schema): Row)
    all.headOption.toSeq.flatMap(r => whole(r) +: ofColumns(r)) ++ all.drop(1).map(whole)
  }

  private def ofFiles(row: Row): Seq[Row] =
    row.getSeq[Row](AuditRow.schema.fieldIndex("levels")).filter(_.getString(Level.level) == "file")

  private def whole(row: Row): Row = {
    val joint = ofFiles(row).find(_.isNullAt(Level.name))
    def figure(at: Int): Any = joint.fold[Any](null)(_.get(at))
    Row(
      row.getAs[String]("partition"),
      null,
      row.getAs[String]("verdict"),
      row.getAs[Long]("total_file_count"),
      figure(Level.share),
      figure(Level.bound),
      figure(Level.depth),
      row.getAs[String]("reason"),
      row.getAs[String]("statement"),
      row.json)
  }

  private def ofColumns(row: Row): Seq[Row] = ofFiles(row).filterNot(_.isNullAt(Level.name)).map { l =>
    Row(
      null,
      l.get(Level.name),
      null,
      row.getAs[Long]("total_file_count"),
      l.get(Level.share),
      l.get(Level.bound),
      l.get(Level.depth),
      null,
      null,
      null)
  }

  /** Places of a level's fields. */
  private object Level {
    private val fields = AuditRow.schema("levels").dataType match {
      case ArrayType(s: StructType, _) => s
      case other => throw new IllegalStateException(other.sql)
    }
    val level: Int = fields.fieldIndex("level")
    val name: Int = fields.fieldIndex("name")
    val share: Int = fields.fieldIndex("look_up_share")
    val bound: Int = fields.fieldIndex("look_up_bound")
    val depth: Int = fields.fieldIndex("average_depth")
  }
}

/** `ZORDER HISTORY`: the runs of a table, a row for each of their columns, oldest first, of files alone. */
private[zorder] object BriefHistory {

  /**
   * `column` and its shares are NULL where a run measured nothing; the record is in the first row of a run.
   */
  val schema: StructType = new StructType()
    .add("run", IntegerType).add("finished", TimestampType).add("operation", StringType)
    .add("status", StringType).add("curve", StringType)
    .add("files_added", IntegerType).add("files_removed", IntegerType)
    .add("column", StringType).add("before", DoubleType).add("forecast", DoubleType)
    .add("measured", DoubleType).add("bound", DoubleType).add("record", StringType)

  def rows(session: ClassicSession, target: TableRef): Seq[Row] =
    Maintenance.history(session, target).flatMap { r =>
      val row = new GenericRowWithSchema(r.toSeq.toArray, Maintenance.historySchema)
      val columns = columnsOf(row.getAs[String]("report"))
      val shown = if (columns.isEmpty) Seq(Seq.fill(Figures.length + 1)(null)) else columns
      shown.zipWithIndex.map { case (figures, i) =>
        val run = Seq("run", "finished", "operation", "status", "curve", "files_added", "files_removed")
          .map(name => row.get(row.fieldIndex(name)))
        Row.fromSeq(run ++ figures :+ (if (i == 0) row.json else null))
      }
    }

  private val Figures = Seq("now", "forecast", "measured", "bound")

  private def columnsOf(report: String): Seq[Seq[Any]] =
    if (report == null || report.isEmpty) Nil
    else {
      val columns = new ObjectMapper().readTree(report).path("columns")
      columns.elements().asScala.toSeq.map { c =>
        c.path("name").asText +: Figures.map(f => number(c.path("files").path(f)))
      }
    }

  private def number(node: JsonNode): java.lang.Double =
    if (node.isNumber) Double.box(node.asDouble) else null
}

/** `ZORDER TABLE ... AS ROWS`: the result of a run, of files alone. First the run, then its columns. */
private[zorder] object BriefRun {

  /**
   * `column` is NULL in the row of the run, whose figures are means over its columns; reason and record are
   * only there.
   */
  val schema: StructType = new StructType()
    .add("status", StringType).add("column", StringType)
    .add("before", DoubleType).add("forecast", DoubleType)
    .add("measured", DoubleType).add("bound", DoubleType)
    .add("reason", StringType).add("record", StringType)

  /** @param run the one row of its result */
  def rows(run: Row): Seq[Row] = {
    val columns = run.getAs[scala.collection.Seq[Row]]("columns").toSeq.map(ofColumn)
    val means = Shares.schema.indices.map(i => mean(columns.map(_._2(i))))
    Row.fromSeq(run.getAs[String]("status") +: null +: means :+ run.getAs[String]("reason") :+ run.json) +:
      columns.map { case (name, shares) => Row.fromSeq(null +: name +: shares :+ null :+ null) }
  }

  private def ofColumn(row: Row): (String, Seq[Any]) = {
    val at = ColumnReport.schema.fieldIndex(_)
    (row.getString(at("name")), row.getStruct(at("files")).toSeq)
  }

  /** Of figures that are all known. */
  private def mean(figures: Seq[Any]): java.lang.Double = {
    val known = figures.collect { case d: Double => d }
    if (known.isEmpty || known.length < figures.length) null else known.sum / known.length
  }
}
