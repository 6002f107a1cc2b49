package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import sparkzorder.curve.prefix.{BitPrefix, KeyBits, VaryingBits}

/**
 * Sorts rows by the bits of their curve key from bit `from` on, of which they share all that come before. The
 * prefix takes the bits that vary among the first rows; a later row that differs in a bit left out widens
 * the prefix to the byte of that bit, and the rows held are inserted anew. Used for one sort.
 *
 * @param finish
 *   puts rows in order that are alike in all bits of the key; None if their order does not matter
 * @param order
 *   the whole order of rows, which short runs are sorted by
 */
final private[sort] class KeySorter(
    keys: RowKeys,
    bits: KeyBits,
    from: Int,
    sorters: Sorters,
    order: java.util.Comparator[UnsafeRow],
    finish: Option[Iterator[UnsafeRow] => Iterator[UnsafeRow]],
    widened: () => Unit) {
  private val words = new Array[Long](bits.words)
  private val varying = new VaryingBits(bits.words)
  private var prefix = BitPrefix.nothing(bits)
  private var fitted = false
  private var held = 0L
  private val computer = new CurrentPrefix
  private var sorter: UnsafeExternalRowSorter = sorters.byPrefix(computer)

  def insert(row: UnsafeRow): Unit = {
    if (!fitted && held == KeySorter.FitRows) fit()
    keys.fill(row, words)
    if (!varying.add(words)) {
      widened()
      refit(varying.widenedBy(words))
      keys.fill(row, words)
      varying.add(words)
    }
    hold(row)
  }

  /** The rows inserted, in the order of their keys as far as the prefix tells it: nothing more is inserted. */
  def heldRows(): Iterator[UnsafeRow] = sorters.sorted(sorter)

  def sorted(): Iterator[UnsafeRow] = {
    if (!fitted) fit()
    val complete = !bits.anyFrom(prefix.end, varying.varying)
    val rows = sorters.sorted(sorter)
    if (complete && finish.isEmpty) rows
    else new Runs(rows, new PrefixBorder, order, if (complete) finish.get else deeper)
  }

  private def deeper(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val next = new KeySorter(keys, bits, prefix.end, sorters, order, finish, widened)
    rows.foreach(next.insert)
    next.sorted()
  }

  private def fit(): Unit = {
    fitted = true
    refit(varying.varying)
  }

  /** Chooses the bits anew and inserts the rows held once more. */
  private def refit(bitsThatVary: Array[Long]): Unit = {
    val rows = sorters.sorted(sorter)
    prefix = BitPrefix.of(bits, from, bitsThatVary)
    varying.expect(prefix)
    sorter = sorters.byPrefix(computer)
    held = 0
    rows.foreach { row =>
      keys.fill(row, words)
      hold(row)
    }
  }

  /** Inserts a row whose words have been filled in. */
  private def hold(row: UnsafeRow): Unit = {
    computer.now.value = prefix(words)
    sorter.insertRow(row)
    held += 1
  }

  /** The prefix of the row that is being inserted, which was computed before. */
  private class CurrentPrefix extends PrefixComputer {
    val now = new PrefixComputer.Prefix
    override def computePrefix(row: InternalRow): PrefixComputer.Prefix = now
  }

  private class PrefixBorder extends RunBorder {
    private var last = 0L
    private var any = false

    override def isBefore(row: UnsafeRow): Boolean = {
      keys.fill(row, words)
      val now = prefix(words)
      val another = !any || now != last
      any = true
      last = now
      another
    }
  }
}

private object KeySorter {

  /** Rows that the varying bits are told from. */
  val FitRows = 4096
}
