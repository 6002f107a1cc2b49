package org.apache.spark.sql.zorder.insight.audit

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.stats.measure.Spacing
import org.apache.spark.sql.zorder.insight.audit.read.AuditedFile
import org.apache.spark.sql.zorder.skipping.index.{ColumnRanges, LongRanges}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.mark.LongTest
import sparkzorder.curve.{Block, Zone}
import sparkzorder.mark.SameOnAllLines

/** How long the audit of a large table takes whose ranges are known. Printed; a busy machine is no failure. */
@LongTest
@SameOnAllLines
class LargeAuditSuite extends AnyFunSuite {
  private val files = 100000
  private val columns = 4

  /** As an index holds it: four columns in boxes of a quarter of the values each. */
  private def ranges(column: Int): ColumnRanges = {
    val random = new java.util.SplittableRandom(column.toLong)
    val lows = Array.fill(files)(random.nextLong(1L << 40))
    new ColumnRanges(
      LongType,
      Array.fill(files)(ColumnRanges.Bounded),
      new Array[Long](files),
      Array.tabulate(files + 1)(i => i),
      LongRanges(lows, lows.map(_ + random.nextLong(1L << 38))))
  }

  test("100,000 files and 4 columns") {
    val index = (0 until columns).map(ranges)
    def found(): Scope = {
      val all = (0 until files).map { f =>
        val zones = index.map(r => Zone.Between(r.bounds.min(f), r.bounds.max(f)))
        AuditedFile(
          DataFile(f"file:/t/part-$f%06d.parquet", 1L << 27, 0L, ""),
          Block(1000000, zones),
          None,
          None,
          encrypted = false)
      }
      Scope.all(all, IndexedSeq.fill(columns)(Spacing.Whole)).head
    }
    val os = java.lang.management.ManagementFactory.getOperatingSystemMXBean
      .asInstanceOf[com.sun.management.OperatingSystemMXBean]
    val before = System.nanoTime()
    val first = found()
    val cold = System.nanoTime()
    val second = found()
    val warm = System.nanoTime()
    val cpu = os.getProcessCpuTime
    val _ = found()
    val third = (os.getProcessCpuTime - cpu) / 1e9
    info(f"100,000 files x 4 columns: ${(cold - before) / 1e9}%.2f s in a cold JVM, ${(warm - cold) / 1e9}%.2f s again, " +
      f"$third%.2f s of processor time")
    assert(first.fileLevel.joint.depths.blocks === files && first.totalExcess === second.totalExcess)
    val depths = first.fileLevel.joint.depths
    // boxes lie by chance: each of 100,000 covers an eighth of each column on average
    assert(depths.average.get > 20 && depths.error > 0.0 && depths.error < 0.1 * depths.average.get)
  }
}
