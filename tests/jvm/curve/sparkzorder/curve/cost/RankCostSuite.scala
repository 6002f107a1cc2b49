package sparkzorder.curve.cost

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{Block, NormalizedLong, Zone}
import sparkzorder.curve.layout.{Scale, ScaleBuilder}

/** The cost in ranks against the cost in values. */
class RankCostSuite extends AnyFunSuite {
  private val Values = 50
  private val random = new java.util.SplittableRandom(11)

  /** Every value is a point, so that ranks and values tell the same. */
  private val scale: Scale = ScaleBuilder.ofLongs(Array.tabulate(Values)(_ * 3L), 0)
  private val scales = IndexedSeq.fill(3)(scale)

  private def condition(): Condition = {
    def interval() = {
      val low = random.nextInt(Values + 4) * 3L - 3
      val high = low + random.nextInt(20)
      random.nextInt(6) match {
        case 0 => Interval(None, Some(NormalizedLong(high)))
        case 1 => Interval(Some(NormalizedLong(low)), None)
        case 2 => Interval(Some(NormalizedLong(high)), Some(NormalizedLong(low)))
        case _ => Interval(Some(NormalizedLong(low)), Some(NormalizedLong(high)))
      }
    }
    Condition(IndexedSeq.fill(random.nextInt(4))(interval()), random.nextInt(4) == 0)
  }

  private def query(): Query = {
    def conjunction() = Conjunction((0 until 3).filter(_ => random.nextBoolean()).map(_ -> condition()).toMap)
    Query(IndexedSeq.fill(random.nextInt(4))(conjunction()), random.nextDouble())
  }

  private def table(rows: Int): Array[Array[Option[Long]]] =
    Array.fill(3, rows)(if (random.nextInt(5) == 0) None else Some(random.nextInt(Values) * 3L))

  private def ranked(values: Array[Array[Option[Long]]]) =
    values.map(_.map(_.fold(0)(v => scale.rank(NormalizedLong(v)))))

  private def matches(condition: Condition, value: Option[Long]): Boolean = value match {
    case None => condition.orNull
    case Some(v) => condition.intervals.exists(_.meets(NormalizedLong(v), NormalizedLong(v)))
  }

  test("blocks in ranks read what blocks in words do") {
    for (_ <- 0 until 60) {
      val rows = 1 + random.nextInt(80)
      val values = table(rows)
      val starts = (Seq(0, rows) ++ Seq.fill(6)(random.nextInt(rows))).distinct.sorted.toArray
      val order = Array.range(0, rows).reverse
      val blocks = starts.sliding(2).toSeq.map { s =>
        val inside = order.slice(s(0), s(1))
        val zones = values.map { v =>
          val some = inside.flatMap(v(_))
          if (some.isEmpty) Zone.OnlyNulls
          else Zone.Between(NormalizedLong(some.min), NormalizedLong(some.max))
        }
        Block(
          s(1) - s(0),
          zones.toIndexedSeq,
          (0 until 3).filter(c => inside.forall(values(c)(_).nonEmpty)).toSet)
      }
      // a condition with an interval that is the wrong way round may read more in values, which do not look
      val queries = Seq.fill(20)(query()).map(straight)
      val inRanks = RankBlocks.of(ranked(values), order, starts)
      val shares = inRanks.shares(RankQueries.of(queries, scales))
      queries.indices.foreach(q =>
        assert(math.abs(shares(q) - QueryCost.share(blocks, queries(q))) < 1e-12, queries(q)))
      val mean = inRanks.share(RankQueries.of(queries, scales))
      assert(math.abs(mean - QueryCost.mean(blocks, queries)) < 1e-12)
    }
  }

  private def straight(q: Query): Query =
    q.copy(conjunctions = q.conjunctions.map(b =>
      Conjunction(b.conditions.map { case (c, k) =>
        c -> k.copy(intervals = k.intervals.filter(i => i.min.forall(m => i.max.forall(m <= _))))
      })))

  test("selectivity is the share of the rows that match") {
    val values = table(500)
    val queries = Seq.fill(40)(straight(query()))
    val found = RankQueries.of(queries, scales).selectivities(ranked(values))
    queries.indices.foreach { q =>
      val n = (0 until 500).count(i =>
        queries(q).conjunctions.exists(_.conditions.forall { case (c, k) => matches(k, values(c)(i)) }))
      assert(math.abs(found(q) - n / 500.0) < 1e-12)
    }
  }

  test("an interval that is the wrong way round holds nothing in ranks") {
    val reversed =
      Condition(IndexedSeq(Interval(Some(NormalizedLong(90)), Some(NormalizedLong(30)))), orNull = false)
    val blocks = RankBlocks.of(ranked(Array(Array(Some(0L), Some(140L)))), Array(0, 1), Array(0, 2))
    assert(blocks.share(RankQueries.of(Seq(Query.of(0 -> reversed)), scales.take(1))) == 0.0)
  }

  test("400 queries over four columns of 8,192 blocks, all columns asked: exact counts") {
    val blocks = RankBlocks.of(
      Array.fill(4)(Array.tabulate(8192)(i => (i + 1) << 10)),
      Array.range(0, 8192),
      Array.range(0, 8193))
    val conjunction = new RankRanges(
      Array(0, 1, 2, 3),
      Array.fill(4)(Array(1 << 10)),
      Array.fill(4)(Array(100 << 10)),
      new Array[Boolean](4))
    val queries = new RankQueries(Array.fill(400)(Array(conjunction)), Array.fill(400)(1.0))
    assert(math.abs(blocks.share(queries) - 100.0 / 8192) < 1e-12)
  }
}
