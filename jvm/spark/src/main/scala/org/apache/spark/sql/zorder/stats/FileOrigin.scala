package org.apache.spark.sql.zorder.stats

import scala.util.Try

import org.apache.parquet.{SemanticVersion, VersionParser}

/** Who wrote a file, as far as it bears on what its bounds mean. */
final case class FileOrigin(createdBy: String, keyValues: Map[String, String]) {
  import FileOrigin._

  /**
   * Whether dates and times before the calendar changes are surely stored as Spark 3 reads them. Spark 2,
   * legacy mode and unknown writers may mean the Julian calendar: then reading shifts the values.
   */
  lazy val prolepticCalendar: Boolean =
    keyValues.get(SparkVersion).exists(v => Try(v.takeWhile(_ != '.').toInt).toOption.exists(_ >= 3)) &&
      !keyValues.contains(LegacyDateTime)

  /** Whether Spark itself wrote the file: other writers copy its notes along, but not its library's name. */
  def bySpark: Boolean = keyValues.contains(SparkVersion) && createdBy.startsWith("parquet-mr")

  /** Whether a NaN among the values would show (parquet-mr takes back bounds that NaN spoils, since 1.10). */
  lazy val boundsShowNaN: Boolean = Try {
    val parsed = VersionParser.parse(createdBy)
    parsed.application == "parquet-mr" && parsed.hasSemanticVersion &&
    parsed.getSemanticVersion.compareTo(FirstWithNaNOrder) >= 0
  }.getOrElse(false)
}

object FileOrigin {
  private val SparkVersion = "org.apache.spark.version"
  private val LegacyDateTime = "org.apache.spark.legacyDateTime"
  private val FirstWithNaNOrder = new SemanticVersion(1, 10, 0)
}
