package org.apache.spark.sql.zorder.querylog

import java.net.URI

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.connector.catalog.CatalogManager
import org.apache.spark.sql.types.{ArrayType, StructType}
import org.apache.spark.sql.zorder.conf.{NearestName, RunOptions}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}

/**
 * Logged queries, each shape once.
 *
 * @param name
 *   what messages call the log
 */
final case class QueryLog(name: String, queries: Seq[LoggedQuery]) {

  /** The columns and expressions that its queries filter by, as it writes them; each once, in its order. */
  def columns: Seq[String] = queries.flatMap(_.conjunctions).flatten.map(_.column).distinct

  /** The queries on one table, by its name or its place; a query without a table is one of any. */
  def on(session: ClassicSession, table: ClusterTable): QueryLog = {
    val names = new TableMatcher(session, table)
    copy(queries = queries.filter(_.table.forall(names.means)))
  }
}

object QueryLog {

  /** The log that a run's options name; None where they name none. */
  def of(session: ClassicSession, options: RunOptions): Option[QueryLog] =
    options.queryLog.map(read(session, _))

  /** The queries of a log on one table; refuses a log that has none. */
  def onTable(session: ClassicSession, name: String, table: ClusterTable): QueryLog = {
    val log = read(session, name).on(session, table)
    if (log.queries.isEmpty)
      refuse("ZORDER_INVALID_QUERY_LOG.NO_QUERY_ON_TABLE", "log" -> name, "table" -> table.name)
    log
  }

  /**
   * A table, a temporary view, or a path (with a slash) of Parquet files.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: it is not there, or not in the documented format
   */
  def read(session: ClassicSession, name: String): QueryLog =
    try {
      val rows: DataFrame = if (TableRef.isPath(name)) session.read.parquet(name) else session.table(name)
      QueryLog(name, QueryShape.counted(QueryLogReader.read(name, rows)))
    } catch {
      case e: ZOrderException => throw e
      case NonFatal(e) =>
        refuse("ZORDER_INVALID_QUERY_LOG.NOT_READABLE", "log" -> name, "cause" -> firstLine(e))
    }
}

/** Tells whether a table name in a log means the given table, by its full name or by its location. */
final private class TableMatcher(session: ClassicSession, table: ClusterTable) {
  private val same = session.sessionState.conf.resolver
  private val fullName = if (TableRef.isPath(table.name)) None else full(table.name)
  private val root = place(table.root.toString)
  private val answers = scala.collection.mutable.HashMap.empty[String, Boolean]

  def means(logged: String): Boolean = answers.getOrElseUpdate(
    logged,
    if (TableRef.isPath(logged)) Try(place(logged)).toOption.contains(root)
    else full(logged).exists(parts =>
      fullName.exists(_.corresponds(parts)(same)) || fullName.isEmpty && location(parts).contains(root)))

  /** The path without its scheme, since the same directory is written with and without it. */
  private def place(path: String): String = {
    val uri: URI = new Path(path).toUri
    Option(uri.getAuthority).getOrElse("") + uri.getPath.stripSuffix("/")
  }

  /** The name with catalog and database; None if the text is no name. */
  private def full(text: String): Option[Seq[String]] =
    Try(session.sessionState.sqlParser.parseMultipartIdentifier(text)).toOption.map { parts =>
      val catalogs = session.sessionState.catalogManager
      if (parts.size > 1 && isCatalog(parts.head)) parts
      else {
        val namespace = if (parts.size == 1) catalogs.currentNamespace.toSeq else Nil
        (catalogs.currentCatalog.name +: namespace) ++ parts
      }
    }

  /**
   * By the setting: a catalog that cannot be loaded, or would take long to, is not needed for a comparison of
   * names.
   */
  private def isCatalog(name: String): Boolean =
    same(
      name,
      CatalogManager.SESSION_CATALOG_NAME) || session.sessionState.conf.contains(s"spark.sql.catalog.$name")

  private def location(parts: Seq[String]): Option[String] = parts match {
    case Seq(_, database, name) =>
      val found = Try(session.sessionState.catalog.getTableMetadata(TableIdentifier(name, Some(database))))
      found.toOption.flatMap(t => Try(place(new Path(t.location).toString)).toOption)
    case _ => None
  }
}

/**
 * Reads a query log from rows of the documented format. Only `boxes` with `column` and `kind` are required.
 */
private object QueryLogReader {
  def read(name: String, rows: DataFrame): Seq[LoggedQuery] = {
    check(name, rows.schema)
    rows.collect().toSeq.map(query(name, _)).filter(q => q.conjunctions.nonEmpty && q.weight > 0)
  }

  private def check(name: String, schema: StructType): Unit = {
    val condition = schema.find(_.name.equalsIgnoreCase("boxes")).map(_.dataType).collect {
      case ArrayType(ArrayType(c: StructType, _), _) => c
    }.getOrElse(refuse("ZORDER_INVALID_QUERY_LOG.NO_BOXES", "log" -> name))
    Seq("column", "kind").find(f => !condition.fieldNames.exists(_.equalsIgnoreCase(f))).foreach { f =>
      refuse("ZORDER_INVALID_QUERY_LOG.NO_FIELD", "log" -> name, "field" -> f)
    }
  }

  private def query(name: String, row: Row): LoggedQuery = {
    val conjunctions =
      get[Iterable[Iterable[Row]]](row, "boxes").toSeq.flatten.map(_.map(condition(name, _)).toSeq)
    val table = text(row, "table")
    LoggedQuery(
      table,
      None,
      text(row, "query").getOrElse(QueryShape.hash(table.getOrElse(""), conjunctions)),
      number(row, "weight").fold(1.0)(_.doubleValue),
      conjunctions)
  }

  private def condition(name: String, row: Row): LoggedCondition = LoggedCondition(
    text(row, "column").getOrElse(refuse("ZORDER_INVALID_QUERY_LOG.NO_COLUMN", "log" -> name)),
    kind(name, text(row, "kind").getOrElse("")),
    number(row, "count").map(_.intValue),
    number(row, "width").map(_.doubleValue),
    number(row, "selectivity").map(_.doubleValue),
    text(row, "low"),
    text(row, "high"),
    get[Iterable[Any]](row, "values").toSeq.flatten.filter(_ != null).map(string("an item of values", _))
  )

  private def kind(name: String, text: String): String =
    ConditionKind.all.find(_.equalsIgnoreCase(text)).getOrElse {
      refuse(
        "ZORDER_INVALID_QUERY_LOG.KIND",
        "log" -> name,
        "value" -> text,
        "hint" -> NearestName.hint(text, ConditionKind.all),
        "kinds" -> ConditionKind.all.mkString(", "))
    }

  private def text(row: Row, name: String): Option[String] = get[Any](row, name).map(string(name, _))

  private def number(row: Row, name: String): Option[Number] = get[Any](row, name).map {
    case n: Number => n
    case _ => throw new IllegalArgumentException(s"$name is not a number")
  }

  /** Refuses the numbers that a view written by hand may have in place of texts. */
  private def string(name: String, value: Any): String = value match {
    case s: String => s
    case _ => throw new IllegalArgumentException(s"$name is not a STRING")
  }

  private def get[A](row: Row, name: String): Option[A] = {
    val at = row.schema.fieldNames.indexWhere(_.equalsIgnoreCase(name))
    if (at < 0 || row.isNullAt(at)) None else Some(row.getAs[A](at))
  }
}
