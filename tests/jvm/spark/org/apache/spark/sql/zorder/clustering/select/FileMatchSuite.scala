package org.apache.spark.sql.zorder.clustering.select

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.IntegerType
import sparkzorder.LongTest
import sparkzorder.curve.{NormalizedLong, Zone}
import sparkzorder.mark.SameOnAllLines

/** What a condition can be over a file, against what it is on each of the file's rows. */
@SameOnAllLines
class FileMatchSuite extends AnyFunSuite {
  private val columns = Seq("a", "b").map(n => AttributeReference(n, IntegerType)())

  private def value(random: Random): Any =
    if (random.nextInt(4) == 0) null else Integer.valueOf(random.nextInt(5))

  private def literal(random: Random): Literal = Literal.create(value(random), IntegerType)

  private def leaf(random: Random): Expression = {
    val c = columns(random.nextInt(2))
    val v = literal(random)
    val (l, r) = if (random.nextBoolean()) (c, v) else (v, c)
    random.nextInt(11) match {
      case 0 => EqualTo(l, r)
      case 1 => LessThan(l, r)
      case 2 => LessThanOrEqual(l, r)
      case 3 => GreaterThan(l, r)
      case 4 => GreaterThanOrEqual(l, r)
      case 5 => EqualNullSafe(l, r)
      case 6 => IsNull(c)
      case 7 => IsNotNull(c)
      case 8 => In(c, Seq.fill(1 + random.nextInt(3))(literal(random)))
      case 9 => LessThan(columns(0), columns(1))
      case _ => LessThan(Add(c, Literal(1)), v)
    }
  }

  private def condition(random: Random, depth: Int): Expression =
    if (depth == 0) leaf(random)
    else
      random.nextInt(4) match {
        case 0 => Not(condition(random, depth - 1))
        case 1 => Or(condition(random, depth - 1), condition(random, depth - 1))
        case 2 => And(condition(random, depth - 1), condition(random, depth - 1))
        case _ => leaf(random)
      }

  private def bounds(random: Random, values: Seq[Any]): ColumnBounds = {
    val known = values.collect { case i: Integer => i.longValue }
    val zone =
      if (random.nextInt(8) == 0) Zone.Unknown
      else if (known.isEmpty) Zone.OnlyNulls
      else Zone.Between(
        NormalizedLong(known.min - random.nextInt(2)),
        NormalizedLong(known.max + random.nextInt(2)))
    ColumnBounds(zone, mayBeNull = values.contains(null) || random.nextInt(4) == 0)
  }

  test("nothing that happens in a file is ruled out, for random files and conditions")(
    atRandom(6000, seed = 7))

  test("the same for 30,000 of them", LongTest)(atRandom(30000, seed = 8))

  private def atRandom(files: Int, seed: Long): Unit = {
    val random = new Random(seed)
    var inside = 0
    var refuted = 0
    for (_ <- 0 until files) {
      val distinct = 1 + random.nextInt(3)
      val rows = Seq.fill(distinct)(Seq.fill(2)(value(random)))
      val facts = columns.indices.map(c => columns(c).name -> bounds(random, rows.map(_(c)))).toMap
      val where = condition(random, 3)
      val file = new FileMatch(facts.getOrElse(_, ColumnBounds.Unknown))
      val mayMatch = file.mayMatch(where)
      val wholly = file.matchesWholly(where)
      val bound = BindReferences.bindReference(where, AttributeSeq(columns))
      rows.map(r => bound.eval(InternalRow.fromSeq(r))).foreach {
        case true => assert(mayMatch, s"$where $rows")
        case _ => assert(!wholly, s"$where $rows")
      }
      if (mayMatch && wholly) inside += 1
      if (!mayMatch) refuted += 1
    }
    assert(inside > files / 20 && refuted > files / 20, s"$inside $refuted")
  }
}
