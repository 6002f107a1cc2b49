package org.apache.spark.sql.zorder.workload.predicate

import java.time.{Instant, ZoneId}

/**
 * When the clocks of a zone go back, and local times come a second time.
 *
 * @param exact
 *   whether equal local times have equal results; otherwise a result depends on which of two equal times is meant
 */
final private[predicate] case class ClockChanges(zone: ZoneId, exact: Boolean) {
  private val rules = zone.getRules

  /**
   * How far, in microseconds, the order of local times near a moment may differ from that of time itself: by no more
   * than clocks go back in all within some days, beyond which no two offsets can make up for the distance.
   */
  def disorder(micros: Long): Long =
    if (rules.isFixedOffset) 0L
    else {
      val until = at(micros + ClockChanges.Near)
      val changes = Iterator.iterate(rules.nextTransition(at(micros - ClockChanges.Near)))(t =>
        rules.nextTransition(t.getInstant)).takeWhile(t => t != null && !t.getInstant.isAfter(until))
      val back = changes.filter(_.isOverlap).map(-_.getDuration.getSeconds).sum
      if (back == 0) 0L else if (exact) back * 1000000L else ClockChanges.Near
    }

  private def at(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)
}

private object ClockChanges {

  /** Offsets are within 18 hours of UTC: no two differ by more than 36 hours, and no date lasts longer than 48. */
  private val Near = 5L * 86400 * 1000000
}
