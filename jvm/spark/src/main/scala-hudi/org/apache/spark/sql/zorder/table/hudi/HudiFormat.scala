package org.apache.spark.sql.zorder.table.hudi

import java.util.Locale

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hudi.common.model.{FileSlice, HoodieFileFormat}
import org.apache.hudi.common.table.{HoodieTableMetaClient, HoodieTableVersion, TableSchemaResolver}
import org.apache.hudi.exception.HoodieException
import org.apache.hudi.hadoop.fs.HadoopFSUtils
import org.apache.hudi.internal.schema.InternalSchema
import org.apache.hudi.internal.schema.utils.SerDeHelper
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
      case TableRef.Location(path, _) => at(session, path, path, changes)
      case TableRef.InFormat(format, path) if format.equalsIgnoreCase(FormatDescriptor.Hudi.id) =>
        at(session, s"hudi.`$path`", path, changes).orElse(
          refuse(
            "ZORDER_TABLE_NOT_FOUND.FORMAT_PATH",
            "format" -> FormatDescriptor.Hudi.name,
            "path" -> path))
      case TableRef.Name(parts) if Provider.of(session, parts).exists(FormatDescriptor.Hudi.isProvider) =>
        val name = ref.text
        ActiveSession.during(session)(Provider.load(session, parts)).flatMap(HudiFormat.inCatalog).map {
          table =>
            val path = table.location.toString
            if (!HudiFormat.isTable(session, path))
              throw new NoRowsYetException(
                "ZORDER_NO_ROWS_YET.HUDI_WITHOUT_COMMIT",
                "table" -> name,
                "path" -> path)
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
          refuse(
            "ZORDER_TABLE_REFUSED.HUDI_NOT_OPENED",
            "table" -> name,
            "cause" -> ZOrderException.firstLine(e))
      }
    HudiRefusals.table(name, meta)
    HudiRefusals.index(session, name, catalog)
    if (changes) DeadRuns.rollBack(session, meta, HudiClient.settings(HudiFormat.properties(catalog)))
    new HudiClusterTable(session, name, meta, catalog, changes)
  }
}

private[hudi] object HudiFormat {

  /** Hudi's metadata of a table, freshly read. */
  def metaClient(session: ClassicSession, path: String): HoodieTableMetaClient =
    metaClient(session.sessionState.newHadoopConf(), path)

  def metaClient(conf: Configuration, path: String): HoodieTableMetaClient =
    HoodieTableMetaClient.builder().setBasePath(path).setConf(HadoopFSUtils.getStorageConfWithCopy(
      conf)).build()

  def properties(catalog: Option[CatalogTable]): Map[String, String] =
    catalog.fold(Map.empty[String, String])(t => t.storage.properties ++ t.properties)

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

  /** Ids of file groups under Hudi's bucket index: they begin with the bucket's number in eight digits. */
  private val Bucket = "(\\d{8})-.*".r
  private val MostBuckets = 100000
  private val IndexType = "hoodie.index.type"
  private val SchemaOnRead = "hoodie.schema.on.read.enable"
  private val TableVersion = "hoodie.write.table.version"

  /** The last table version of Hudi 0.x. */
  private val LastOfFirst = 6

  /** Checks the session's settings. */
  def session(session: ClassicSession, name: String): Unit =
    if (session.sparkContext.getConf.get("spark.serializer", "") != Kryo)
      refuse("ZORDER_SESSION_REFUSED.HUDI_SERIALIZER", "table" -> name, "value" -> Kryo)

  /** Checks the table's properties. */
  def table(name: String, meta: HoodieTableMetaClient): Unit = {
    val config = meta.getTableConfig
    if (!config.populateMetaFields)
      refuse("ZORDER_TABLE_REFUSED.HUDI_WITHOUT_META_FIELDS", "table" -> name)
    if (config.getBaseFileFormat != HoodieFileFormat.PARQUET)
      refuse(
        "ZORDER_TABLE_REFUSED.HUDI_NOT_PARQUET",
        "table" -> name,
        "format" -> config.getBaseFileFormat.name.toLowerCase(Locale.ROOT))
    if (config.getBootstrapBasePath.isPresent)
      refuse(
        "ZORDER_TABLE_REFUSED.HUDI_BOOTSTRAPPED",
        "table" -> name,
        "path" -> config.getBootstrapBasePath.get)
    if (config.shouldDropPartitionColumns)
      refuse("ZORDER_TABLE_REFUSED.HUDI_WITHOUT_PARTITION_COLUMNS", "table" -> name)
  }

  /** Checks whether Hudi's client, which upgrades no table for a clustering, writes the table's own version. */
  def version(
      session: ClassicSession,
      name: String,
      meta: HoodieTableMetaClient,
      catalog: Option[CatalogTable]): Unit = {
    val table = meta.getTableConfig.getTableVersion.versionCode
    val asked = session.conf.getOption(TableVersion).orElse(HudiFormat.properties(catalog).get(TableVersion))
    val written =
      asked.flatMap(v => Try(v.trim.toInt).toOption).getOrElse(HoodieTableVersion.current().versionCode)
    // tables from 1.0 on are written by clients of an older version, too
    if (written > table || written < table && table <= LastOfFirst)
      refuse(
        "ZORDER_TABLE_REFUSED.HUDI_TABLE_VERSION",
        "table" -> name,
        "version" -> table,
        "client" -> written,
        "setting" -> TableVersion)
  }

  /** Checks the settings for Hudi's client: it fails on a bucket index in many ways. */
  def index(session: ClassicSession, name: String, catalog: Option[CatalogTable]): Unit = {
    def isBucket(value: Option[String]) = value.exists(_.trim.equalsIgnoreCase("BUCKET"))
    if (isBucket(HudiFormat.properties(catalog).get(IndexType))) bucketIndex(name)
    if (isBucket(session.conf.getOption(IndexType)))
      refuse("ZORDER_SESSION_REFUSED.HUDI_BUCKET_INDEX", "table" -> name, "setting" -> IndexType)
  }

  /** Refuses rows that are not in base files. */
  def logFiles(name: String, meta: HoodieTableMetaClient, slices: Seq[FileSlice]): Unit =
    slices.find(s => s.hasLogFiles || !s.getBaseFile.isPresent).foreach { slice =>
      refuse(
        "ZORDER_FILE_REFUSED.HUDI_LOG_FILES",
        "group" -> slice.getFileId,
        "table" -> name,
        "location" -> TableRef.Location(meta.getBasePath.toString).sql)
    }

  /** Checks what all files of the table are called. */
  def bucketed(name: String, meta: HoodieTableMetaClient, slices: Seq[FileSlice]): Unit =
    if (isBucketed(meta, slices)) bucketIndex(name)

  /**
   * Checks what the files' columns are called. Under Hudi's schema on read a file may have values under a name that
   * has come to mean another column, or none.
   */
  def schema(session: ClassicSession, name: String, meta: HoodieTableMetaClient): Unit = {
    val resolver = new TableSchemaResolver(meta)
    val current = resolver.getTableInternalSchemaFromCommitMetadata
    if (current.isPresent) {
      if (!session.conf.getOption(SchemaOnRead).exists(_.trim.equalsIgnoreCase("true")))
        refuse("ZORDER_SESSION_REFUSED.HUDI_SCHEMA_ON_READ", "table" -> name, "setting" -> SchemaOnRead)
      val history = resolver.getTableHistorySchemaStrFromCommitMetadata
      val earlier =
        if (history.isPresent) SerDeHelper.parseSchemas(history.get).values.asScala.toSeq else Nil
      (earlier.flatMap(columns).toSet -- columns(current.get)).map(_._1).toSeq.sorted.headOption.foreach {
        column =>
          refuse("ZORDER_TABLE_REFUSED.HUDI_CHANGED_COLUMN", "column" -> column, "table" -> name)
      }
    }
  }

  /** The columns, at any depth, and Hudi's ids of them. A column that is added again has a new one. */
  private def columns(schema: InternalSchema): Set[(String, Int)] =
    schema.getAllIds.asScala.map(id => schema.findFullName(id) -> id.intValue).toSet

  /** Refuses files that others are about to change. */
  def planned(name: String, snapshot: HudiSnapshot, slices: Seq[FileSlice]): Unit =
    slices.flatMap(s => snapshot.pending.get(s.getFileGroupId)).headOption.foreach { instant =>
      throw new ZOrderConflictException("ZORDER_CONFLICT.HUDI_PLANNED", "table" -> name, "instant" -> instant)
    }

  private def bucketIndex(name: String): Nothing =
    refuse("ZORDER_TABLE_REFUSED.HUDI_BUCKET_INDEX", "table" -> name, "setting" -> IndexType)

  private def isBucketed(meta: HoodieTableMetaClient, slices: Seq[FileSlice]): Boolean = {
    val hashing = new Path(meta.getHashingMetadataPath)
    def numbered = slices.nonEmpty && slices.forall(_.getFileId match {
      case Bucket(n) => n.toInt < MostBuckets
      case _ => false
    })
    hashing.getFileSystem(meta.getStorageConf.unwrapAs(classOf[org.apache.hadoop.conf.Configuration]))
      .exists(hashing) || numbered
  }
}
