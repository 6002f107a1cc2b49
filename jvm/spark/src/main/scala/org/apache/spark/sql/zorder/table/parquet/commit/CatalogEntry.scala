package org.apache.spark.sql.zorder.table.parquet.commit

import java.net.URI

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogTable,
  CatalogTablePartition,
  CatalogTableType,
  SessionCatalog
}
import org.apache.spark.sql.execution.datasources.PartitioningUtils
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, HiddenDirectories}
import org.apache.spark.sql.zorder.table.parquet.journal.{JournalStore, TableIdentity}
import org.apache.spark.sql.zorder.table.parquet.read.PathContent

/** A Parquet table as Spark's catalog has it: its location, its partitions, its properties. */
private[zorder] final class CatalogEntry(
    val session: ClassicSession,
    val name: String,
    val ident: TableIdentifier,
    val fs: FileSystem) {

  val catalog: SessionCatalog = session.sessionState.catalog
  private var read: CatalogTable = catalog.getTableMetadata(ident)

  /** As the catalog had it when the table was opened, or after our own last commit. */
  def meta: CatalogTable = read
  def reload(): Unit = read = catalog.getTableMetadata(ident)

  def root: Path = fs.makeQualified(new Path(meta.location))
  def store: JournalStore = new JournalStore(fs, root.getParent, base)
  def state: StateDir = new StateDir(fs, root)

  /** What journals call this table. */
  def identity: String = TableIdentity.of(meta)

  def partitioned: Boolean = meta.partitionColumnNames.nonEmpty
  def external: Boolean = meta.tableType == CatalogTableType.EXTERNAL

  /** We may arrange its directories as we like, and DROP deletes everything in them. */
  def isManaged: Boolean = meta.tableType == CatalogTableType.MANAGED

  /** The directory's name before the first run. The names of an external table's later directories begin with it. */
  def base: String =
    if (isManaged) root.getName else meta.properties.getOrElse(CatalogCommit.BaseProperty, root.getName)

  /** Where a commit puts new directories: beside an external table's, hidden inside a managed one's. */
  def newDirectory(txn: String): Path =
    if (isManaged) HiddenDirectories.fresh(root, txn) else new Path(store.parent, s"$base.z$txn")

  /** The directory of a run that `dir` lies in, if it does. */
  def topOf(dir: Path): Option[Path] = HiddenDirectories.topOf(root, dir).orElse(
    Iterator.iterate(dir)(_.getParent).takeWhile(_ != null).find(d =>
      d.getParent == store.parent && d.getName.startsWith(s"$base.z")))

  /** Where the data of each partition was before the first run over it. */
  def homes(): Map[String, Path] = {
    val recorded = state.homes()
    val top = if (isManaged || partitioned) root else new Path(root.getParent, base)
    liveDirs().map { case (partition, dir) =>
      val home = recorded.get(partition).map(uri => fs.makeQualified(new Path(new URI(uri))))
      partition -> home.getOrElse(if (topOf(dir).isDefined) SwapPlan.below(top, partition) else dir)
    }
  }

  /** The partitions by their directories, with the catalog's values as Spark spells them. */
  def partitions(): Map[String, CatalogTablePartition] =
    catalog.listPartitions(ident).map { p =>
      PartitioningUtils.getPathFragment(p.spec, meta.partitionSchema) -> p
    }.toMap

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path] =
    if (!partitioned) Map("" -> root)
    else partitions().map { case (fragment, p) => fragment -> fs.makeQualified(new Path(p.location)) }

  /** The data files of all partitions: those that Spark reads, which lie directly in a partition's directory. */
  def files(): Seq[DataFile] = liveDirs().toSeq.flatMap { case (partition, dir) =>
    val tree = DirectoryListing.walk(fs, dir)
    tree.copy(files = tree.files.filter(f => !partitioned || !f.rel.contains('/'))).dataFiles(_ => partition)
  }.sortBy(_.path)

  /** The catalog's partition directories by the directories that a write of the typed values makes. */
  def actual(): Map[String, String] =
    if (!partitioned) Map.empty
    else {
      val zone = session.sessionState.conf.sessionLocalTimeZone
      partitions().map { case (fragment, p) =>
        PathContent.canonical(session, meta.partitionSchema, p.toRow(meta.partitionSchema, zone)) -> fragment
      }
    }
}
