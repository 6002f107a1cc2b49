package org.apache.spark.sql.zorder.table.resolve

import org.apache.spark.sql.zorder.build.BuildInfo
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.TableFormats

/** Tables of formats that no adapter has opened: what is missing is said. */
private[table] object MissingFormat {

  /** @param what the beginning of the sentence: which table is one of the format */
  def delta(what: String): Nothing = refused(
    what,
    "Delta",
    "run it on Spark 3.5, 4.0, 4.1 or 4.2",
    "that Delta's catalog has not given; set spark.sql.catalog.spark_catalog = " +
      "org.apache.spark.sql.delta.catalog.DeltaCatalog")

  def iceberg(what: String): Nothing = refused(
    what,
    "Iceberg",
    "run it on Spark 3.5, 4.0 or 4.1",
    "that no catalog of this session has given; name it as its catalog does (spark.sql.catalog.<name> = " +
      "org.apache.iceberg.spark.SparkCatalog, or SparkSessionCatalog for spark_catalog)")

  def hudi(what: String): Nothing = refused(
    what,
    "Hudi",
    "run it on Spark 3.5 with Scala 2.12, or run Hudi's own CALL run_clustering",
    "that this session cannot open; name it by its path")

  private def refused(what: String, format: String, elsewhere: String, unknown: String): Nothing =
    Option(BuildInfo.formatJar(format.toLowerCase(java.util.Locale.ROOT))) match {
      case None =>
        refuse(
          s"$what, and $format has no release for Spark ${BuildInfo.spark} that this jar works " +
            s"with; $elsewhere.")
      case Some(_) if TableFormats.isPresent(format) => refuse(s"$what $unknown.")
      case Some(jar) =>
        refuse(
          s"$what, and $format's classes are not on the class path; add them, as with --packages $jar.")
    }
}
