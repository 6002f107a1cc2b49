package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.delta.{DeltaLog, DeltaTableUtils, PreprocessTableWithDVsStrategy, Snapshot}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.zorder.errors.NoRowsYetException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatDescriptor, TableFormat, TableRef}
import org.apache.spark.sql.zorder.table.resolve.Provider

/** Finds Delta tables, by name or by path. */
final class DeltaFormat extends TableFormat {

  override def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable] = ref match {
    case TableRef.Location(path, _) => at(session, path, path)
    case TableRef.InFormat(format, path) if format.equalsIgnoreCase(FormatDescriptor.Delta.id) =>
      at(session, s"delta.`$path`", path).orElse(
        refuse(
          "ZORDER_TABLE_NOT_FOUND.FORMAT_PATH",
          "format" -> FormatDescriptor.Delta.name,
          "path" -> path))
    case TableRef.Name(parts) if Provider.of(session, parts).exists(FormatDescriptor.Delta.isProvider) =>
      Provider.load(session, parts).collect { case table: DeltaTableV2 =>
        checked(session, ref.text, ref.sql, table)
      }
    case _ => None
  }

  private def at(session: ClassicSession, name: String, path: String): Option[ClusterTable] = {
    val asked = new Path(path)
    val qualified = asked.getFileSystem(session.sessionState.newHadoopConf()).makeQualified(asked)
    DeltaTableUtils.findDeltaTableRoot(session, qualified).map { found =>
      if (found.toUri.getPath != qualified.toUri.getPath)
        refuse(
          "ZORDER_DIRECTORY_REFUSED.INSIDE_FORMAT_TABLE",
          "path" -> path,
          "format" -> FormatDescriptor.Delta.name,
          "dir" -> found)
      val sql = TableRef.Name(Seq(FormatDescriptor.Delta.id, path)).sql
      ActiveSession.during(session)(checked(session, name, sql, DeltaTableV2(session, found)))
    }
  }

  /** @param sql the table in a statement of Delta's */
  private def checked(
      session: ClassicSession,
      name: String,
      sql: String,
      table: DeltaTableV2): ClusterTable = {
    val log: DeltaLog = table.deltaLog
    val snapshot = ActiveSession.during(session)(table.update())
    if (snapshot.version < 0)
      throw new NoRowsYetException("ZORDER_NO_ROWS_YET.DELTA_WITHOUT_COMMIT", "table" -> name)
    DeltaRefusals.check(session, name, snapshot)
    new DeltaClusterTable(Shims.classic(session), name, sql, log, table.catalogTable, snapshot)
  }
}

/** Refuses Delta tables that we must not rewrite. */
private object DeltaRefusals {
  private val Extension = "io.delta.sql.DeltaSparkSessionExtension"
  private val ManagedByCatalog = Set("catalogManaged", "catalogOwned", "catalogOwned-preview")

  def check(session: ClassicSession, name: String, snapshot: Snapshot): Unit = {
    val features = snapshot.protocol.readerAndWriterFeatureNames
    if (features.exists(ManagedByCatalog))
      refuse("ZORDER_TABLE_REFUSED.DELTA_MANAGED_BY_CATALOG", "table" -> name)
    // a session may have it without a setting that names it, and its name is no proof
    val strategies = session.sessionState.planner.strategies
    if (!strategies.exists(_.isInstanceOf[PreprocessTableWithDVsStrategy]))
      refuse("ZORDER_SESSION_REFUSED.DELTA_EXTENSION", "table" -> name, "extension" -> Extension)
  }
}
