package org.apache.spark.sql.zorder.skipping.make

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.{BloomBudget, SessionKeys}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index._
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, StorageFailure}

/**
 * `ZORDER INDEX`, `REFRESH INDEX`, `DESCRIBE INDEX` and `DROP INDEX`. Of data files, footers are read, and
 * the columns of Bloom filters and expressions.
 */
object IndexActions extends Logging {

  val writtenSchema: StructType = new StructType()
    .add("path", StringType).add("status", StringType)
    .add("files", LongType).add("footers_read", LongType).add("columns", LongType).add("bytes", LongType)
    .add("bloom_bytes", LongType).add("bloom_files_read", LongType)

  val describedSchema: StructType = new StructType()
    .add("column", StringType).add("data_type", StringType)
    .add("files", LongType).add("with_ranges", LongType).add("only_nulls", LongType).add("unknown", LongType)
    .add("ranges", LongType).add("bloom_files", LongType).add("bloom_bytes", LongType)
    .add("value_files", LongType).add("note", StringType)

  val droppedSchema: StructType = new StructType().add("path", StringType).add("status", StringType)

  /**
   * Makes an index of the table's files, in place of one that is there.
   *
   * @param columns
   *   names down to each column; all that files have bounds of, 64 at most, where nothing is named, and the
   *   expressions that the table is clustered by. A format keeps ranges itself: of its tables, only columns
   *   with filters or values can be named, and where nothing is named, these and the expressions are all.
   * @param expressions
   *   over columns, in SQL, whose ranges are computed from the rows
   * @param bloom
   *   columns that get Bloom filters, too
   * @param values
   *   columns whose values are listed, in files that have few
   */
  def create(
      session: ClassicSession,
      ref: TableRef,
      columns: Seq[Seq[String]],
      expressions: Seq[String],
      bloom: Seq[Seq[String]],
      budget: BloomBudget,
      values: Seq[Seq[String]]): Row = on(session, ref) { table =>
    val same = session.sessionState.conf.resolver
    val schema = table.dataSchema
    val filtered =
      IndexColumnResolver.filtered(table.name, schema, table.partitionSchema.fieldNames.toSeq, bloom, same)
    def named(columns: Seq[Seq[String]]) = IndexColumnResolver.of(table.name, schema, columns, same)
    val all = columns.isEmpty && expressions.isEmpty
    if (table.keepsRanges)
      refuseRanges(table, columns.filterNot(c => (bloom ++ values).exists(_.corresponds(c)(same))))
    val own =
      if (table.keepsRanges || (columns.isEmpty && !all)) IndexedSeq.empty else named(columns)
    val valued = if (values.isEmpty) IndexedSeq.empty else named(values)
    val chosen = IndexColumnResolver.withValues((own ++ filtered).distinct, valued)
    val possible = new IndexExpressionResolver(session, table)
    val computed = possible.of(if (all) possible.clustering else expressions)
    if (chosen.isEmpty && computed.columns.isEmpty) {
      if (table.keepsRanges) refuseRanges(table, Seq(Nil))
      refuse("ZORDER_INDEX_REFUSED.NO_COLUMNS", "table" -> table.name)
    }
    val store = IndexStore.of(session, table.root)
    write(
      session,
      table,
      store,
      new IndexBuilder(session, table.root, chosen, computed),
      new BloomBuilder(session, table, store, numbered(chosen, filtered.map(_._1.path)), budget),
      store.newestReadable(),
      "INDEXED").get
  }

  /**
   * @param columns
   *   named for nothing but their ranges, which the format keeps; an empty name for all of them
   */
  private def refuseRanges(table: IndexedTable, columns: Seq[Seq[String]]): Unit =
    if (columns.nonEmpty)
      refuse(
        "ZORDER_INDEX_REFUSED.RANGES_OF_FORMAT",
        "table" -> table.name,
        "columns" -> columns.map(c => if (c.isEmpty) "its columns" else ColumnPath.sql(c)).mkString(", "))

  /**
   * Reads the footers of new and changed files and drops the entries of those that are gone.
   *
   * @param ifExists
   *   a table that has no index, or cannot have one, is left alone: NOTHING_TO_DO
   */
  def refresh(session: ClassicSession, ref: TableRef, ifExists: Boolean): Row =
    // where an append refreshes, the rows are there already
    refreshed(session, ref, None, strict = !ifExists)

  /**
   * The index of what the table holds now. If somebody makes an index meanwhile, the refresh begins again
   * from that one, with the files of then; if somebody drops it, nothing is written.
   *
   * @param held
   *   the index to begin with where a commit has taken the table's away
   * @param strict
   *   whether a table without an index is refused, and Bloom filters that exceed their budget; else new files
   *   have none
   */
  @tailrec
  private[make] def refreshed(
      session: ClassicSession,
      ref: TableRef,
      held: Option[HeldIndex],
      strict: Boolean,
      again: Boolean = false): Row = {
    val row = opened(TableResolver.locate(session, ref)) { located =>
      val nothing = Some(nothingToDo(located.root))
      IndexedTable.of(located) match {
        case None => if (strict) refuseOther(located) else nothing
        case Some(table) =>
          val store = IndexStore.of(session, table.root)
          val listed = store.listed()
          val away = held.filter(_.mayBeAway(session, store, located)).map(_.index)
          // where files are, there is one that this version cannot read, and none is written over it
          store.newest(listed).map(_._2).orElse(if (listed.isEmpty) away else None) match {
            case Some(before) =>
              renewed(session, table, store, before, listed.headOption.map(_._2), strict)
            case None => if (strict && !again) refuseWithout(table, store, ref) else nothing
          }
      }
    }
    row match {
      case Some(done) => done
      case None => refreshed(session, ref, None, strict, again = true)
    }
  }

  /** No whole index is there. */
  private def refuseWithout(table: IndexedTable, store: IndexStore, ref: TableRef): Nothing = {
    val statement = s"ZORDER INDEX ${ref.sql}"
    if (store.listed().nonEmpty)
      refuse("ZORDER_STATE_UNREADABLE.INDEX", "table" -> table.name, "statement" -> statement)
    else refuse("ZORDER_INDEX_NOT_FOUND", "table" -> table.name, "statement" -> statement)
  }

  private def nothingToDo(root: Path): Row =
    Row(root.toString, "NOTHING_TO_DO", 0L, 0L, 0L, 0L, 0L, 0L)

  /**
   * @param before
   *   an index whose columns and true entries are taken over
   * @param begun
   *   the newest index file then, if there was one
   * @return
   *   None where somebody has made or dropped an index since
   */
  private def renewed(
      session: ClassicSession,
      table: IndexedTable,
      store: IndexStore,
      before: StatisticsIndex,
      begun: Option[FileStatus],
      strict: Boolean): Option[Row] = {
    // a column that is gone, or has another type now, or a collation, leaves the index
    val columns = IndexColumnResolver.still(table.dataSchema, before.columns)
    val computed = new IndexExpressionResolver(session, table).still(before.columns)
    val left = before.columns.map(_.sql).diff(columns.map(_._1.sql) ++ computed.columns.map(_.sql))
    if (left.nonEmpty)
      logWarning(
        s"The index of ${table.name} is without ${left.mkString(", ")} from now on: the table has no such column, or " +
          "none that an index can have")
    val filtered = before.blooms.columns.keys.map(before.columns(_).path).toSeq
    write(
      session,
      table,
      store,
      new IndexBuilder(session, table.root, columns, computed),
      new BloomBuilder(session, table, store, numbered(columns, filtered), before.blooms.budget),
      Some(before),
      "REFRESHED",
      begun,
      strict)
  }

  /** The columns that have Bloom filters, by their numbers. */
  private def numbered(
      columns: IndexedSeq[(IndexedColumn, StatColumn)],
      filtered: Seq[Seq[String]]): Seq[(Int, StatColumn)] =
    columns.indices.filter(c => filtered.contains(columns(c)._1.path)).map(c => c -> columns(c)._2)

  /** One row a column. */
  def describe(session: ClassicSession, ref: TableRef): Seq[Row] = on(session, ref) { table =>
    val store = IndexStore.of(session, table.root)
    store.newest() match {
      case None => refuseWithout(table, store, ref)
      case Some((_, index)) =>
        val expressions = new IndexExpressionResolver(session, table)
        val older =
          if (index.byOlderRules)
            Some("not used: an older version of spark-zorder made it; ZORDER REFRESH INDEX makes it anew")
          else None
        index.columns.indices.map { c =>
          val column = index.columns(c)
          val ranges = index.rangesAt(c)
          val blooms = index.blooms.columns.get(c)
          def count(state: Byte): Long = ranges.fold(0L)(_.states.count(_ == state).toLong)
          Row(
            column.sql,
            column.dataType.sql,
            index.files.count.toLong,
            count(ColumnRanges.Bounded),
            count(ColumnRanges.OnlyNulls),
            ranges.fold(index.files.count.toLong)(_ => count(ColumnRanges.Unknown)),
            ranges.fold(0L)(_.bounds.length.toLong),
            blooms.fold(0L)(_.stored.filters.toLong),
            blooms.fold(0L)(_.stored.bytes),
            if (column.values) ranges.fold(0L)(_.filesOfValues) else 0L,
            older.orElse(expressions.unused(column))
              .orElse(withoutBounds(column, index.files.count.toLong, ranges)).orNull)
        }
    }
  }

  /** Files have no bounds of a timestamp, nearly always because it is INT96, as Spark writes it. */
  private def withoutBounds(
      column: IndexedColumn,
      files: Long,
      ranges: Option[ColumnRanges]): Option[String] = {
    val unknown = ranges.fold(files)(_.states.count(_ == ColumnRanges.Unknown).toLong)
    if (unknown == 0 || column.expression.isDefined || column.dataType != TimestampType) None
    else Some(
      s"unknown in $unknown of $files files: timestamps that are stored as INT96 have no bounds; ZORDER TABLE WITH " +
        "(timestampType = 'micros') writes some")
  }

  /** Deletes the index; NOTHING_TO_DO if there is none. */
  def drop(session: ClassicSession, ref: TableRef): Row = on(session, ref)(dropOf(session, _))

  private def dropOf(session: ClassicSession, table: IndexedTable): Row = {
    val dropped = IndexStore.of(session, table.root).drop()
    LoadedIndexes.forget(table.root)
    Row(table.root.toString, if (dropped) "DROPPED" else "NOTHING_TO_DO")
  }

  /**
   * What drops the index of a table whose state is removed, if it does not lie in the table. It is asked for
   * before the removal, which may move the table, and called after it, since a removal may be refused.
   */
  def dropOfElsewhere(session: ClassicSession, ref: TableRef): () => Unit =
    if (!IndexPlace.in(session.sessionState.conf).isElsewhere) () => ()
    else
      opened(TableResolver.locate(session, ref)) { located =>
        val indexed = IndexedTable.of(located)
        () => indexed.foreach(dropOf(session, _))
      }

  private def write(
      session: ClassicSession,
      table: IndexedTable,
      store: IndexStore,
      builder: IndexBuilder,
      bloomBuilder: BloomBuilder,
      before: Option[StatisticsIndex],
      status: String,
      begun: Option[FileStatus] = None,
      strict: Boolean = true): Option[Row] = {
    val files = table.files()
    val others = files.filterNot(f => table.isForEver(table.keys.of(new Path(f.path))))
    val clock = clockWhenTrusted(session, table, store, others.map(_.modified).foldLeft(0L)(math.max))
    // a column that has the name of another one makes entries of no use
    val same = before.filter(b => b.identities == table.identities(b))
    val (ranges, read) = builder.build(files, same, clock, table.isForEver)
    val (blooms, valuesRead) = bloomBuilder.build(ranges, files, same, strict)
    val index = ranges.withBlooms(blooms).withIdentities(table.identities(ranges))
    CrashPoint.hit("index-built")
    def withdraw(): Unit = store.withdraw(blooms.files -- before.fold(Set.empty[String])(_.blooms.files))
    val written =
      try store.write(index, begun)
      catch {
        case NonFatal(e) =>
          withdraw()
          throw e
      }
    if (written.isEmpty) withdraw()
    LoadedIndexes.forget(table.root)
    written.map(bytes =>
      Row(
        table.root.toString,
        status,
        index.files.count.toLong,
        read.toLong,
        index.columns.length.toLong,
        bytes,
        blooms.bytes,
        valuesRead.toLong))
  }

  /**
   * The time at the store, after a wait of two seconds at most: then the newest file is old enough to be
   * trusted. Where the index lies on another file system, nobody knows the time at that of the files: it is
   * taken for a minute earlier, without a wait, and a later refresh reads the footers of younger files again.
   */
  private def clockWhenTrusted(
      session: ClassicSession,
      table: IndexedTable,
      store: IndexStore,
      newest: Long): Long = {
    val now = clock(session, table, store)
    val left = newest + IndexedFiles.RacyMs - now
    if (!store.sharesClockOf(table.root)) math.min(now, System.currentTimeMillis()) - OtherClockMs
    else if (left < 0 || left > IndexedFiles.RacyMs) now
    else {
      Thread.sleep(left + 1)
      store.clock()
    }
  }

  /** We take it that the clocks of two stores differ by less. */
  private val OtherClockMs = 60L * 1000

  /** For what is said of plain Parquet alone. */
  private[zorder] def plain(session: ClassicSession, ref: TableRef): ParquetTable =
    TableResolver.locate(session, ref) match {
      case p: ParquetTable => p
      case other => refuse("ZORDER_INDEX_REFUSED.EXPLAINED_BY_QUERY", "table" -> other.name)
    }

  /** Opens a table whose index a statement is about. */
  private[make] def on[A](session: ClassicSession, ref: TableRef)(body: IndexedTable => A): A =
    opened(TableResolver.locate(session, ref))(t => body(IndexedTable.of(t).getOrElse(refuseOther(t))))

  private def opened[A](table: ClusterTable)(body: ClusterTable => A): A =
    try body(table)
    finally table.close()

  private def refuseOther(table: ClusterTable): Nothing =
    refuse("ZORDER_INDEX_REFUSED.OTHER_FORMAT", "table" -> table.name)

  /** The first thing that a statement writes; what the storage says against it becomes a sentence. */
  private def clock(session: ClassicSession, table: IndexedTable, store: IndexStore): Long = {
    if (IndexPlace.in(session.sessionState.conf).isWithin(table.root))
      refuse(
        "ZORDER_INVALID_SETTING.INDEX_WITHIN_TABLE",
        "setting" -> SessionKeys.IndexLocation.key,
        "table" -> table.name)
    store.last().foreach(file => refuse("ZORDER_LIMIT_EXCEEDED.INDEX_NUMBER", "file" -> file))
    try store.clock()
    catch {
      case StorageFailure(said) if !StorageFailure.isFull(said) =>
        refuse(
          "ZORDER_STORAGE_FAILED.INDEX",
          "table" -> table.name,
          "dir" -> store.dir,
          "cause" -> said,
          "setting" -> SessionKeys.IndexLocation.key)
    }
  }
}

/**
 * An index as it was before a commit.
 *
 * @param dir
 *   where it lay
 */
final private[make] case class HeldIndex(index: StatisticsIndex, dir: Path) {

  /**
   * Whether a commit may have taken it away: with the whole directory of the table. Else somebody has dropped
   * it.
   */
  def mayBeAway(session: ClassicSession, store: IndexStore, table: ClusterTable): Boolean = {
    def exchangesAll = table match {
      case plain: ParquetTable => !plain.partitioned
      case _ => false
    }
    store.dir != dir || !IndexPlace.in(session.sessionState.conf).isElsewhere && exchangesAll
  }
}

/** Updates the index after each commit, since a commit may move the table's files. */
final class IndexUpkeep private (session: ClassicSession, index: StatisticsIndex, place: IndexStore)
    extends Logging {

  private var behind = false

  /** The table has other files now than the index. */
  def committed(): Unit = behind = true

  /** After the last commit. What goes wrong here costs skipping, and the commits stand. */
  def afterCommits(ref: TableRef): Unit = if (behind) refresh(ref)

  private def refresh(ref: TableRef): Unit =
    try {
      IndexActions.refreshed(session, ref, Some(HeldIndex(index, place.dir)), strict = false)
      // where indexes lie elsewhere, a table that has moved has another folder now
      if (IndexPlace.in(session.sessionState.conf).isElsewhere)
        IndexActions.on(session, ref) { table =>
          if (IndexStore.of(session, table.root).dir != place.dir) {
            val _ = place.drop()
          }
        }
    } catch {
      case NonFatal(e) =>
        logWarning(
          s"The statistics index of ${ref.sql} is behind its files: run ZORDER REFRESH INDEX ${ref.sql}",
          e)
    }
}

object IndexUpkeep {

  /** The index to keep up, read before a commit takes the table's old directory away; None without one. */
  def before(session: ClassicSession, table: ClusterTable): Option[IndexUpkeep] =
    try IndexedTable.of(table).flatMap { indexed =>
        val store = IndexStore.of(session, indexed.root)
        store.newest().map { case (_, index) => new IndexUpkeep(session, loaded(index), store) }
      }
    catch { case NonFatal(_) => None }

  /** The upkeep for a statement on a table that is not open yet. */
  def before(session: ClassicSession, ref: TableRef): Option[IndexUpkeep] =
    try before(session, TableResolver.locate(session, ref))
    catch { case NonFatal(_) => None }

  /** Every column is loaded now: its file may be gone later. */
  private def loaded(index: StatisticsIndex): StatisticsIndex = {
    index.columns.indices.foreach(index.rangesAt)
    index
  }
}
