package org.apache.spark.sql.zorder.table.hudi

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.hudi.common.model.{FileSlice, HoodieFileFormat}
import org.apache.hudi.common.table.HoodieTableMetaClient

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

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
