package org.apache.spark.sql.zorder.table

import java.nio.file.AccessDeniedException
import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * Opens the tables of a format that keeps its own list of files. The adapter is in this jar, compiled against one
 * version of the format. The format's own classes are the user's: they may be of another version, or missing.
 */
trait TableFormat {

  /**
   * Finds the table for a statement that reads, if it is one of this format. This needs no right to write and
   * changes nothing, not even what a dead run has left.
   *
   * @return
   *   None for a table of any other format
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: why it cannot be rewritten, and what to do
   */
  def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable]

  /** Finds the table for a statement that changes it, after it has undone what dead runs have left. */
  def open(session: ClassicSession, ref: TableRef): Option[ClusterTable] = locate(session, ref)
}

/** The adapters that this session can use: those whose format's classes are present. */
private[table] object TableFormatRegistry extends Logging {

  /** The table, from the adapter of its format; None if it is plain Parquet or of no known format. */
  def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable] = first(_.locate(session, ref))

  /** Opens a table for a statement that changes it. */
  def open(session: ClassicSession, ref: TableRef): Option[ClusterTable] = first(_.open(session, ref))

  private def first(find: TableFormat => Option[ClusterTable]): Option[ClusterTable] =
    FormatDescriptor.all.iterator.flatMap { descriptor =>
      load(descriptor).flatMap { format =>
        try find(format)
        catch {
          case e: LinkageError =>
            logWarning(s"The ${descriptor.name} adapter failed", e)
            refuse("ZORDER_SESSION_REFUSED.FORMAT_VERSION", "format" -> descriptor.name, "cause" -> e)
        }
      }
    }.take(1).toList.headOption

  /** Whether the classes of a format are there. */
  def isPresent(descriptor: FormatDescriptor): Boolean = find(descriptor.formatClass).isDefined

  private def load(descriptor: FormatDescriptor): Option[TableFormat] =
    for {
      _ <- find(descriptor.formatClass)
      adapter <- find(s"${getClass.getPackage.getName}.${descriptor.adapter}")
      format <-
        try Some(adapter.getDeclaredConstructor().newInstance().asInstanceOf[TableFormat])
        catch { case NonFatal(_) | _: LinkageError => None }
    } yield format

  /** Looks in the loader of our own classes, then in that of the session's added jars. */
  private def find(name: String): Option[Class[_]] =
    in(getClass.getClassLoader, name)
      .orElse(Option(Thread.currentThread.getContextClassLoader).flatMap(in(_, name)))

  private def in(loader: ClassLoader, name: String): Option[Class[_]] =
    try Some(Class.forName(name, false, loader))
    catch { case _: ClassNotFoundException | _: LinkageError => None }
}

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
 *   the condition of a table that the adapter cannot open although the format is there
 * @param plannedScans
 *   how scans are recognised whose list of files we narrow; None where the format's own planning stays as it is
 */
final private[zorder] case class FormatDescriptor(
    name: String,
    otherProviders: Set[String] = Set.empty,
    directory: String,
    fileEnding: Option[String] = None,
    formatClass: String,
    adapter: String,
    otherLines: String,
    notFound: String,
    plannedScans: Option[PlannedScans] = None) {

  /** The name in statements (``id.`/data/t` ``), in the build, and as the provider of a table. */
  val id: String = name.toLowerCase(Locale.ROOT)

  /** The format's name with an article, as in "a Delta table". */
  val aTable: String = s"${if ("AEIO".contains(name.head)) "an" else "a"} $name table"

  def isProvider(provider: String): Boolean = {
    val lower = provider.toLowerCase(Locale.ROOT)
    lower == id || otherProviders(lower)
  }

  /** Whether `dir` holds a table of the format. A directory that the user may not look into does not count. */
  def isTable(fs: FileSystem, dir: Path): Boolean = {
    val own = new Path(dir, directory)
    // on an object store it takes fewer requests to ask for a directory that is not there than to list it
    try TextFiles.isDirectory(fs, own) &&
        fileEnding.forall(ending => TextFiles.children(fs, own).exists(_.getPath.getName.endsWith(ending)))
    catch { case _: AccessControlException | _: AccessDeniedException => false }
  }
}

/**
 * How scans of a format are recognised whose list of files we narrow.
 *
 * @param adapter
 *   our `PlannedFormat`, below the package of that trait
 * @param carriers
 *   classes of the format by which a plan refers to such a scan, and no classes derived from them: a file index, a
 *   table or a scan of DataSource V2
 */
final private[zorder] case class PlannedScans(adapter: String, carriers: Set[String])

private[zorder] object FormatDescriptor {

  val Delta: FormatDescriptor = FormatDescriptor(
    "Delta",
    directory = "_delta_log",
    formatClass = "org.apache.spark.sql.delta.DeltaLog",
    adapter = "delta.DeltaFormat",
    otherLines = "run it on Spark 3.5, 4.0, 4.1 or 4.2",
    notFound = "ZORDER_SESSION_REFUSED.DELTA_CATALOG",
    plannedScans = Some(PlannedScans(
      "delta.DeltaPlannedFormat",
      Set(
        "org.apache.spark.sql.delta.files.TahoeLogFileIndex",
        "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"))))

  val Iceberg: FormatDescriptor = FormatDescriptor(
    "Iceberg",
    directory = "metadata",
    fileEnding = Some(".metadata.json"),
    formatClass = "org.apache.iceberg.spark.SparkReadConf",
    adapter = "iceberg.IcebergFormat",
    otherLines = "run it on Spark 3.5, 4.0 or 4.1",
    notFound = "ZORDER_SESSION_REFUSED.ICEBERG_CATALOG",
    plannedScans = Some(PlannedScans(
      "iceberg.IcebergPlannedFormat",
      Set(
        "org.apache.iceberg.spark.source.SparkTable",
        "org.apache.iceberg.spark.source.SparkBatchQueryScan"))))

  val Hudi: FormatDescriptor = FormatDescriptor(
    "Hudi",
    otherProviders = Set("org.apache.hudi"),
    directory = ".hoodie",
    formatClass = "org.apache.hudi.HoodieCLIUtils",
    adapter = "hudi.HudiFormat",
    otherLines = "run it on Spark 3.5 with Scala 2.12, or run Hudi's own CALL run_clustering",
    notFound = "ZORDER_SESSION_REFUSED.HUDI_BY_NAME")

  /** In the order in which adapters are asked. */
  val all: Seq[FormatDescriptor] = Seq(Delta, Iceberg, Hudi)

  /** Names of directories that only a table of a format has. */
  val ownDirectories: Set[String] = all.filter(_.fileEnding.isEmpty).map(_.directory).toSet

  /** The format of which a catalog says that a table is. */
  def ofProvider(provider: String): Option[FormatDescriptor] = all.find(_.isProvider(provider))

  /** The format that has a table in this directory. */
  def at(fs: FileSystem, dir: Path): Option[FormatDescriptor] = all.find(_.isTable(fs, dir))
}
