package org.apache.spark.sql.zorder.table.resolve

import java.util.Properties

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.TableFormats

/** Tables of formats that no adapter has opened: what is missing is said. */
private[table] object MissingFormat {

  /** What the build says of this jar: `modules` are the formats that it has an adapter for, and their jars. */
  private lazy val facts: Properties = {
    val found = new Properties()
    val stream = getClass.getResourceAsStream("/spark-zorder.properties")
    if (stream != null)
      try found.load(stream)
      finally stream.close()
    found
  }

  /** `organization:artifact:version` of the format's jar that this one was built with. */
  private def module(format: String): Option[String] =
    facts.getProperty("modules", "").split(',').map(_.split("=", 2))
      .collectFirst { case Array(`format`, module) => module }

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
    module(format.toLowerCase(java.util.Locale.ROOT)) match {
      case None =>
        refuse(
          s"$what, and $format has no release for Spark ${facts.getProperty("spark")} that this jar works " +
            s"with; $elsewhere.")
      case Some(_) if TableFormats.isPresent(format) => refuse(s"$what $unknown.")
      case Some(module) =>
        refuse(
          s"$what, and $format's classes are not on the class path; add them, as with --packages $module.")
    }
}
