package org.apache.spark.sql.zorder.table.hudi

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.hudi.common.model.{FileSlice, HoodieFileFormat}
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.exception.HoodieException
import org.apache.hudi.hadoop.fs.HadoopFSUtils
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.connector.catalog.{Table, V1Table, V2TableWithV1Fallback}
import org.apache.spark.sql.zorder.errors.{NoRowsYetException, ZOrderConflictException, ZOrderException}
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

/** Refuses Hudi tables that we must not rewrite. */
private[hudi] object HudiRefusals {
  private val Kryo = "org.apache.spark.serializer.KryoSerializer"

  /** With Hudi's bucket index, ids of file groups begin with the number of the bucket in eight digits. */
  private val Bucket = "(\\d{8})-.*".r
  private val MostBuckets = 100000
  private val IndexType = "hoodie.index.type"

  /** Checks the session's settings. */
  def session(session: ClassicSession, name: String): Unit =
    if (session.sparkContext.getConf.get("spark.serializer", "") != Kryo)
      refuse(s"$name is a Hudi table, and Hudi can only write with Kryo's serializer; start Spark with " +
        s"spark.serializer = $Kryo.")

  /** Checks the table's properties. */
  def table(name: String, meta: HoodieTableMetaClient): Unit = {
    val config = meta.getTableConfig
    if (!config.populateMetaFields)
      refuse(
        s"$name was created with hoodie.populate.meta.fields = false, and rows without Hudi's meta fields " +
          "cannot be moved; copy it into a table that has them (CREATE TABLE ... USING hudi AS SELECT).")
    if (config.getBaseFileFormat != HoodieFileFormat.PARQUET)
      refuse(
        s"$name is stored as ${config.getBaseFileFormat.name.toLowerCase(Locale.ROOT)}, and only Parquet files can be " +
          "clustered; copy it into a table with hoodie.table.base.file.format = PARQUET.")
    if (config.getBootstrapBasePath.isPresent)
      refuse(
        s"$name was bootstrapped from ${config.getBootstrapBasePath.get}, and its rows are still there; run " +
          "Hudi's own CALL run_clustering once, which writes them into the table.")
    if (config.shouldDropPartitionColumns)
      refuse(s"$name leaves its partition columns out of the files (hoodie.datasource.write.drop.partition.columns), " +
        "and a clustering would lose them; copy it into a table that keeps them (CREATE TABLE ... USING hudi AS SELECT).")
  }

  /** Checks the settings for Hudi's client: it fails on a bucket index in many ways. */
  def index(session: ClassicSession, name: String, catalog: Option[CatalogTable]): Unit = {
    def isBucket(value: Option[String]) = value.exists(_.trim.equalsIgnoreCase("BUCKET"))
    val properties = catalog.fold(Map.empty[String, String])(t => t.storage.properties ++ t.properties)
    if (isBucket(properties.get(IndexType))) bucketIndex(name)
    if (isBucket(session.conf.getOption(IndexType)))
      refuse(
        s"The session sets $IndexType to BUCKET, so Hudi's client would take $name for a table with a bucket " +
          s"index, which cannot be clustered; if it has none, RESET $IndexType first.")
  }

  /** Checks the files, before a run begins. */
  def files(name: String, meta: HoodieTableMetaClient, snapshot: HudiSnapshot): Unit = {
    snapshot.slices.find(s => s.hasLogFiles || !s.getBaseFile.isPresent).foreach { slice =>
      refuse(
        s"File group ${slice.getFileId} of $name has changes that wait in log files; run CALL run_compaction(" +
          s"op => 'scheduleAndExecute', path => '${meta.getBasePath}', options => " +
          "'hoodie.compact.inline.max.delta.commits=1') first.")
    }
    if (bucketed(meta, snapshot.slices)) bucketIndex(name)
  }

  /** Refuses files that others are about to change. */
  def planned(name: String, snapshot: HudiSnapshot): Unit =
    snapshot.slices.flatMap(s => snapshot.pending.get(s.getFileGroupId)).headOption.foreach { instant =>
      throw new ZOrderConflictException(
        s"Files of $name are in a clustering or a compaction that is planned ($instant) and not finished; let it " +
          "end first.")
    }

  private def bucketIndex(name: String): Nothing =
    refuse(
      s"$name has a bucket index, by which Hudi finds a row's file from its key alone, and clustering by " +
        s"other columns would break it; recreate the table with another $IndexType.")

  private def bucketed(meta: HoodieTableMetaClient, slices: Seq[FileSlice]): Boolean = {
    val hashing = new Path(meta.getHashingMetadataPath)
    def numbered = slices.nonEmpty && slices.forall(_.getFileId match {
      case Bucket(n) => n.toInt < MostBuckets
      case _ => false
    })
    hashing.getFileSystem(meta.getStorageConf.unwrapAs(classOf[org.apache.hadoop.conf.Configuration]))
      .exists(hashing) || numbered
  }
}
