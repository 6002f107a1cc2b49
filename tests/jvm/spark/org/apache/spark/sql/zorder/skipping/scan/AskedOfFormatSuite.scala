package org.apache.spark.sql.zorder.skipping.scan

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.skipping.predicate.{AlwaysTrue, JoinKeys, KeyValues, TopRows}
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.mark.SameOnAllLines

/** Which filters cost a look at statistics: none that formats use as well as we do. */
@SameOnAllLines
class AskedOfFormatSuite extends AnyFunSuite {
  private val (a, b) = (AttributeReference("a", LongType)(), AttributeReference("b", LongType)())
  private val s = AttributeReference("s", StringType)()
  private val struct = AttributeReference("st", new StructType().add("x", LongType))()
  private val x = GetStructField(struct, 0)
  private val text = Literal(UTF8String.fromString("k"), StringType)

  private def list(values: Int): Expression = In(a, (0 until values).map(n => Literal(n.toLong)))
  private def set(values: Int): Expression = InSet(a, (0 until values).map(_.toLong).toSet[Any])

  private val ofOne = new AskedOfFormat(mostListed = 1)

  test("plain comparisons, NULLs and texts' heads are the format's own") {
    Seq(
      EqualTo(a, Literal(1L)),
      EqualNullSafe(Literal(1L), a),
      GreaterThan(x, Literal(1L)),
      LessThan(a, Add(Literal(1L), Literal(2L))),
      LessThan(a, b),
      IsNull(a),
      Not(IsNotNull(s)),
      StartsWith(s, text),
      And(GreaterThanOrEqual(a, Literal(1L)), Or(EqualTo(b, Literal(2L)), IsNull(s)))
    ).foreach(f => assert(!ofOne.isWorth(f), f))
  }

  test("lists of more values than the format looks up one by one are ours, wherever they stand") {
    assert(!ofOne.isWorth(list(1)) && ofOne.isWorth(list(2)) && ofOne.isWorth(set(2)))
    assert(ofOne.isWorth(Not(list(2))) && ofOne.isWorth(Or(EqualTo(b, Literal(2L)), set(3))))
    val of200 = new AskedOfFormat(mostListed = 200)
    assert(!of200.isWorth(list(200)) && of200.isWorth(list(201)))
    assert(!of200.isWorth(set(200)) && of200.isWorth(set(201)))
  }

  test("functions and casts of columns are ours if they keep the order, and others are nobody's") {
    val cast = LessThan(Cast(a, DoubleType), Literal(1.0))
    val day =
      EqualTo(Literal(19000), Cast(AttributeReference("t", TimestampNTZType)(), DateType, Some("UTC")))
    Seq(cast, day, And(EqualTo(a, Literal(1L)), cast)).foreach(f => assert(ofOne.isWorth(f), f))
    Seq(
      EqualTo(Lower(s), text),
      GreaterThan(Literal(2L), Add(a, Literal(1L))),
      LessThan(Cast(a, DoubleType), Cast(b, DoubleType)),
      In(Lower(s), Seq(text, Literal.create(null, StringType))),
      And(EqualTo(a, Literal(1L)), EqualTo(Lower(s), text))
    ).foreach(f => assert(!ofOne.isWorth(f), f))
  }

  test("comparisons in an OR of which the format knows not all are ours") {
    def part(n: Long) = And(EqualTo(a, Literal(n)), EqualTo(Lower(s), text))
    assert(ofOne.isWorth(Or(part(1), part(2))))
    assert(!ofOne.isWorth(Or(EqualTo(a, Literal(1L)), EqualTo(b, Literal(2L)))))
    assert(!ofOne.isWorth(Or(EqualTo(Lower(s), text), EqualTo(Upper(s), text))))
  }

  test("first rows and keys of a join are ours as long as they are of this scan's columns") {
    val order = SortOrder(a, Ascending)
    assert(ofOne.isWorth(TopRows(order, a, 10L, Nil)))
    assert(!ofOne.isWorth(TopRows(
      column = a,
      ascending = true,
      nullsFirst = true,
      rows = 10L,
      conditions = Nil,
      columns = 1)))
    // Spark has put a constant for a column: of rows that pass the filter, but not of files
    val top = TopRows(order, a, 10L, Seq(EqualTo(a, Literal(5L))))
    assert(ofOne.isWorth(top) && !ofOne.isWorth(top.withNewChildren(Seq(
      top.column,
      EqualTo(Literal(5L), Literal(5L))))))
    val keys = KeyValues(Set(1L, 2L))
    assert(ofOne.isWorth(JoinKeys(AlwaysTrue.signed(a), keys)))
    assert(!ofOne.isWorth(JoinKeys(a, keys)))
    // one key is as good as a list
    assert(ofOne.isWorth(JoinKeys(AlwaysTrue.signed(a), KeyValues(Set(1L)))))
  }
}
