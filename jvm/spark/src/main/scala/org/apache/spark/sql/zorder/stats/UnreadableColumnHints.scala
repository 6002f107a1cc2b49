package org.apache.spark.sql.zorder.stats

/** The end of an error about a column that this Spark cannot read: what the user can do. */
object UnreadableColumnHints {

  /** @param logical the column's logical type */
  def otherType(logical: String): String = {
    val instead = logical.takeWhile(_ != '(') match {
      case "TIMESTAMP" => "timestamps in microseconds"
      case "TIME" => "a number of microseconds or a string"
      case "UUID" => "a string"
      case "DECIMAL" => "a decimal of at most 38 digits"
      case _ => "a type that Spark has, such as a float or a string"
    }
    s"have its writer store it as $instead"
  }

  /**
   * @param packing
   *   the name of a codec or an encoding
   * @param vectorized
   *   whether Spark's own reader has tried, which knows fewer encodings than Parquet's
   */
  def otherPacking(packing: String, vectorized: Boolean): String =
    if (Encodings.isCodec(packing))
      s"put the codec for $packing on Spark's class path, or have its writer use zstd or snappy"
    else {
      val reader =
        if (vectorized) "try Parquet's own reader (SET spark.sql.parquet.enableVectorizedReader = false), or "
        else ""
      s"${reader}have its writer store it without $packing"
    }
}
