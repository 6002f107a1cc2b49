package org.apache.spark.sql.zorder.clustering.fit

import scala.collection.mutable.ArrayBuffer
import scala.reflect.ClassTag

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType, NormalizedType}
import org.apache.spark.util.Utils

/**
 * Rows counted by their numbers.
 *
 * @param rows
 *   how many have each number
 * @param number
 *   of each sampled row
 */
final case class CountedSample(rows: Array[Long], sample: Sample, number: Array[Int]) {

  /** By the first number of each part, 0 and rising; the numbers of a part begin at 0 then. */
  def split(first: Array[Int]): IndexedSeq[CountedSample] = {
    def part(n: Int): Int = {
      val at = java.util.Arrays.binarySearch(first, n)
      if (at >= 0) at else -at - 2
    }
    val byPart = number.indices.toArray.groupBy(i => part(number(i)))
    first.toIndexedSeq.zip(first.tail :+ rows.length).zipWithIndex.map { case ((from, until), p) =>
      val here = byPart.getOrElse(p, Array.emptyIntArray)
      CountedSample(rows.slice(from, until), sample.take(here), here.map(number(_) - from))
    }
  }
}

/** The most rows to sample, and the most bytes of these rows. */
final case class SampleBound(rows: Int, bytes: Long)

/** Turns rows of clustering columns into normalized values, in one job. */
object Sampler {

  /**
   * Runs `rows` and groups its rows by route.
   *
   * @param rows
   *   the clustering columns, then one INT column with the route (0 where there is one)
   * @param routes
   *   number of routes
   * @param keep
   *   a test of (route, task, row within the task) for rows that are not filtered yet; must depend on nothing
   *   else, so that a task that is run again gives the same rows
   */
  def collect(rows: DataFrame, routes: Int, keep: (Int, Int, Long) => Boolean): IndexedSeq[Sample] = {
    val types = rows.schema.fields.init.map(_.dataType)
    val chunks = perTask(rows)((task, in) => chunk(in, types, task, keep))
    val whole = joined(types, chunks.map(_.columns))
    val route = chunks.flatMap(_.routes)
    if (routes == 1) IndexedSeq(whole)
    else {
      val byRoute = Array.range(0, route.length).groupBy(route(_))
      (0 until routes).map(r => whole.take(byRoute.getOrElse(r, Array.emptyIntArray)))
    }
  }

  /**
   * Rows by the number in their last column, and a sample of them.
   *
   * @param rows
   *   the clustering columns, then one INT column with a number from 0
   * @param numbers
   *   how many numbers there are
   * @param keep
   *   a test of (number, task, row within the task)
   */
  def counted(rows: DataFrame, numbers: Int, keep: (Int, Int, Long) => Boolean): CountedSample = {
    val types = rows.schema.fields.init.map(_.dataType)
    val chunks = perTask(rows) { (task, in) =>
      val counts = new Array[Long](numbers)
      val seen = in.map { row =>
        counts(row.getInt(types.length)) += 1
        row
      }
      (chunk(seen, types, task, keep), CountsByNumber.of(counts))
    }
    CountedSample(
      CountsByNumber.sum(chunks.map(_._2), numbers),
      joined(types, chunks.map(_._1.columns)),
      chunks.flatMap(_._1.routes))
  }

  /** A share of the rows, chosen by a hash of their place, so that a repeated task chooses the same rows. */
  def byPlace(share: Double): (Int, Int, Long) => Boolean = byPlace(_ => share)

  /** A share of the rows of each route or number, chosen as those of one share for all. */
  def byPlace(share: Int => Double): (Int, Int, Long) => Boolean =
    (route, task, row) =>
      (mix(row + (task.toLong << 40)) >>> 32) < (share(route) * (1L << 32)).toLong

  /**
   * At most about `most` of each task, all tasks at the same rate, of an unknown number of rows: a task that has
   * too many keeps those with the smallest hashes of their places, so the fullest task decides the rate. Where
   * that gives far fewer rows than are wanted, a second job takes about these, since the number of all and their
   * mean size are known then: to send more of each task at first would be too much where all tasks are full.
   */
  def collectBounded(rows: DataFrame, most: SampleBound, wanted: SampleBound): Sample = {
    val types = rows.schema.fields.map(_.dataType)
    val chunks = perTask(rows)((task, in) => bounded(in, types, task, most, Long.MaxValue))
    val sample = atOneRate(types, chunks)
    val all = chunks.map(_.rows).sum
    val meanBytes = chunks.map(k => k.rows * k.rowBytes).sum / math.max(1L, all)
    val enough = math.min(wanted.rows.toLong, (wanted.bytes / math.max(1.0, meanBytes)).toLong)
    if (sample.rows >= math.min(enough, all) / FarFewer) sample
    else {
      val limit = (math.min(1.0, enough.toDouble / all) * Long.MaxValue.toDouble).toLong
      atOneRate(types, perTask(rows)((task, in) => bounded(in, types, task, wanted, limit)))
    }
  }

  /** A sample of fewer rows than the wanted ones by this factor is taken again. */
  private val FarFewer = 4

  private def atOneRate(types: Array[DataType], chunks: Array[BoundedChunk]): Sample = {
    val limit = (Long.MaxValue +: chunks.map(_.limit)).min
    joined(
      types,
      chunks.map { k =>
        val below = k.hashes.indices.filter(k.hashes(_) <= limit).toArray
        k.columns.map(_.take(below))
      })
  }

  /**
   * Runs one job. Results are sent as bytes: if our jar was added later, executors load our classes
   * separately.
   */
  private def perTask[A <: AnyRef: ClassTag](rows: DataFrame)(body: (
      Int,
      Iterator[InternalRow]) => A): Array[A] =
    rows.queryExecution.toRdd
      .mapPartitionsWithIndex((task, in) => Iterator(Utils.serialize(body(task, in))))
      .collect()
      .map(bytes => Utils.deserialize[A](bytes, getClass.getClassLoader))

  /** The chunks of all tasks, end to end; a plan without partitions has none. */
  private def joined(types: Array[DataType], chunks: Array[IndexedSeq[SampleColumn]]): Sample = {
    val none = normalized(Iterator.empty, types)
    Sample(types.indices.map(c => SampleColumn.concat(none(c) +: chunks.map(_(c)).toSeq)))
  }

  /**
   * @param rows
   *   how many the task has, with those that it does not keep
   * @param rowBytes
   *   mean of those that it keeps
   */
  final private case class BoundedChunk(
      columns: IndexedSeq[SampleColumn],
      hashes: Array[Long],
      limit: Long,
      rows: Long,
      rowBytes: Double)

  private def bounded(
      in: Iterator[InternalRow],
      types: Array[DataType],
      task: Int,
      most: SampleBound,
      highest: Long): BoundedChunk = {
    var held = ArrayBuffer.empty[(Long, InternalRow)]
    var bytes = 0L
    var limit = highest
    var place = 0L
    def cut(rows: Int): Unit = {
      limit = held.map(_._1).sorted.apply(rows - 1)
      held = held.filter(_._1 <= limit)
      bytes = held.map(k => bytesOf(k._2)).sum
    }
    in.foreach { row =>
      val hash = mix(place + (task.toLong << 40)) >>> 1
      place += 1
      if (hash <= limit) {
        held += ((hash, row.copy()))
        bytes += bytesOf(row)
        if (held.length > 2L * most.rows) cut(most.rows)
        // a quarter less, so that rows are not sorted for each one that comes
        while (bytes > most.bytes && held.length > 1) cut(math.max(1, held.length / 4 * 3))
      }
    }
    if (held.length > most.rows) cut(most.rows)
    BoundedChunk(
      normalized(held.iterator.map(_._2), types),
      held.map(_._1).toArray,
      limit,
      place,
      bytes.toDouble / math.max(1, held.length))
  }

  /** A plan gives rows of Spark's own format; any other would be bounded by the number of rows alone. */
  private def bytesOf(row: InternalRow): Long = row match {
    case r: UnsafeRow => r.getSizeInBytes.toLong
    case _ => 0L
  }

  /** The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
  private def mix(x: Long): Long = {
    var z = x + 0x9e3779b97f4a7c15L
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }

  final private case class Chunk(columns: IndexedSeq[SampleColumn], routes: Array[Int])

  private def chunk(
      in: Iterator[InternalRow],
      types: Array[DataType],
      task: Int,
      keep: (Int, Int, Long) => Boolean): Chunk = {
    val routes = Array.newBuilder[Int]
    var place = -1L
    val kept = in.filter { row =>
      place += 1
      keep(row.getInt(types.length), task, place)
    }
    val columns = normalized(
      kept.map { row =>
        routes += row.getInt(types.length)
        row
      },
      types)
    Chunk(columns, routes.result())
  }

  /** The first columns of the rows, of these types, normalized. A row is read before the next one is. */
  private def normalized(rows: Iterator[InternalRow], types: Array[DataType]): IndexedSeq[SampleColumn] = {
    val writers = types.map(t => new ColumnWriter(Normalization.of(t).get, Normalization.nan(t)))
    rows.foreach { row =>
      var c = 0
      while (c < types.length) {
        writers(c).add(if (row.isNullAt(c)) null else row.get(c, types(c)))
        c += 1
      }
    }
    writers.map(_.result()).toIndexedSeq
  }

  final private class ColumnWriter(normalizedType: NormalizedType, nan: Option[Long]) {
    private[this] val longs = Array.newBuilder[Long]
    private[this] val bytes = Array.newBuilder[Array[Byte]]
    private[this] val nulls = Array.newBuilder[Boolean]

    def add(value: Any): Unit = {
      nulls += value == null
      normalizedType match {
        case t: NormalizedLongType => longs += (if (value == null) 0L else t.toLong(value))
        case t: NormalizedBytesType =>
          bytes += (if (value == null) Array.emptyByteArray else t.toBytes(value))
      }
    }

    def result(): SampleColumn = normalizedType match {
      case _: NormalizedLongType => LongSample(longs.result(), nulls.result(), nan)
      case _: NormalizedBytesType => BytesSample(bytes.result(), nulls.result())
    }
  }
}

/**
 * How many rows a task has of each number, without those that it has none of: a task sees few files of a table of many.
 *
 * @param numbers
 *   that it has rows of, ascending
 */
final private[clustering] case class CountsByNumber(numbers: Array[Int], counts: Array[Long])

private[clustering] object CountsByNumber {

  /** @param counts of each number from 0 */
  def of(counts: Array[Long]): CountsByNumber = {
    val numbers = counts.indices.filter(counts(_) > 0).toArray
    CountsByNumber(numbers, numbers.map(counts(_)))
  }

  /** Of each number from 0. */
  def sum(tasks: Iterable[CountsByNumber], numbers: Int): Array[Long] = {
    val all = new Array[Long](numbers)
    for (task <- tasks; i <- task.numbers.indices) all(task.numbers(i)) += task.counts(i)
    all
  }
}
