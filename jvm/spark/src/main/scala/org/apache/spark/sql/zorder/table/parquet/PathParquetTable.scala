package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table._

/**
 * Parquet files under a directory of a local disk or of HDFS.
 *
 * @param opened
 *   what lay there when the table was opened
 * @param ident
 *   a table of the catalog whose partitions are not in the catalog
 */
private[zorder] final class PathParquetTable(
    override val session: ClassicSession,
    override val name: String,
    fs: FileSystem,
    override val root: Path,
    opened: Tree,
    override val properties: Map[String, String] = Map.empty,
    val ident: Option[TableIdentifier] = None)
    extends ParquetTable {

  val store: JournalStore = JournalStore.beside(fs, root)
  override def identity: String = ""
  override def owns(journal: Journal): Boolean = journal.kind == "path"
  private var late = 0
  private var listed: Option[Tree] = Some(opened)
  private lazy val content = PathContent.read(session, root, opened)

  override def schema: StructType = StructType(content.dataSchema ++ content.partitionSchema)
  override def partitionSchema: StructType = content.partitionSchema

  /** Those of the opened table; whoever asks again has them listed again. */
  override def files(): Seq[DataFile] = {
    val tree = listed.getOrElse(Tree.walk(fs, root))
    listed = None
    tree.dataFiles(Tree.partitionOf)
  }

  override def state: StateDir = new StateDir(fs, root)
  override def carriedOver: Int = late

  override def newStaging(runId: String): Path = {
    late += LateFiles.carry(this)
    val txn = Journal.newTxn(runId)
    val staging = store.staging(txn)
    Journal.begin(txn)
    preparing(staging) {
      store.write(draft(txn, runId, staging, Nil).at(JournalState.Staging))
      fs.mkdirs(staging)
      Attributes.copy(fs, root, staging) // what cannot be given back is found out before the work
    }
  }

  override def discard(staging: Path): Unit =
    txnOf(staging).foreach { txn =>
      Journal.end(txn)
      store.get(txn).filter(j => j.state == JournalState.Staging || j.state == JournalState.Prepared)
        .foreach(j => new Finish(store).abandon(j))
      // a commit that got stuck goes on from there
      if (store.get(txn).isEmpty) fs.delete(staging, true)
    }

  override def commit(replacement: Replacement): Unit = {
    val txn = txnOf(replacement.staging).getOrElse(
      throw new IllegalArgumentException(s"${replacement.staging} is not a staging directory of $name"))
    val units =
      try UnitPlan.forPath(fs, root, replacement, content.actual)
      catch { case e: Throwable => discard(replacement.staging); throw e }
    val record = UnitPlan.inPlace(replacement.record, content.actual)
    new PathSwap(store, WaitMs.of(session))
      .commit(draft(txn, replacement.runId, replacement.staging, units), record, replacement.layouts)
    session.catalog.refreshByPath(root.toString)
    ident.foreach(i => session.catalog.refreshTable(i.quotedString))
  }

  /** Where the present data of a unit of an earlier commit is. */
  override def liveDirs(): Map[String, Path] =
    Map("" -> root) ++ content.actual.values.map(p => p -> (if (p.isEmpty) root else new Path(root, p)))

  private def draft(txn: String, runId: String, staging: Path, units: Seq[SwapUnit]): Journal =
    Journal(
      txn,
      "path",
      "OPTIMIZE",
      JournalState.Staging,
      Journal.thisJvm,
      identity,
      runId,
      System.currentTimeMillis,
      root,
      staging,
      units,
      Nil)

  private def txnOf(staging: Path): Option[String] = {
    val mark = s".${root.getName}.zorder-"
    Some(staging.getName).filter(n => n.startsWith(mark) && n.endsWith(".new"))
      .map(_.stripPrefix(mark).stripSuffix(".new"))
  }
}
