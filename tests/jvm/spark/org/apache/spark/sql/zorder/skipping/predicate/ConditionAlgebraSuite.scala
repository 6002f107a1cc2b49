package org.apache.spark.sql.zorder.skipping.predicate

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.cost.{Condition, Interval}
import sparkzorder.mark.SameOnAllLines

/** The set algebra of conditions, against the values 0 to 40 one by one. */
@SameOnAllLines
class ConditionAlgebraSuite extends AnyFunSuite {
  private val values = 0L to 40L

  private def holds(c: Condition): Seq[Boolean] =
    c.orNull +: values.map(v => c.intervals.exists(_.meets(NormalizedLong(v), NormalizedLong(v))))

  private def drawn(random: Random): Condition = {
    val ends = Seq.fill(2 * random.nextInt(6))(random.nextInt(40).toLong).distinct.sorted
    val closed =
      ends.grouped(2).map(e =>
        Interval(Some(NormalizedLong(e.head)), Some(NormalizedLong(e.last)))).toIndexedSeq
    val intervals = random.nextInt(4) match {
      case 0 if closed.nonEmpty => closed.updated(0, closed.head.copy(min = None))
      case 1 if closed.nonEmpty => closed.init :+ closed.last.copy(max = None)
      case 2 if closed.isEmpty => IndexedSeq(Interval.All)
      case _ => closed
    }
    Condition(intervals, random.nextBoolean())
  }

  private def ascendsAndIsDisjoint(c: Condition): Boolean =
    c.intervals.zip(c.intervals.drop(1)).forall { case (a, b) =>
      a.max.exists(x => b.min.exists(x < _))
    }

  test("and, or: as for every value; the intervals ascend and are disjoint") {
    val random = new Random(19)
    (1 to 20000).foreach { _ =>
      val (a, b) = (drawn(random), drawn(random))
      val cases = Seq[(Condition, (Boolean, Boolean) => Boolean)](
        ConditionAlgebra.and(a, b) -> (_ && _),
        ConditionAlgebra.or(a, b) -> (_ || _))
      cases.foreach { case (made, truth) =>
        assert(holds(made) === holds(a).zip(holds(b)).map(truth.tupled), s"$a, $b")
        assert(ascendsAndIsDisjoint(made), s"$a, $b")
      }
    }
  }
}
