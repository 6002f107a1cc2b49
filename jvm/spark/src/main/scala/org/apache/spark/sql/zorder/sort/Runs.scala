package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Finds the runs in rows that are sorted by a coarser order: a run is equal by that order. */
private[sort] trait RunBorder {

  /** Whether a row begins a run. Called once for each row. */
  def isBefore(row: UnsafeRow): Boolean
}

/**
 * Sorts the rows of each run. Short runs are sorted in a small buffer; a long one goes to `sortLong`, which must
 * read all its rows before it returns the first one.
 */
final private[sort] class Runs(
    rows: Iterator[UnsafeRow],
    border: RunBorder,
    order: java.util.Comparator[UnsafeRow],
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
