package org.apache.spark.sql.zorder.skipping.scan

import java.util.UUID
import java.util.concurrent.{Callable, Executors}

import scala.collection.JavaConverters._
import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.index.{FileColumn, IndexedColumn, StatisticsIndex}
import sparkzorder.curve.NormalizedValue
import sparkzorder.mark.SameOnAllLines

/** What is read of a snapshot's bounds, and when, and what becomes of bounds that are missing. */
@SameOnAllLines
class SnapshotStatisticsSuite extends AnyFunSuite {

  /** Three files: of a, file n has 10 n to 10 n + 9, of b the negatives, of c as of a. */
  private class Source(order: Seq[Int] => Seq[Int] = identity) extends BoundsSource {
    val reads: mutable.ArrayBuffer[Seq[String]] = mutable.ArrayBuffer.empty

    override val columns: IndexedSeq[IndexedColumn] =
      IndexedSeq("a", "b", "c").map(c => IndexedColumn(c, Seq(c), LongType, absentIsNull = true))

    override val files: Option[Long] = Some(3L)

    override def read(asked: IndexedSeq[IndexedColumn]): IndexedSeq[FileBounds] = {
      synchronized { reads += asked.map(_.sql) }
      order(0 until 3).map { f =>
        FileBounds(s"f$f", 7L, 0L, 100L, asked.map(c => Source.bounds(c.sql, f)))
      }.toIndexedSeq
    }
  }

  private object Source {
    private val normalize: Any => NormalizedValue = Normalization.of(LongType).get.normalize

    def bounds(column: String, file: Int): FileColumn = {
      val (low, high) = (10L * file, 10L * file + 9)
      if (column == "b") FileColumn.between(normalize(-high), normalize(-low), 0L)
      else FileColumn.between(normalize(low), normalize(high), 0L)
    }
  }

  private def statistics(
      source: Source,
      caseSensitive: Boolean = false,
      fits: Long => Boolean = _ => true,
      admit: Long => Boolean = _ => true): SnapshotStatistics =
    new SnapshotStatistics(source.columns, caseSensitive, fits, admit)

  private def is(column: String, value: Long): Expression =
    EqualTo(AttributeReference(column, LongType)(), Literal(value))

  /** The paths of the files that may meet the filters. */
  private def matching(index: StatisticsIndex, filters: Expression*): Set[String] = {
    val found = new FilesThatMayMatch(index, _ => false)(filters)
    (0 until index.files.count).filter(found.get(_)).map(index.files.paths(_)).toSet
  }

  test("the columns of a question are read together, and never again") {
    val source = new Source
    val known = statistics(source)
    val both = Seq(is("a", 15), is("b", -15))
    assert(matching(known.index(both, source).get, both: _*) === Set("f1"))
    assert(source.reads === Seq(Seq("a", "b")))
    assert(matching(known.index(both.take(1), source).get, both.head) === Set("f1"))
    assert(source.reads.length === 1)
    assert(matching(known.index(Seq(is("b", -3), is("c", 3)), source).get, is("c", 3)) === Set("f0"))
    assert(source.reads === Seq(Seq("a", "b"), Seq("c")))
  }

  test("nothing is read for expressions that name no column of which bounds are known") {
    val source = new Source
    val known = statistics(source)
    assert(known.index(Seq(is("other", 1), Literal.TrueLiteral), source).isEmpty)
    assert(known.index(Nil, source).isEmpty && source.reads.isEmpty)
    assert(known.index(Seq(is("other", 1), is("a", 1)), source).isDefined)
  }

  test("names are those of the session that asks") {
    val source = new Source
    assert(statistics(source).index(Seq(is("A", 1)), source).isDefined)
    assert(statistics(source, caseSensitive = true).index(Seq(is("A", 1)), source).isEmpty)
  }

  test("a column that a question did not name is read when the filter asks for it") {
    val source = new Source
    val index = statistics(source).index(Seq(is("a", 15)), source).get
    assert(matching(index, is("a", 15), is("c", 25)).isEmpty)
    assert(source.reads === Seq(Seq("a"), Seq("c")))
  }

  test("a column that does not fit tells nothing, and is not read again") {
    val source = new Source
    var calls = 0
    val known = statistics(
      source,
      admit = bytes => {
        calls += 1
        // the list of files, and one column
        bytes > 0 && calls <= 2
      })
    val filters = Seq(is("a", 15), is("b", -15))
    (0 until 2).foreach { _ =>
      val index = known.index(filters, source).get
      assert(index.rangesOf("b", LongType).isEmpty)
      assert(matching(index, is("b", -15)) === Set("f0", "f1", "f2"))
      assert(matching(index, filters: _*) === Set("f1"))
    }
    assert(source.reads === Seq(Seq("a", "b")) && calls === 3)
  }

  test("a list of files that does not fit tells nothing, and is not read again") {
    val source = new Source
    val known = statistics(source, admit = _ => false)
    (0 until 2).foreach(_ => assert(known.index(Seq(is("a", 15)), source).isEmpty))
    assert(source.reads === Seq(Seq("a")))
  }

  test("files whose list surely does not fit are not read at all") {
    val source = new Source
    // three files, of about 67 characters each
    val known = statistics(source, fits = _ < 3 * (3 * 67 + 4 * 8))
    assert(known.index(Seq(is("a", 15)), source).isEmpty && source.reads.isEmpty)
  }

  test("a later read may have the files in another order") {
    var times = 0
    val source = new Source(order = files => {
      times += 1
      if (times == 1) files else files.reverse
    })
    val known = statistics(source)
    known.index(Seq(is("a", 15)), source)
    val index = known.index(Seq(is("c", 25)), source).get
    assert(matching(index, is("c", 25)) === Set("f2") && matching(index, is("a", 5)) === Set("f0"))
  }

  test("a file that a later read has not got, or has anew, is unknown or left aside") {
    var times = 0
    val source = new Source(order = files => {
      times += 1
      if (times == 1) files.take(2) else files.drop(1)
    })
    val known = statistics(source)
    known.index(Seq(is("a", 15)), source)
    val index = known.index(Seq(is("c", 15)), source).get
    assert(index.files.count === 2)
    // of f0 nothing is known
    assert(matching(index, is("c", 15)) === Set("f0", "f1"))
    assert(matching(index, is("c", 25)) === Set("f0"))
    assert(matching(index, is("a", 15)) === Set("f1"))
  }

  test("threads that ask at once read each column once") {
    val source = new Source
    val known = statistics(source)
    val threads = Executors.newFixedThreadPool(8)
    try {
      val questions = (0 until 64).map { n =>
        val column = Seq("a", "b", "c")(n % 3)
        val filter = is(column, if (column == "b") -15L else 15L)
        new Callable[Set[String]] {
          override def call(): Set[String] = matching(known.index(Seq(filter), source).get, filter)
        }
      }
      val answers = threads.invokeAll(questions.asJava).asScala.map(_.get)
      assert(answers.toSet === Set(Set("f1")))
      assert(source.reads.flatten.sorted.toSeq === Seq("a", "b", "c"))
    } finally threads.shutdown()
  }

  test("snapshots are kept apart, and go when there is no room for them") {
    val session = new SQLConf
    val source = new Source
    val table = s"snapshot-statistics-${UUID.randomUUID()}"
    def of(snapshot: String): SnapshotStatistics = SnapshotStatistics.of(
      SnapshotStatistics.Key(table, snapshot, caseSensitive = false),
      source.columns,
      session)
    val first = of("1")
    assert((of("1") eq first) && !(of("2") eq first))
    first.index(Seq(is("a", 15)), source)
    first.index(Seq(is("a", 15)), source)
    assert(source.reads.length === 1)
    session.setConfString("spark.zorder.skipping.maxMemory", "1")
    of("2")
    session.unsetConf("spark.zorder.skipping.maxMemory")
    assert(!(of("1") eq first))
  }
}
