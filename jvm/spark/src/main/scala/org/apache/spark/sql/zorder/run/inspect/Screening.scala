package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.zorder.expr.{ColumnPath, WordTypes}
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.stats.{FileFooter, StatColumn}
import sparkzorder.curve.{Word, Zone}
import sparkzorder.curve.cost.{ShareRead, SortedWords}

/**
 * Which columns, beside those that a table is clustered by, its files skip by today: a new order of the rows
 * may spoil that, as for the time column of a table that arrives in the order of time.
 */
private[zorder] object Screening {

  /** Columns whose statistics are looked at. */
  private val MostColumns = 64

  /** Statistics that a driver shall hold for this. */
  private val MostZones = 1000000

  /** Columns that are sampled along. */
  private val Most = 8

  /** A column whose look-ups read so much of the files has nothing to lose. */
  private val NothingToLose = 0.9

  /**
   * @param asked
   *   texts of columns that matter more than others
   */
  def statistics(
      schema: StructType,
      partitionColumns: Seq[String],
      columns: Seq[ClusterColumn],
      asked: Set[String],
      files: Int): RunStatistics = {
    val clustering = columns.flatMap(_.path)
    val leaves = paths(schema.filterNot(f => partitionColumns.contains(f.name)), Nil)
    // what has no order, such as an array, has no statistics either
    val bases = columns.flatMap(c => ColumnPath.within(c.expression)).distinct.diff(clustering)
      .filter(leaves.contains)
    val (first, last) = leaves.partition(p => asked(ColumnPath.sql(p)))
    val room = math.min(MostColumns, MostZones / math.max(1, files))
    val others = (first ++ last).filterNot((clustering ++ bases).contains).take(room)
    val all = (clustering ++ bases ++ others).map(StatColumn.in(schema, _).copy(overlookNaN = true))
    RunStatistics(all, clustering.length, bases.length)
  }

  /** The columns that have an order, fields of structs by their names. */
  def paths(fields: Seq[StructField], above: Seq[String]): Seq[Seq[String]] =
    fields.flatMap { f =>
      f.dataType match {
        case s: StructType => paths(s, above :+ f.name)
        case t if WordTypes.of(t).isDefined => Seq(above :+ f.name)
        case _ => Nil
      }
    }

  /**
   * Of these statistics, by their number, those whose column would lose most.
   *
   * @return
   *   their numbers, the least share first; the share is that of look-ups of values inside each file's range
   */
  def skippedBy(footers: Seq[FileFooter], among: Seq[Int]): Seq[Int] =
    among.map(c => c -> presentShare(footers.map(f => (f.rows, f.zone(c)))))
      .collect { case (c, Some(share)) if share < NothingToLose => (c, share) }
      .sortBy(_._2).take(Most).map(_._1)

  /** None for a column without values. */
  private def presentShare(files: Seq[(Long, Zone)]): Option[Double] = {
    val probes = files.flatMap { case (_, zone) => this.probes(zone) }
    if (probes.isEmpty) None else Some(ShareRead.of(files, SortedWords.of(probes)))
  }

  /** Values inside a range, none for one that is unknown. */
  def probes(zone: Zone): Seq[Word] = zone match {
    case Zone.Between(min, max) => Parts.map(InterpolatedWords.word(min, max, _))
    case _ => Nil
  }

  /** Not the ends: those of a column in no order lie at its edges, where few other files reach. */
  private val Parts = Seq(0.125, 0.375, 0.625, 0.875)
}
