package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.delta.{DeltaLog, DeltaTableUtils, Snapshot}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.zorder.errors.NoRowsYetException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatDescriptor, TableFormat, TableRef}
import org.apache.spark.sql.zorder.table.resolve.Provider

/** Finds Delta tables, by name or by path. */
final class DeltaFormat extends TableFormat {

  override def locate(session: ClassicSession, ref: TableRef): Option[ClusterTable] = ref match {
    case TableRef.Location(path) => at(session, path, path)
    case TableRef.Name(Seq(format, path))
        if path.contains("/") && format.equalsIgnoreCase(FormatDescriptor.Delta.id) =>
      at(session, s"delta.`$path`", path).orElse(refuse(s"There is no Delta table at $path."))
    case TableRef.Name(parts) if Provider.of(session, parts).exists(FormatDescriptor.Delta.isProvider) =>
      Provider.load(session, parts).collect { case table: DeltaTableV2 =>
        checked(session, parts.mkString("."), table)
      }
    case _ => None
  }

  private def at(session: ClassicSession, name: String, path: String): Option[ClusterTable] = {
    val asked = new Path(path)
    val root = DeltaTableUtils.findDeltaTableRoot(session, asked)
    root.map { found =>
      val qualified = asked.getFileSystem(session.sessionState.newHadoopConf()).makeQualified(asked)
      if (found.toUri.getPath != qualified.toUri.getPath)
        refuse(s"$path lies inside the Delta table at $found; name that, and pick its part by WHERE.")
      ActiveSession.during(session)(checked(session, name, DeltaTableV2(session, found)))
    }
  }

  private def checked(session: ClassicSession, name: String, table: DeltaTableV2): ClusterTable = {
    val log: DeltaLog = table.deltaLog
    val snapshot = ActiveSession.during(session)(table.update())
    if (snapshot.version < 0)
      throw new NoRowsYetException(s"$name is a Delta table without a commit: write rows into it first.")
    DeltaRefusals.check(session, name, snapshot)
    new DeltaClusterTable(Shims.classic(session), name, log, table.catalogTable, snapshot)
  }
}

/** Refuses Delta tables that we must not rewrite. */
private object DeltaRefusals {
  private val Extension = "io.delta.sql.DeltaSparkSessionExtension"
  private val ManagedByCatalog = Set("catalogManaged", "catalogOwned", "catalogOwned-preview")

  def check(session: ClassicSession, name: String, snapshot: Snapshot): Unit = {
    val features = snapshot.protocol.readerAndWriterFeatureNames
    if (features.exists(ManagedByCatalog))
      refuse(s"The commits of $name are managed by its catalog, which alone may rewrite its files; " +
        "run the catalog's own OPTIMIZE.")
    if (ClusteredTableUtils.isSupported(snapshot.protocol) &&
      ClusteredTableUtils.getClusteringColumnsOptional(snapshot).exists(_.nonEmpty))
      refuse(s"$name uses Delta's liquid clustering, whose next OPTIMIZE would undo another layout; " +
        s"run ALTER TABLE $name CLUSTER BY NONE first, or Delta's own OPTIMIZE $name.")
    val extensions = session.sessionState.conf.getConfString("spark.sql.extensions", "") +
      session.sparkContext.getConf.get("spark.sql.extensions", "")
    if (!extensions.contains(Extension))
      refuse(s"Delta's session extension is not installed, and without it deleted rows of $name would come " +
        s"back; add $Extension to spark.sql.extensions.")
  }
}
