package org.apache.spark.sql.zorder.table

import java.util.Locale

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * What is known of a table format without its classes: how to recognise its tables, where to find the adapter, and
 * what to say when the adapter or the format is missing. A new format needs one of these, in `all`, and its adapter.
 *
 * @param name
 *   as people write it
 * @param otherProviders
 *   what catalogs call its tables besides `id`
 * @param directory
 *   of a table, in which the format keeps what it knows of it
 * @param fileEnding
 *   of a file in `directory`, where the name of the directory alone may be anybody's
 * @param formatClass
 *   a class of the format, by which its presence is noticed
 * @param adapter
 *   our [[TableFormat]], below this package; missing in the jars of Spark lines that the format has no release for
 * @param otherLines
 *   what to do on such a line
 * @param notFound
 *   why the adapter cannot open a table although the format is there, and what to do
 */
final private[zorder] case class FormatDescriptor(
    name: String,
    otherProviders: Set[String] = Set.empty,
    directory: String,
    fileEnding: Option[String] = None,
    formatClass: String,
    adapter: String,
    otherLines: String,
    notFound: String) {

  /** In statements (``id.`/data/t` ``), in the build, and as the provider of a table. */
  val id: String = name.toLowerCase(Locale.ROOT)

  /** With its article. */
  val aTable: String = s"${if ("AEIO".contains(name.head)) "an" else "a"} $name table"

  def isProvider(provider: String): Boolean = {
    val lower = provider.toLowerCase(Locale.ROOT)
    lower == id || otherProviders(lower)
  }

  /** Whether `dir` holds a table of the format. A directory that the user may not look into does not count. */
  def isTable(fs: FileSystem, dir: Path): Boolean = {
    val own = new Path(dir, directory)
    try fileEnding match {
        case None => fs.exists(own)
        case Some(ending) => TextFiles.children(fs, own).exists(_.getPath.getName.endsWith(ending))
      }
    catch { case _: AccessControlException => false }
  }
}

private[zorder] object FormatDescriptor {

  val Delta: FormatDescriptor = FormatDescriptor(
    "Delta",
    directory = "_delta_log",
    formatClass = "org.apache.spark.sql.delta.DeltaLog",
    adapter = "delta.DeltaFormat",
    otherLines = "run it on Spark 3.5, 4.0, 4.1 or 4.2",
    notFound = "that Delta's catalog has not given; set spark.sql.catalog.spark_catalog = " +
      "org.apache.spark.sql.delta.catalog.DeltaCatalog")

  val Iceberg: FormatDescriptor = FormatDescriptor(
    "Iceberg",
    directory = "metadata",
    fileEnding = Some(".metadata.json"),
    formatClass = "org.apache.iceberg.spark.SparkReadConf",
    adapter = "iceberg.IcebergFormat",
    otherLines = "run it on Spark 3.5, 4.0 or 4.1",
    notFound = "that no catalog of this session has given; name it as its catalog does " +
      "(spark.sql.catalog.<name> = org.apache.iceberg.spark.SparkCatalog, or SparkSessionCatalog for spark_catalog)")

  val Hudi: FormatDescriptor = FormatDescriptor(
    "Hudi",
    otherProviders = Set("org.apache.hudi"),
    directory = ".hoodie",
    formatClass = "org.apache.hudi.HoodieCLIUtils",
    adapter = "hudi.HudiFormat",
    otherLines = "run it on Spark 3.5 with Scala 2.12, or run Hudi's own CALL run_clustering",
    notFound = "that this session cannot open; name it by its path")

  /** In the order in which adapters are asked. */
  val all: Seq[FormatDescriptor] = Seq(Delta, Iceberg, Hudi)

  /** Names of directories that only a table of a format has. */
  val ownDirectories: Set[String] = all.filter(_.fileEnding.isEmpty).map(_.directory).toSet

  /** The format of which a catalog says that a table is. */
  def ofProvider(provider: String): Option[FormatDescriptor] = all.find(_.isProvider(provider))

  /** The format that has a table in this directory. */
  def at(fs: FileSystem, dir: Path): Option[FormatDescriptor] = all.find(_.isTable(fs, dir))
}
