package org.apache.spark.sql.zorder.table.iceberg

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{
  BaseMetadataTable,
  FileFormat,
  FileScanTask,
  HasTableOperations,
  SnapshotRef,
  Table,
  TableOperations
}
import org.apache.iceberg.TableProperties.WRITE_AUDIT_PUBLISH_ENABLED
import org.apache.iceberg.exceptions.{
  NoSuchNamespaceException => NoIcebergNamespace,
  NoSuchTableException => NoIcebergTable
}
import org.apache.iceberg.hadoop.HadoopTables
import org.apache.iceberg.spark.SparkCatalog
import org.apache.iceberg.spark.source.SparkTable
import org.apache.iceberg.util.PropertyUtil
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.connector.catalog.{Identifier, ViewCatalog}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatDescriptor, TableFormat, TableRef}
import org.apache.spark.sql.zorder.table.resolve.Provider

/** Finds Iceberg tables: by name in any catalog that has them, and by path if no catalog knows them. */
final class IcebergFormat extends TableFormat {

  override def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable] = ref match {
    case TableRef.Location(path, _) => at(session, path)
    case TableRef.InFormat(format, path) if format.equalsIgnoreCase(FormatDescriptor.Iceberg.id) =>
      at(session, path)
    case TableRef.Name(parts) => named(session, parts)
  }

  /** A Hadoop table, which needs no catalog: a file points to its newest metadata. */
  private def at(session: ClassicSession, path: String): Option[ClusterTable] = {
    val conf = session.sessionState.newHadoopConf()
    val root = new Path(path)
    val fs = root.getFileSystem(conf)
    if (fs.exists(new Path(root, IcebergFormat.VersionHint)))
      Some(checked(session, path, new HadoopTables(conf).load(fs.makeQualified(root).toString), None))
    else None
  }

  private def named(session: ClassicSession, parts: Seq[String]): Option[ClusterTable] = {
    val name = TableRef.Name(parts).sql
    val loaded =
      try ActiveSession.during(session)(Provider.load(session, parts))
      catch {
        case _: NoSuchTableException | _: NoSuchNamespaceException | _: NoIcebergTable | _: NoIcebergNamespace
            if inIcebergCatalog(session, parts) =>
          if (isView(session, parts)) refuse("ZORDER_TABLE_REFUSED.VIEW", "table" -> name)
          refuse("ZORDER_TABLE_NOT_FOUND.TABLE", "table" -> name, "hint" -> "")
        // what a catalog does not tell may be there
        case NonFatal(e) if inIcebergCatalog(session, parts) =>
          throw ZOrderException.over(
            e,
            "ZORDER_STORAGE_FAILED.CATALOG",
            "table" -> name,
            "cause" -> ZOrderException.firstLine(e))
        case NonFatal(_) => None
      }
    loaded.collect { case table: SparkTable =>
      if (IcebergFormat.isSnapshot(parts.last, table.table))
        refuse("ZORDER_TABLE_REFUSED.ICEBERG_SNAPSHOT", "table" -> name)
      checked(session, name, table.table, Option(table.branch).filterNot(_ == SnapshotRef.MAIN_BRANCH))
    }
  }

  private def isView(session: ClassicSession, parts: Seq[String]): Boolean =
    Provider.catalogOf(session, parts) match {
      case (views: ViewCatalog, path) =>
        val isWhole = path.size > 1 || path.size < parts.size
        val namespace =
          if (isWhole) path.init.toArray else session.sessionState.catalogManager.currentNamespace
        ActiveSession.during(session)(views.viewExists(Identifier.of(namespace, path.last)))
      case _ => false
    }

  /**
   * Spark's own catalog may hold tables of other formats, whose adapters then refuse the name. A catalog that
   * fails as it begins, since its server does not answer, is known by its setting alone.
   */
  private def inIcebergCatalog(session: ClassicSession, parts: Seq[String]): Boolean =
    try Provider.catalogOf(session, parts)._1.isInstanceOf[SparkCatalog]
    catch {
      case NonFatal(_) =>
        val setting = s"spark.sql.catalog.${parts.head}"
        session.sessionState.conf.getConfString(setting, "") == classOf[SparkCatalog].getName
    }

  private def checked(
      session: ClassicSession,
      name: String,
      table: Table,
      branch: Option[String]): ClusterTable = {
    IcebergRefusals.table(name, table)
    if (branch.isEmpty) IcebergRefusals.writeAuditPublish(name, table, session)
    table.refresh()
    new IcebergClusterTable(session, name, table, branch)
  }
}

private[iceberg] object IcebergFormat {

  val VersionHint = "metadata/version-hint.text"

  /** Endings of names by which Iceberg's catalogs select a snapshot. */
  private val Selector = "(?:tag_.*|snapshot_id_\\d+|at_timestamp_\\d+)"

  /** Whether a name selects a snapshot, which Spark 4.1's tables do not tell. A table may have such a name itself. */
  def isSnapshot(last: String, table: Table): Boolean =
    last.matches(Selector) && !table.name.endsWith(s".$last")
}

/** Refuses Iceberg tables that we must not rewrite. */
private[iceberg] object IcebergRefusals {

  /** Checks the table's metadata. */
  def table(name: String, table: Table): Unit =
    if (table.isInstanceOf[BaseMetadataTable] || !table.isInstanceOf[HasTableOperations])
      refuse("ZORDER_TABLE_REFUSED.ICEBERG_METADATA", "table" -> name)

  /** What reads and replaces the table's metadata: a table without it has been refused. */
  def operations(table: Table): TableOperations = table.asInstanceOf[HasTableOperations].operations

  /** A session may write to a branch that it does not name, and reads that branch. */
  def writeAuditPublish(name: String, table: Table, session: ClassicSession): Unit =
    session.conf.getOption("spark.wap.branch")
      .filter(_ => PropertyUtil.propertyAsBoolean(table.properties, WRITE_AUDIT_PUBLISH_ENABLED, false))
      .foreach(branch =>
        refuse(
          "ZORDER_TABLE_REFUSED.ICEBERG_WAP_BRANCH",
          "branch" -> branch,
          "table" -> name,
          "place" -> s"$name.${ColumnPath.sql(Seq(s"branch_$branch"))}"))

  /** Checks all files of a snapshot, even those that WHERE leaves out: these cannot be read. */
  def files(name: String, tasks: Iterable[FileScanTask]): Unit = {
    tasks.map(_.file).find(_.format != FileFormat.PARQUET).foreach { f =>
      refuse(
        "ZORDER_FILE_REFUSED.ICEBERG_NOT_PARQUET",
        "file" -> f.location,
        "table" -> name,
        "format" -> f.format.toString.toLowerCase(Locale.ROOT))
    }
    // a commit takes away all entries of a file at once
    tasks.groupBy(_.file.location).find(_._2.size > 1).foreach { case (file, _) =>
      refuse("ZORDER_FILE_REFUSED.ICEBERG_LISTED_TWICE", "file" -> file, "table" -> name)
    }
    tasks.map(_.file).find(_.keyMetadata != null).foreach { f =>
      refuse("ZORDER_FILE_UNREADABLE.ICEBERG_ENCRYPTED", "file" -> f.location, "table" -> name)
    }
  }

  /** Checks the files that a run would rewrite: new files would belong to other partitions. */
  def partitioning(name: String, table: Table, tasks: Iterable[FileScanTask]): Unit =
    tasks.map(_.file).find(_.specId != table.spec.specId).foreach { f =>
      refuse("ZORDER_FILE_REFUSED.ICEBERG_OLD_PARTITIONING", "file" -> f.location, "table" -> name)
    }
}
