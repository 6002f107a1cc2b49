package org.apache.spark.sql.zorder.table.delta

import java.time.{Instant, ZoneId}
import java.time.format.DateTimeFormatter

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.types.{StructType, TimestampType}
import sparkzorder.mark.SameOnAllLines

/** What Delta's log says of timestamps: in whole milliseconds, by an offset without its seconds. */
@SameOnAllLines
class LoggedTimestampsSuite extends AnyFunSuite {
  private val logged = new LoggedTimestamps(new StructType().add("at", TimestampType), _.name)

  test("the bounds of a file hold its moments, also in zones whose offset has seconds") {
    for {
      zone <- Seq("UTC", "Europe/Amsterdam", "Africa/Monrovia", "America/New_York")
      moment <- Seq(
        "1880-01-01T00:00:00.123456Z",
        "1930-06-01T12:34:56.789999Z",
        "1971-12-31T23:59:59.999999Z",
        "2024-02-29T01:02:03.000001Z").map(Instant.parse)
    } {
      val text =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ").format(moment.atZone(ZoneId.of(zone)))
      val stats = s"""{"numRecords":1,"minValues":{"at":"$text"},"maxValues":{"at":"$text"}}"""
      val (min, max) = logged.boundsOf(AddFile("f", Map.empty, 1L, 0L, dataChange = true, stats))(Seq("at"))
      val micros = moment.getEpochSecond * 1000000L + moment.getNano / 1000
      assert(min <= micros && micros <= max, s"$text in $zone")
      assert(moment.isBefore(Instant.parse("1972-01-01T00:00:00Z")) || max - min == 1000L)
    }
  }
}
