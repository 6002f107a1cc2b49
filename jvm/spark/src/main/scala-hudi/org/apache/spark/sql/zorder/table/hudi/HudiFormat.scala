package org.apache.spark.sql.zorder.table.hudi

import org.apache.hadoop.fs.Path
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.exception.HoodieException
import org.apache.hudi.hadoop.fs.HadoopFSUtils

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.connector.catalog.{Table, V1Table, V2TableWithV1Fallback}
import org.apache.spark.sql.zorder.errors.{NoRowsYetException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatDescriptor, TableFormat, TableRef}
import org.apache.spark.sql.zorder.table.resolve.Provider

/** Finds Hudi tables, by name or by path. To open one also rolls back its dead runs. */
final class HudiFormat extends TableFormat {

  override def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable] =
    find(session, ref, changes = false)

  override def open(session: ClassicSession, ref: TableRef): Option[ClusterTable] =
    find(session, ref, changes = true)

  private def find(session: ClassicSession, ref: TableRef, changes: Boolean): Option[ClusterTable] =
    ref match {
      case TableRef.Location(path) => at(session, path, path, changes)
      case TableRef.Name(Seq(format, path))
          if path.contains("/") && format.equalsIgnoreCase(FormatDescriptor.Hudi.id) =>
        at(session, s"hudi.`$path`", path, changes).orElse(refuse(s"There is no Hudi table at $path."))
      case TableRef.Name(parts) if Provider.of(session, parts).exists(FormatDescriptor.Hudi.isProvider) =>
        val name = parts.mkString(".")
        ActiveSession.during(session)(Provider.load(session, parts)).flatMap(HudiFormat.inCatalog).map {
          table =>
            val path = table.location.toString
            if (!HudiFormat.isTable(session, path))
              throw new NoRowsYetException(
                s"$name is a Hudi table without a commit at $path: write rows into it first.")
            checked(session, name, path, Some(table), changes)
        }
      case _ => None
    }

  private def at(
      session: ClassicSession,
      name: String,
      path: String,
      changes: Boolean): Option[ClusterTable] =
    if (HudiFormat.isTable(session, path)) Some(checked(session, name, path, None, changes)) else None

  private def checked(
      session: ClassicSession,
      name: String,
      path: String,
      catalog: Option[CatalogTable],
      changes: Boolean): ClusterTable = ActiveSession.during(session) {
    HudiRefusals.session(session, name)
    val meta =
      try HudiFormat.metaClient(session, path)
      catch {
        case e: HoodieException =>
          refuse(s"Hudi cannot open the table $name (${ZOrderException.firstLine(e)}).")
      }
    HudiRefusals.table(name, meta)
    HudiRefusals.index(session, name, catalog)
    if (changes) DeadRuns.rollBack(session, meta)
    new HudiClusterTable(session, name, meta, catalog, changes)
  }
}

private[hudi] object HudiFormat {

  /** Hudi's metadata of a table, freshly read. */
  def metaClient(session: ClassicSession, path: String): HoodieTableMetaClient =
    HoodieTableMetaClient.builder().setBasePath(path)
      .setConf(HadoopFSUtils.getStorageConfWithCopy(session.sessionState.newHadoopConf())).build()

  private def isTable(session: ClassicSession, path: String): Boolean = {
    val properties = new Path(new Path(path, HoodieTableMetaClient.METAFOLDER_NAME), "hoodie.properties")
    properties.getFileSystem(session.sessionState.newHadoopConf()).exists(properties)
  }

  private def inCatalog(table: Table): Option[CatalogTable] = table match {
    case v1: V1Table => Some(v1.v1Table)
    case hudi: V2TableWithV1Fallback => Some(hudi.v1Table)
    case _ => None
  }
}
