package org.apache.spark.sql.zorder.table.iceberg

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.iceberg.Table
import org.apache.iceberg.hadoop.HadoopTables
import org.apache.iceberg.spark.SparkCatalog
import org.apache.iceberg.spark.source.SparkTable

import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table._

/** Opens Iceberg tables: by name in any catalog that gives them, and by path where no catalog knows them. */
final class IcebergFormat extends TableFormat {

  override def open(session: ClassicSession, ref: TableRef): Option[ClusterTable] = ref match {
    case TableRef.Location(path) => at(session, path)
    case TableRef.Name(parts) => named(session, parts)
  }

  /** A table that its directory alone describes: the pointer to its newest metadata is a file. */
  private def at(session: ClassicSession, path: String): Option[ClusterTable] = {
    val conf = session.sessionState.newHadoopConf()
    val root = new Path(path)
    val fs = root.getFileSystem(conf)
    if (fs.exists(new Path(root, IcebergFormat.VersionHint)))
      Some(checked(session, path, new HadoopTables(conf).load(fs.makeQualified(root).toString), None))
    else None
  }

  private def named(session: ClassicSession, parts: Seq[String]): Option[ClusterTable] = {
    val name = parts.mkString(".")
    val loaded =
      try ActiveSession.during(session)(Provider.load(session, parts))
      catch {
        case _: NoSuchTableException | _: NoSuchNamespaceException if inIcebergCatalog(session, parts) =>
          refuse(s"There is no table $name.")
        case NonFatal(_) => None
      }
    loaded.collect { case table: SparkTable =>
      if (IcebergFormat.isSnapshot(parts.last, table.table))
        refuse(s"$name is a snapshot of an Iceberg table; name the table itself, or a branch.")
      checked(session, name, table.table, Option(table.branch).filterNot(_ == IcebergClusterTable.Main))
    }
  }

  /** Spark's own catalog may hold tables of other formats: somebody else says what is wrong with the name. */
  private def inIcebergCatalog(session: ClassicSession, parts: Seq[String]): Boolean = {
    val catalogs = session.sessionState.catalogManager
    val named = parts.size > 1 && catalogs.isCatalogRegistered(parts.head)
    val catalog = if (named) catalogs.catalog(parts.head) else catalogs.currentCatalog
    catalog.isInstanceOf[SparkCatalog]
  }

  private def checked(
      session: ClassicSession,
      name: String,
      table: Table,
      branch: Option[String]): ClusterTable = {
    IcebergRefusals.table(session, name, table)
    table.refresh()
    new IcebergClusterTable(session, name, table, branch)
  }
}

private[iceberg] object IcebergFormat {
  val VersionHint = "metadata/version-hint.text"

  /** How Iceberg's catalogs let a name end that means the table at some time. */
  private val Selector = "(?:tag_.*|snapshot_id_\\d+|at_timestamp_\\d+)"

  /** Whether a name picks a snapshot: Spark 4.1's tables do not say. A table may bear such a name as well. */
  def isSnapshot(last: String, table: Table): Boolean =
    last.matches(Selector) && !table.name.endsWith(s".$last")
}
