package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.{DataFrame, SparkSession}

/** Columns of the kinds that spoil other layouts, independent of each other, in no order. */
private[clustering] object TableOfKinds {
  def apply(spark: SparkSession, rows: Long): DataFrame = {
    def hash(salt: Int) = s"pmod(xxhash64(id, $salt), 1000000)"
    spark.range(0, rows, 1, 4).selectExpr(
      s"cast(${hash(1)} % 1000 as int) small",
      s"${hash(2)} wide",
      s"cast(${hash(3)} % 8 as int) eight",
      s"cast(pow(1 + ${hash(4)} / 1000000.0 * 99999, 2) / 1e4 as int) skewed",
      s"if(${hash(5)} % 10 < 3, null, ${hash(6)}) holes",
      s"concat('https://example.org/a/long/common/prefix/of/it/', lpad(cast(${hash(7)} as string), 7, '0')) url",
      s"date_add(date'2015-01-01', cast(${hash(8)} % 3000 as int)) day",
      s"timestamp_micros(${hash(9)} * 86400000) moment",
      s"cast(${hash(10)} as decimal(20, 4)) amount")
  }
}
