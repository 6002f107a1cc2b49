package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTablePartition, CatalogTableType}
import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.execution.datasources.PartitioningUtils
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.commit.{CommitWait, Replacement}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FilePermissions, HiddenDirectories}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore, TableIdentity}
import org.apache.spark.sql.zorder.table.parquet.read.PathContent
import org.apache.spark.sql.zorder.table.storage.ObjectStores

/** A Parquet table of Spark's catalog; partitioned, its partitions are in the catalog too. */
private[zorder] final class CatalogParquetTable(
    override val session: ClassicSession,
    override val name: String,
    val ident: TableIdentifier,
    fs: FileSystem)
    extends ParquetTable {

  private val catalog: SessionCatalog = session.sessionState.catalog
  private var late = 0

  /** As the catalog had it when this was opened, or after our own last commit. */
  private[parquet] var meta: CatalogTable = catalog.getTableMetadata(ident)
  private[parquet] def reload(): Unit = meta = catalog.getTableMetadata(ident)

  override def root: Path = fs.makeQualified(new Path(meta.location))
  override def roots: Seq[Path] =
    (root +: new Path(root.getParent, base) +: store.all().flatMap(_.units.flatMap(u =>
      Seq(u.old, u.target))))
      .filter(_.getParent == root.getParent)
  override def store: JournalStore = new JournalStore(fs, root.getParent, base)
  override def identity: String = TableIdentity.of(meta)
  override def schema: StructType = meta.schema
  override def declared: Option[StructType] = Some(meta.dataSchema)
  override def partitionSchema: StructType = meta.partitionSchema
  override def properties: Map[String, String] = meta.properties
  override def state: StateDir = new StateDir(fs, root)
  override def carriedOver: Int = late

  private[parquet] def external: Boolean = meta.tableType == CatalogTableType.EXTERNAL

  /** Its directories are for us to arrange, and DROP takes all that lies in them. */
  private[table] def isManaged: Boolean = meta.tableType == CatalogTableType.MANAGED

  /** Whether a run finds partitions where Spark makes them, which it leaves empty. */
  private lazy val exchanges = isManaged && liveDirs().values.exists(HiddenDirectories.isVisible(root, _))
  override def afterword: Option[String] = if (exchanges) Some(ParquetTable.Exchanged) else None
  override def partitioned: Boolean = meta.partitionColumnNames.nonEmpty

  /** The directory's name before the first run; the later ones of an external table are made from it. */
  private[parquet] def base: String =
    if (isManaged) root.getName else meta.properties.getOrElse(CatalogCommit.BaseProperty, root.getName)

  /** Where a commit puts new directories: beside an external table's, hidden inside a managed one's. */
  private[parquet] def place(txn: String): Path =
    if (isManaged) HiddenDirectories.fresh(root, txn) else new Path(store.parent, s"$base.z$txn")

  /** A file keeps its name in the records wherever its partition moves. */
  override def recorded(file: DataFile): String = {
    val name = new Path(file.path).getName
    if (file.partition.isEmpty) name else s"${file.partition}/$name"
  }

  override def files(): Seq[DataFile] =
    liveDirs().toSeq.flatMap { case (partition, dir) =>
      DirectoryListing.walk(fs, dir).dataFiles(_ => partition)
    }.sortBy(_.path)

  /** The catalog's partitions by their directories as Spark spells the catalog's values. */
  private[parquet] def partitions(): Map[String, CatalogTablePartition] =
    catalog.listPartitions(ident).map { p =>
      PartitioningUtils.getPathFragment(p.spec, meta.partitionSchema) -> p
    }.toMap

  override def liveDirs(): Map[String, Path] =
    if (!partitioned) Map("" -> root)
    else partitions().map { case (fragment, p) => fragment -> fs.makeQualified(new Path(p.location)) }

  /** Partition directories of the catalog by the spelling that a write of the typed values gives. */
  private[parquet] def actual(): Map[String, String] =
    if (!partitioned) Map.empty
    else {
      val zone = session.sessionState.conf.sessionLocalTimeZone
      partitions().map { case (fragment, p) =>
        PathContent.canonical(session, meta.partitionSchema, p.toRow(meta.partitionSchema, zone)) -> fragment
      }
    }

  override def newStaging(runId: String): Path = {
    late += LateFiles.carry(this)
    val txn = Journal.newTxn(runId)
    val staging = place(txn)
    Journal.begin(txn)
    preparing(staging) {
      store.write(draft(txn, "OPTIMIZE", runId, staging).at(JournalState.Staging))
      fs.mkdirs(staging)
      if (!ObjectStores.isOne(fs.getUri.getScheme) && fs.exists(root)) FilePermissions.copy(fs, root, staging)
    }
  }

  override def discard(staging: Path): Unit =
    journalOf(staging).foreach { j =>
      Journal.end(j.txn)
      new CatalogRecovery(this).settle(j.txn)
    }

  override def commit(replacement: Replacement): Unit = {
    val journal = journalOf(replacement.staging).getOrElse(
      throw new IllegalArgumentException(s"${replacement.staging} is not a staging directory of $name"))
    new CatalogCommit(this, CommitWait.of(session)).optimize(journal, replacement)
  }

  private[parquet] def draft(txn: String, operation: String, runId: String, staging: Path): Journal =
    Journal(
      txn,
      "catalog",
      operation,
      JournalState.Staging,
      Journal.thisJvm,
      identity,
      runId,
      System.currentTimeMillis,
      root,
      staging,
      Nil,
      Nil)

  private def journalOf(staging: Path): Option[Journal] = {
    val wanted = fs.makeQualified(staging)
    store.all().find(j =>
      j.kind == "catalog" && fs.makeQualified(j.staging) == wanted &&
        (j.state == JournalState.Staging || j.state == JournalState.Prepared))
  }
}
