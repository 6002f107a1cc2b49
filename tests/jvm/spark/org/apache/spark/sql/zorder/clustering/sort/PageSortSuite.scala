package org.apache.spark.sql.zorder.clustering.sort

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BindReferences, SortOrder, UnsafeRow}
import org.apache.spark.sql.execution.{SparkPlan, UnsafeExternalRowSorter}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.zorder.expr.layout.ZOrderKey
import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.curve.page.PageCut

/** A task that cannot order its rows by pages follows the curve alone. It loses no row and does not fail. */
class PageSortSuite extends AnyFunSuite with RunFixture {
  import PageSortSuite._
  private val rows = 6000L

  private lazy val (source: DataFrame, key: ZOrderKey) = withTempDir { dir =>
    val path = dir.resolve("t")
    val all = numbers(rows).selectExpr("id", "a", "b", "if(id % 7 = 0, null, repeat(s, int(id % 9))) s")
      .coalesce(1).localCheckpoint()
    all.write.parquet(path.toString)
    done(zorder(path, "BY (a, b) WITH (fileCount = 1, force = true, pageRowLimit = 500)"))
    val keyed = all.selectExpr(s"zorder_key('path:$path', a, b)").queryExecution.analyzed
    (all, keyed.expressions.flatMap(_.collect { case k: ZOrderKey => k }).head)
  }

  private def sorted(trouble: Trouble = NoTrouble): Sorted = {
    val found = PageSortSuite.sorted(source.queryExecution.executedPlan, key, trouble)
    assert(found.ids.sorted === (0L until rows), trouble)
    // only the curve alone is an order of the keys
    assert((found.keys.sorted === found.keys) === !found.byPages, trouble)
    found
  }

  test("rows are ordered by pages, and along the curve where there is no memory for it") {
    assert(sorted().byPages)
    val firstArrays = 4096L * (8 + 2 * 4)
    for (granted <- Seq(0L, firstArrays, 2 * firstArrays, 2 * firstArrays + rows * 12))
      assert(!sorted(Granted(granted)).byPages)
    assert(!sorted(AllTaken).byPages)
  }

  test("rows that Spark's sorter does not return as they came follow the curve") {
    assert(!sorted(OtherOrder).byPages)
  }

  test("rows whose memory somebody in the task takes, while they are written, come out in the same order") {
    val expected = sorted().ids
    for (after <- Seq(0, 1, 2500, rows.toInt - 1, rows.toInt))
      assert(sorted(TakenAfter(after)) === Sorted(expected, sorted().keys, byPages = true))
  }
}

object PageSortSuite {
  sealed trait Trouble
  case object NoTrouble extends Trouble

  /** The ranks get so many bytes. */
  case class Granted(bytes: Long) extends Trouble

  /** The ranks take all memory, and the first row has none. */
  case object AllTaken extends Trouble

  /** The sorter orders rows otherwise than by their prefixes. */
  case object OtherOrder extends Trouble

  /** Somebody in the task asks for all memory after so many rows, and works with the last one. */
  case class TakenAfter(rows: Int) extends Trouble

  case class Sorted(ids: Seq[Long], keys: Seq[Long], byPages: Boolean)

  /** The first column of the rows and their keys, as one task returns them. */
  private def sorted(child: SparkPlan, key: ZOrderKey, trouble: Trouble): Sorted = {
    val schema = child.schema
    child.execute().mapPartitions { rows =>
      val bound = BindReferences.bindReference(key, child.output)
      val task = TaskContext.get()
      val sorters = new Sorters(child, schema, descending = false, radix = true) {
        override def byPrefix(prefix: PrefixComputer): UnsafeExternalRowSorter =
          super.byPrefix(if (trouble == OtherOrder) new Reversed(prefix) else prefix)
      }
      val sorter = new PageSorter(
        bound,
        PageCut(500, 1e9),
        schema.length,
        sorters,
        new Memory(task.taskMemoryManager(), trouble),
        sorters.sortedBy(Seq(SortOrder(key, Ascending)), _),
        () => task.taskMetrics().memoryBytesSpilled)
      val greedy = new Greedy(task.taskMemoryManager())
      val found = sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]]).zipWithIndex.map { case (row, i) =>
        if (trouble == TakenAfter(i)) greedy.takeAll()
        row.getLong(0) -> bound.eval(row).asInstanceOf[Long]
      }.toVector
      if (trouble == TakenAfter(found.length)) greedy.takeAll()
      greedy.free()
      Iterator(Sorted(found.map(_._1), found.map(_._2), sorter.byPages))
    }.collect().head
  }

  private class Memory(manager: TaskMemoryManager, trouble: Trouble) extends RankMemory(manager) {
    override def acquired(bytes: Long): Boolean = trouble match {
      case Granted(all) => getUsed + bytes <= all && super.acquired(bytes)
      case AllTaken => acquireMemory(Long.MaxValue / 2) > 0
      case _ => super.acquired(bytes)
    }
  }

  private class Greedy(manager: TaskMemoryManager)
      extends MemoryConsumer(manager, manager.pageSizeBytes, MemoryMode.ON_HEAP) {
    override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

    /** Takes pages, too, so that memory which was given back is written to. */
    def takeAll(): Unit = {
      acquireMemory(Long.MaxValue / 2)
      freeMemory(getUsed)
      val page = allocatePage(manager.pageSizeBytes)
      java.util.Arrays.fill(page.getBaseObject.asInstanceOf[Array[Long]], -1L)
      freePage(page)
    }

    def free(): Unit = freeMemory(getUsed)
  }

  private class Reversed(prefix: PrefixComputer) extends PrefixComputer {
    override def computePrefix(row: InternalRow): PrefixComputer.Prefix = {
      val found = prefix.computePrefix(row)
      found.value = ~found.value
      found
    }
  }
}
