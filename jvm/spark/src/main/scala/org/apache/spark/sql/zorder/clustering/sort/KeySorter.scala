package org.apache.spark.sql.zorder.clustering.sort

import java.util.Comparator

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import sparkzorder.curve.prefix.{BitPrefix, KeyBits, VaryingBits}

/**
 * Sorts rows by their curve key from bit `from` on; they share all bits before it. The prefix consists of the
 * bits that vary among the first rows. If a later row differs in another bit, the prefix is widened to the
 * byte of that bit, and all rows are inserted again. Used for one sort.
 *
 * @param finish
 *   sorts rows that have equal keys; None if their order does not matter
 * @param order
 *   the complete order of rows, used to sort short runs
 */
final private[sort] class KeySorter(
    keys: RowKeys,
    bits: KeyBits,
    from: Int,
    sorters: Sorters,
    order: Comparator[UnsafeRow],
    finish: Option[Iterator[UnsafeRow] => Iterator[UnsafeRow]],
    widened: () => Unit) {
  private val words = new Array[Long](bits.words)
  private val varying = new VaryingBits(bits.words)
  private var prefix = BitPrefix.nothing(bits)
  private var fitted = false
  private var held = 0L
  private val computer = new NextPrefix
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

  /** The inserted rows in the order of their key prefixes. Nothing can be inserted afterwards. */
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

  /** Chooses the bits again and inserts all rows again. */
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
    computer.set(prefix(words))
    sorter.insertRow(row)
    held += 1
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

  /** The number of first rows from which the varying bits are chosen. */
  val FitRows = 4096
}
