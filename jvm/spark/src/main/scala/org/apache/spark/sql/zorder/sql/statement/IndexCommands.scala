package org.apache.spark.sql.zorder.sql.statement

import scala.util.Try

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.IndexOptions
import org.apache.spark.sql.zorder.run.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.IndexStatements
import org.apache.spark.sql.zorder.table.TableRef

/** A statement on the index of a table. */
abstract class IndexCommand(title: String, schema: StructType) extends ZOrderCommand(title, schema) {
  protected def table: TableRef

  protected def rows(session: ClassicSession): Seq[Row]

  override protected def detail: String = show(table)

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table))(rows(Shims.classic(session)))
}

/** `ZORDER INDEX`: one row that says what was made. */
final case class CreateIndexCommand(table: TableRef, columns: Seq[String], options: IndexOptions)
    extends IndexCommand("ZOrderIndex", IndexStatements.writtenSchema) {
  override protected def detail: String =
    show(table) + named("columns", columns) + named("bloom", options.bloom) + named("values", options.values)

  private def named(what: String, names: Seq[String]): String =
    if (names.isEmpty) "" else names.mkString(s" $what (", ", ", ")")

  override protected def rows(session: ClassicSession): Seq[Row] = {
    val parser = session.sessionState.sqlParser
    val (names, expressions) = columns.partition(c => Try(parser.parseMultipartIdentifier(c)).isSuccess)
    Seq(IndexStatements.create(
      session,
      table,
      names.map(parser.parseMultipartIdentifier),
      expressions,
      options.bloom.map(parser.parseMultipartIdentifier),
      options.budget,
      options.values.map(parser.parseMultipartIdentifier)))
  }
}

/** `ZORDER REFRESH INDEX`: one row that says how many footers were read. */
final case class RefreshIndexCommand(table: TableRef, ifExists: Boolean)
    extends IndexCommand("ZOrderRefreshIndex", IndexStatements.writtenSchema) {
  override protected def rows(session: ClassicSession): Seq[Row] =
    Seq(IndexStatements.refresh(session, table, ifExists))
}

/** `ZORDER DESCRIBE INDEX`: one row a column. */
final case class DescribeIndexCommand(table: TableRef)
    extends IndexCommand("ZOrderDescribeIndex", IndexStatements.describedSchema) {
  override protected def rows(session: ClassicSession): Seq[Row] = IndexStatements.describe(session, table)
}

/** `ZORDER DROP INDEX`: one row. */
final case class DropIndexCommand(table: TableRef)
    extends IndexCommand("ZOrderDropIndex", IndexStatements.droppedSchema) {
  override protected def rows(session: ClassicSession): Seq[Row] = Seq(IndexStatements.drop(session, table))
}
