package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** Refuses Delta tables that we must not rewrite. */
private[delta] object DeltaRefusals {
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
