package org.apache.spark.sql.zorder.table.hudi

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

/** Translates options of the Parquet writer from Spark's names to Hudi's. */
private[hudi] object HudiWriteSettings {

  /** Keeps Hudi from beginning a second file within a task: no table has files of so many bytes. */
  private val NoLimit = 1L << 50

  /** The row limit of a page is always Parquet's default: Hudi's writer has no setting for it. */
  private val PageRowLimit = "20000"

  private val Strategy = Map(
    "hoodie.clustering.plan.strategy.class" -> classOf[PinnedPlanStrategy].getName,
    "hoodie.clustering.execution.strategy.class" -> classOf[WrittenRowsStrategy].getName)

  /** Settings of Hudi's client for one run. */
  def of(options: Map[String, String], runId: String): Map[String, String] = {
    options.get("parquet.page.row.count.limit").filter(_ != PageRowLimit).foreach { rows =>
      refuse(
        s"Hudi's writer always begins a page after $PageRowLimit rows, so pageRowLimit = $rows is not possible; " +
          "leave the option out.")
    }
    Strategy ++ Map(StrategyInputs.RunId -> runId, "hoodie.parquet.max.file.size" -> NoLimit.toString) ++
      options.get("parquet.block.size").map("hoodie.parquet.block.size" -> _) ++
      options.get("compression").map("hoodie.parquet.compression.codec" -> codec(_))
  }

  /** Bloom filters of columns are requested in Hadoop's settings. */
  def hadoop(conf: Configuration, options: Map[String, String]): Configuration = {
    options.filterKeys(_.startsWith("parquet.bloom.filter.")).foreach { case (key, value) =>
      conf.set(key, value)
    }
    conf
  }

  private def codec(spark: String): String = spark match {
    case "none" => "uncompressed"
    case "lz4raw" => "lz4_raw"
    case other => other
  }
}
