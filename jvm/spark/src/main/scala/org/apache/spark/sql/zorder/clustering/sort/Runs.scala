package org.apache.spark.sql.zorder.clustering.sort

import java.util.{Arrays, Comparator}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Finds the runs in rows that are sorted by a coarser order: a run is equal by that order. */
private[sort] trait RunBorder {

  /** Whether a row begins a run. Called once for each row. */
  def isBefore(row: UnsafeRow): Boolean
}

/**
 * Sorts the rows of each run. Short runs are sorted in a small buffer; a long one goes to `sortLong`, which
 * must read all its rows before it returns the first one.
 */
final private[sort] class Runs(
    rows: Iterator[UnsafeRow],
    border: RunBorder,
    order: Comparator[UnsafeRow],
    sortLong: Iterator[UnsafeRow] => Iterator[UnsafeRow])
    extends Iterator[UnsafeRow] {
  // a row that begins the next run waits in the other buffer
  private var run = new RunBuffer
  private var beyond = new RunBuffer
  private var long: Iterator[UnsafeRow] = Iterator.empty
  private var at = 0

  if (rows.hasNext) startBeyond(rows.next())

  private def startBeyond(row: UnsafeRow): Boolean = {
    val starts = border.isBefore(row)
    if (starts) beyond.start(row)
    starts
  }

  override def hasNext: Boolean = at < run.length || long.hasNext || beyond.length > 0

  override def next(): UnsafeRow = {
    if (at >= run.length && !long.hasNext) advance()
    if (at < run.length) {
      at += 1
      run(at - 1)
    } else long.next()
  }

  private def advance(): Unit = {
    val free = run
    run = beyond
    beyond = free
    beyond.clear()
    at = 0
    while (rows.hasNext) {
      val row = rows.next()
      if (startBeyond(row)) {
        run.sort(order)
        return
      }
      if (!run.add(row)) {
        long = sortLong(run.iterator ++ Iterator.single(row) ++ new RestOfRun)
        run.clear()
        return
      }
    }
    run.sort(order)
  }

  /** The rows of the run; keeps the first row of the next run. */
  private class RestOfRun extends Iterator[UnsafeRow] {
    private var held: UnsafeRow = _
    private var ended = false

    override def hasNext: Boolean = {
      if (held == null && !ended) {
        if (!rows.hasNext) ended = true
        else {
          val row = rows.next()
          ended = startBeyond(row)
          if (!ended) held = row
        }
      }
      held != null
    }

    override def next(): UnsafeRow = {
      if (!hasNext) throw new NoSuchElementException("the run has ended")
      val row = held
      held = null
      row
    }
  }
}

/** Copies of a few rows in memory that is reused; `Rows` and `Bytes` below limit it. */
final private class RunBuffer {
  private val rows = new Array[UnsafeRow](RunBuffer.Rows)
  private var bytes = new Array[Byte](RunBuffer.FirstBytes)
  private var used = 0
  private var count = 0

  def length: Int = count

  /** Row `i`, valid until the buffer is cleared. */
  def apply(i: Int): UnsafeRow = rows(i)

  def iterator: Iterator[UnsafeRow] = Iterator.range(0, count).map(apply)

  def clear(): Unit = {
    used = 0
    count = 0
  }

  /** Clears the buffer and adds a row of any size. */
  def start(row: UnsafeRow): Unit = {
    clear()
    if (!add(row)) {
      rows(0) = row.copy()
      count = 1
    }
  }

  /** Copies a row to the end; false if there is no room. */
  def add(row: UnsafeRow): Boolean = {
    val size = row.getSizeInBytes
    // a sum may be more than an Int holds
    if (count == RunBuffer.Rows || size > RunBuffer.Bytes - used) false
    else {
      if (used + size > bytes.length) grow(used + size)
      row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + used.toLong)
      if (rows(count) == null || rows(count).numFields != row.numFields)
        rows(count) = new UnsafeRow(row.numFields)
      rows(count).pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + used.toLong, size)
      used += size
      count += 1
      true
    }
  }

  private def grow(atLeast: Int): Unit = {
    val larger = Arrays.copyOf(bytes, math.min(RunBuffer.Bytes, math.max(atLeast, 2 * bytes.length)))
    var i = 0
    while (i < count) {
      if (rows(i).getBaseObject eq bytes)
        rows(i).pointTo(larger, rows(i).getBaseOffset, rows(i).getSizeInBytes)
      i += 1
    }
    bytes = larger
  }

  /** Sorts the rows; the sort is stable. */
  def sort(order: Comparator[UnsafeRow]): Unit = if (count > 1) Arrays.sort(rows, 0, count, order)
}

private object RunBuffer {

  /** A longer run needs its own sorter, which takes a page of memory and time to set up. */
  val Rows = 1024
  val Bytes: Int = 1 << 20
  val FirstBytes: Int = 1 << 12
}
