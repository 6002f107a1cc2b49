package org.apache.spark.sql.zorder.skip

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.index.{ColumnRanges, IndexBuilder, IndexStore, StatisticsIndex}
import org.apache.spark.sql.zorder.skip.scan.LoadedIndexes
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.resolve.TableResolver

/** `ZORDER INDEX`, `REFRESH INDEX`, `DESCRIBE INDEX` and `DROP INDEX`. Data files are read by none of them. */
object IndexStatements {

  val writtenSchema: StructType = new StructType()
    .add("path", StringType).add("status", StringType)
    .add("files", LongType).add("footers_read", LongType).add("columns", LongType).add("bytes", LongType)

  val describedSchema: StructType = new StructType()
    .add("column", StringType).add("data_type", StringType)
    .add("files", LongType).add("with_ranges", LongType).add("only_nulls", LongType).add("unknown", LongType)
    .add("ranges", LongType)

  val droppedSchema: StructType = new StructType().add("path", StringType).add("status", StringType)

  /**
   * Makes an index of the table's files, in place of one that is there.
   *
   * @param columns
   *   names down to each column; all that files have bounds of, 64 at most, where none is named
   */
  def create(session: ClassicSession, ref: TableRef, columns: Seq[Seq[String]]): Row = {
    val table = plain(session, ref)
    val same = session.sessionState.conf.resolver
    val chosen = IndexedColumns.of(table.name, dataSchema(table), columns, same)
    if (chosen.isEmpty)
      refuse(s"${table.name} has no column whose bounds files keep, so there is nothing to index.")
    val store = storeOf(session, table)
    write(
      session,
      table,
      store,
      new IndexBuilder(session, table.root, chosen),
      store.newest().map(_._2),
      "INDEXED")
  }

  /** Reads the footers of new and changed files and drops the entries of those that are gone. */
  def refresh(session: ClassicSession, ref: TableRef): Row = {
    val table = plain(session, ref)
    val store = storeOf(session, table)
    val (_, before) = store.newest().getOrElse(
      refuse(s"${table.name} has no statistics index; make one with ZORDER INDEX ${ref.sql}."))
    refreshed(session, table, store, before)
  }

  /**
   * The index of what the table holds now.
   *
   * @param before
   *   an index whose columns and true entries are taken over
   */
  private[skip] def refreshed(
      session: ClassicSession,
      table: ParquetTable,
      store: IndexStore,
      before: StatisticsIndex): Row = {
    // a column that is gone, or has another type now, leaves the index
    val columns = IndexedColumns.still(dataSchema(table), before.columns)
    write(session, table, store, new IndexBuilder(session, table.root, columns), Some(before), "REFRESHED")
  }

  /** One row a column. */
  def describe(session: ClassicSession, ref: TableRef): Seq[Row] = {
    val table = plain(session, ref)
    storeOf(session, table).newest() match {
      case None => refuse(s"${table.name} has no statistics index; make one with ZORDER INDEX ${ref.sql}.")
      case Some((_, index)) => index.columns.indices.map { c =>
          val column = index.columns(c)
          val ranges = index.rangesAt(c)
          def count(state: Byte): Long = ranges.fold(0L)(_.states.count(_ == state).toLong)
          Row(
            column.sql,
            column.dataType.sql,
            index.files.count.toLong,
            count(ColumnRanges.Bounded),
            count(ColumnRanges.OnlyNulls),
            ranges.fold(index.files.count.toLong)(_ => count(ColumnRanges.Unknown)),
            ranges.fold(0L)(_.words.length.toLong))
        }
    }
  }

  /** Deletes the index; NOTHING_TO_DO if there is none. */
  def drop(session: ClassicSession, ref: TableRef): Row = {
    val table = plain(session, ref)
    val dropped = storeOf(session, table).drop()
    LoadedIndexes.forget(table.root)
    Row(table.root.toString, if (dropped) "DROPPED" else "NOTHING_TO_DO")
  }

  private def write(
      session: ClassicSession,
      table: ParquetTable,
      store: IndexStore,
      builder: IndexBuilder,
      before: Option[StatisticsIndex],
      status: String): Row = {
    val clock = store.clock()
    val ours = table.state.runs().flatMap(_.files.map(_.path)).toSet
    val (index, read) = builder.build(table.files(), before, clock, ours)
    val bytes = store.write(index)
    LoadedIndexes.forget(table.root)
    Row(
      table.root.toString,
      status,
      index.files.count.toLong,
      read.toLong,
      index.columns.length.toLong,
      bytes)
  }

  private[skip] def plain(session: ClassicSession, ref: TableRef): ParquetTable =
    TableResolver.locate(session, ref) match {
      case p: ParquetTable => p
      case other =>
        refuse(s"${other.name} is a table of a format that keeps statistics of its own, by which queries skip files " +
          "already; an index is for plain Parquet.")
    }

  private[skip] def storeOf(session: ClassicSession, table: ClusterTable): IndexStore =
    new IndexStore(table.root.getFileSystem(session.sessionState.newHadoopConf()), table.root)

  private def dataSchema(table: ClusterTable): StructType = {
    val partitioning = table.partitionSchema.fieldNames.toSet
    StructType(table.schema.filterNot(f => partitioning(f.name)))
  }
}
