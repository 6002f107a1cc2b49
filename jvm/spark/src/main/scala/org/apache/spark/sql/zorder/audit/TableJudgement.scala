package org.apache.spark.sql.zorder.audit

import org.apache.spark.sql.zorder.run.report.HumanReadable.count

/** What is said of the whole table, from what is said of its partitions. */
private[audit] object TableJudgement {

  /** A condition with more partitions is none that people read. */
  private val MostNamed = 20

  /** @return the judgement, and the partitions that its statement is about; none for all */
  def of(name: String, judged: IndexedSeq[(Scope, Judgement)]): (Judgement, Seq[String]) = judged match {
    case IndexedSeq() => (Judgement(Verdict.Ok, s"$name has no rows.", None), Nil)
    case IndexedSeq((_, only)) => (only, Nil)
    case _ =>
      val worst = judged.map(_._2.verdict).minBy(_.severity)
      val same = judged.filter(_._2.verdict == worst)
      if (worst == Verdict.Ok) {
        val index = judged.map(_._2).find(_.cure.isDefined)
        (
          Judgement(Verdict.Ok, s"All of its ${judged.length} partitions are well.", index.flatMap(_.cure)),
          Nil)
      } else {
        val (scope, judgement) = same.maxBy { case (s, _) => (s.totalExcess, s.rows) }
        val most = judged.count(_._1.files.length > 1)
        val all = same.length >= most || same.length > MostNamed
        val reason = s"${count(same.length.toLong, "partition")} of ${judged.length}: the worst is " +
          s"${scope.partition}. ${judgement.reason}"
        (judgement.copy(reason = reason), if (all) Nil else same.map(_._1.partition))
      }
  }
}
