package org.apache.spark.sql.zorder.workload.predicate

import java.time.{Instant, ZoneId}

/**
 * When the clocks of a zone go back, and local times come a second time, or forward, and local times are left out.
 *
 * @param exact
 *   whether equal local times have equal results; otherwise a result depends on which of two equal times is meant
 * @param ofLocal
 *   whether moments are made of local times, of which those that are left out count from before the change; otherwise
 *   local times are made of moments
 */
final private[predicate] case class ClockChanges(zone: ZoneId, exact: Boolean, ofLocal: Boolean = false) {
  private val rules = zone.getRules

  /**
   * How far, in microseconds, the order of local times near a moment may differ from that of time itself: by no more
   * than clocks go back (or forward) in all within some days, beyond which no two offsets can make up for the distance.
   * A local time stands for a moment less than a day away.
   */
  def disorder(micros: Long): Long =
    if (rules.isFixedOffset) 0L
    else {
      val until = at(micros + ClockChanges.Near)
      val changes = Iterator.iterate(rules.nextTransition(at(micros - ClockChanges.Near)))(t =>
        rules.nextTransition(t.getInstant)).takeWhile(t => t != null && !t.getInstant.isAfter(until))
      val seconds = changes.filter(_.isGap == ofLocal).map(_.getDuration.getSeconds.abs).sum
      if (seconds == 0) 0L else if (exact) seconds * 1000000L else ClockChanges.Near
    }

  private def at(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)
}

private object ClockChanges {

  /** Offsets are within 18 hours of UTC: no two differ by more than 36 hours, and no date lasts longer than 48. */
  private val Near = 5L * 86400 * 1000000
}
