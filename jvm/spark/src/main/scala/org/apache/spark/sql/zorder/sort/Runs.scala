package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Tells where runs begin in rows that are sorted by something coarser than the whole order. */
private[sort] trait RunBorder {

  /** Whether a row begins a run, because the row before was another or there was none. Asked once a row. */
  def isBefore(row: UnsafeRow): Boolean
}

/**
 * Puts the rows of each run in order. Short runs are sorted in a small buffer; of a long one, `sortLong` gets
 * all rows and must read them before it gives the first one back.
 */
final private[sort] class Runs(
    rows: Iterator[UnsafeRow],
    border: RunBorder,
    order: java.util.Comparator[UnsafeRow],
    sortLong: Iterator[UnsafeRow] => Iterator[UnsafeRow])
    extends Iterator[UnsafeRow] {
  // a row read beyond the end of its run waits in the other buffer
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

  /** Ends where the run does, and keeps the row behind it. */
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
