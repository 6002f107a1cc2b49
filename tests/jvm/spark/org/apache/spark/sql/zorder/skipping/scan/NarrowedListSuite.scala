package org.apache.spark.sql.zorder.skipping.scan

import java.io.IOException
import java.util.UUID

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.SkippedScans
import org.apache.spark.sql.zorder.skipping.index.{FileColumn, IndexedColumn}
import org.apache.spark.sql.zorder.skipping.predicate.TopRows
import sparkzorder.curve.NormalizedValue
import sparkzorder.mark.SameOnAllLines

/** What is left of a list of files, where it is not the list of the snapshot. */
@SameOnAllLines
class NarrowedListSuite extends AnyFunSuite {
  private val normalize: Any => NormalizedValue = Normalization.of(LongType).get.normalize
  private val a = AttributeReference("a", LongType)()

  /** Three files of a hundred rows: of a, file n has 10 n to 10 n + 9. */
  private object Source extends BoundsSource {
    override val columns: IndexedSeq[IndexedColumn] =
      IndexedSeq(IndexedColumn("a", Seq("a"), LongType, absentIsNull = true))

    override val files: Option[Long] = Some(3L)

    override def read(asked: IndexedSeq[IndexedColumn]): IndexedSeq[FileBounds] = (0 until 3).map { f =>
      val range = FileColumn.between(normalize(10L * f), normalize(10L * f + 9), 0L)
      FileBounds(s"f$f", 7L, 0L, 100L, asked.map(_ => range))
    }
  }

  private def list(): NarrowedList = {
    val known = new SnapshotStatistics(Source.columns, caseSensitive = false, _ => true, _ => true)
    val root = new Path(s"file:/narrowed-list-${UUID.randomUUID()}")
    new NarrowedList(root, new AskedOfFormat(mostListed = 1), _ => false, known.index(_, Source), None)
  }

  private def file(path: String, length: Long = 7L): FileIdentity = FileIdentity(path, length, 0L)

  private def narrowed(files: Seq[FileIdentity], filters: Expression*): Seq[FileIdentity] =
    list().narrow(filters, files)(f => f)

  private val some: Expression = In(a, Seq(Literal(3L), Literal(25L)))

  private def last(rows: Long): Expression = TopRows(SortOrder(a, Descending), a, rows, Nil)

  private val all = Seq("f0", "f1", "f2").map(file(_))

  test("files whose bounds meet the filters are left, in the order of the list") {
    assert(narrowed(all, some) === Seq(file("f0"), file("f2")))
    assert(narrowed(all.reverse, some) === Seq(file("f2"), file("f0")))
    assert(narrowed(all, some, last(100)) === Seq(file("f2")))
  }

  test("a file that the snapshot does not have, or has in another shape, is left") {
    val others = Seq(file("f9"), file("f1", length = 8L))
    assert(narrowed(all ++ others, some) === Seq(file("f0"), file("f2")) ++ others)
    assert(narrowed(all ++ others, last(100)) === file("f2") +: others)
  }

  test("only files of the list hold rows of an order") {
    assert(narrowed(all.take(2), last(100)) === Seq(file("f1")))
    assert(narrowed(all.take(2) :+ file("f2", length = 8L), last(101)) === all.take(2) :+ file("f2", 8L))
  }

  test("what was skipped is counted of the tables that were read last") {
    (0 to 10000).foreach(n =>
      SkippingUsage.scanned(new Path(s"file:/usage-$n"), Nil, SkippedCounts(1L, 0L, 0L, 0L)))
    val tables = SkippingUsage.all.map(_.table).toSet
    assert(tables.size === 10000 && !tables("file:/usage-0") && tables("file:/usage-10000"))
  }

  test("a job that is cancelled while statistics are read ends the query") {
    val cancelled = new SparkException("Job 1 cancelled part of cancelled job group g")
    def read: Nothing = throw new RuntimeException(cancelled)
    val narrowing = new NarrowedList(new Path("file:/t"), new AskedOfFormat(1), _ => false, _ => read, None)
    assert(intercept[RuntimeException](narrowing.narrow(Seq(some), all)(f => f)).getCause eq cancelled)
  }

  test("statistics that cannot be read narrow nothing, and are asked for once") {
    var asked = 0
    def gone: Nothing = {
      asked += 1
      throw new IOException("expired")
    }
    val narrowing = new NarrowedList(new Path("file:/t"), new AskedOfFormat(1), _ => false, _ => gone, gone)
    assert(narrowing.narrow(Seq(some), all)(f => f) eq all)
    assert(!narrowing.mayAnswer(a) && !narrowing.leavesOut(some))
    assert(narrowing.bytes(Seq(some)) === Long.MaxValue)
    assert(asked === 1)
  }

  test("filters that the format uses itself leave the list as it is, and are not counted") {
    val narrowing = list()
    assert(narrowing.narrow(Seq(EqualTo(a, Literal(3L))), all)(f => f) eq all)
    assert(SkippedScans.usage.find(_.table == narrowing.root.toString).isEmpty)
    narrowing.narrow(Seq(some), all :+ file("f9"))(f => f)
    val usage = SkippedScans.usage.find(_.table == narrowing.root.toString).get
    assert(usage.considered === 4 && usage.pruned === 1 && usage.unknown === 1)
  }
}
