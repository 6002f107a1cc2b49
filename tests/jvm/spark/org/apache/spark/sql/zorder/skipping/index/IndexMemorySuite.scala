package org.apache.spark.sql.zorder.skipping.index

import java.nio.file.Path

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.skipping.SkippedScans
import sparkzorder.Steps
import sparkzorder.mark.SameOnAllLines

/** What loaded indexes may take of the driver's memory. */
@SameOnAllLines
class IndexMemorySuite extends AnyFunSuite with SkippedScans with Steps {
  private val key = "spark.zorder.skipping.maxMemory"

  test("those that were asked for longest ago go first, and nobody exceeds the limit") {
    val gone = mutable.ArrayBuffer.empty[String]
    val memory = new IndexMemory[String](gone += _)
    def ask(name: String, most: Long = 100): Unit = memory.asked(name, most)
    def opened(name: String): memory.Account = {
      val account = memory.open(name)
      memory.hold(name, account)(())
      account
    }
    ask("a")
    val a = opened("a")
    assert(a.admit(40))
    ask("b")
    val b = opened("b")
    assert(b.admit(40) && memory.total === 80)
    ask("a")
    ask("c")
    val c = opened("c")
    assert(c.admit(50))
    assert(gone === Seq("b") && memory.total === 90)
    // alone it would be too large: the others stay
    assert(!c.admit(51) && gone === Seq("b") && memory.total === 90)
    // an entry that is evicted while in use is harmless
    assert(b.admit(60) && memory.total === 90)
    assert(c.admit(50) && gone === Seq("b", "a") && memory.total === 100)
    // loaded anew, it is counted anew
    assert(opened("c").admit(10) && memory.total === 10)
    ask("d", most = 5)
    assert(gone === Seq("b", "a", "c") && memory.total === 0)
  }

  test("places without an index are not remembered for ever") {
    val gone = mutable.ArrayBuffer.empty[Int]
    val memory = new IndexMemory[Int](gone += _)
    (1 to 10100).foreach { name =>
      memory.asked(name, 100)
      memory.hold(name, memory.open(name))(())
      memory.asked(1, 100)
    }
    // the first is asked for again and again
    assert(gone === (2 to 101))
  }

  private def table(path: Path): Unit = {
    spark.range(0, 1000, 1, 10).selectExpr("id", "concat('k', lpad(cast(id as string), 20, '0')) s")
      .write.parquet(path.toString)
    val _ = index(path)
  }

  /** Nothing is in memory then. */
  private def emptied(path: Path): Unit = withConf(key -> "1") {
    spark.read.parquet(path.toString).where("id = 1").collect()
    assert(LoadedIndexes.bytes === 0)
  }

  test("what queries load keeps to the limit, and is loaded again when there is room") {
    withTempDir { dir =>
      val (one, other) = (dir.resolve("one"), dir.resolve("other"))
      Seq(one, other).foreach(table)
      def opened(path: Path, where: String): Long = opens(spark.read.parquet(path.toString).where(where))
      emptied(one)
      step("without room nothing is skipped")(
        withConf(key -> "1")(assert(opened(one, "id = 17") === 10)))
      val (filesAndIds, all) = step("columns are loaded as they are asked for") {
        assert(opened(one, "id = 17") === 1)
        val filesAndIds = LoadedIndexes.bytes
        assert(opened(one, "s = 'k00000000000000000017'") === 1)
        val all = LoadedIndexes.bytes
        assert(filesAndIds > 0 && all > filesAndIds)
        (filesAndIds, all)
      }
      emptied(one)
      withConf(key -> s"$filesAndIds") {
        step("a column beyond the limit skips nothing, and the others do") {
          assert(opened(one, "id = 17") === 1)
          assert(opened(one, "s = 'k00000000000000000017'") === 10)
          assert(opened(one, "s = 'k00000000000000000017' AND id < 200") === 2)
          assert(LoadedIndexes.bytes === filesAndIds)
        }
        step("tables take each other's place") {
          assert(opened(other, "id = 17") === 1)
          assert(LoadedIndexes.bytes === filesAndIds)
          assert(opened(one, "id = 17") === 1)
        }
      }
      step("all is loaded when there is room again") {
        assert(opened(one, "s = 'k00000000000000000017'") === 1)
        assert(opened(other, "s = 'k00000000000000000017'") === 1)
        assert(LoadedIndexes.bytes > all)
      }
    }
  }
}
