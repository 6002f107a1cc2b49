package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.delta.{DeltaLog, Snapshot}
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor, Metadata}
import org.apache.spark.sql.delta.deletionvectors.{RoaringBitmapArray, RoaringBitmapArrayFormat, StoredBitmap}
import org.apache.spark.sql.delta.sources.DeltaSourceUtils
import org.apache.spark.sql.delta.storage.dv.HadoopFileSystemDVStore
import org.apache.spark.sql.delta.zorder.OtherRows
import org.apache.spark.sql.types.{MetadataBuilder, StructType}

/** What others have removed of files since a snapshot: whole files, or rows by deletion vectors. */
final private[delta] class DeltaChanges(table: DeltaClusterTable, log: DeltaLog) {
  private lazy val store = new HadoopFileSystemDVStore(log.newDeltaHadoopConf())

  /** Whether files that were made for one snapshot belong into the other: nothing but rows has changed. */
  def sameTable(before: Snapshot, now: Snapshot): Boolean =
    before.protocol == now.protocol && SameMetadata.butForIdentities(before.metadata, now.metadata) &&
      sameClustering(before, now)

  /** Whether the later snapshot can be one of the same table, and not of another one in its place. */
  def sameIdentity(before: Snapshot, now: Snapshot): Boolean = {
    def identity(snapshot: Snapshot) = (snapshot.metadata.id, snapshot.metadata.createdTime)
    now.version >= before.version && identity(before) == identity(now)
  }

  /** Whether both are liquid, or none is, and Delta clusters by the same columns. */
  def sameClustering(before: Snapshot, now: Snapshot): Boolean = {
    def clustering(snapshot: Snapshot) = {
      val liquid = new LiquidClustering(table.name, "", snapshot)
      (liquid.provider, liquid.columns)
    }
    clustering(before) == clustering(now)
  }

  /**
   * The file with only the rows that it has lost; None if it has lost none.
   *
   * @param now
   *   the same file in the later snapshot, if that has it
   * @return
   *   Left if this cannot be told, or if rows came back
   */
  def lost(before: AddFile, now: Option[AddFile]): Either[Unit, Option[AddFile]] = now match {
    case None => Right(Some(before))
    case Some(add)
        if add.size != before.size || add.baseRowId != before.baseRowId ||
          add.partitionValues != before.partitionValues => Left(())
    case Some(add) if add.deletionVector == before.deletionVector => Right(None)
    case Some(add) =>
      val deleted = bitmap(add)
      val deletedBefore = bitmap(before)
      val back = deletedBefore.copy()
      back.andNot(deleted)
      deleted.andNot(deletedBefore)
      if (back.cardinality > 0) Left(())
      else if (deleted.cardinality == 0) Right(None)
      else before.numPhysicalRecords.map(n => Some(only(before, deleted, n))).toRight(())
  }

  private def bitmap(add: AddFile): RoaringBitmapArray =
    Option(add.deletionVector).fold(new RoaringBitmapArray())(StoredBitmap.create(
      _,
      log.dataPath).load(store))

  /** The file with a deletion vector that leaves these of its `n` rows. */
  private def only(add: AddFile, rows: RoaringBitmapArray, n: Long): AddFile = {
    val others = OtherRows.of(rows, n)
    others.runOptimize()
    val size = others.cardinality
    val vector =
      if (size == 0) null
      else
        DeletionVectorDescriptor.inlineInLog(
          others.serializeAsByteArray(RoaringBitmapArrayFormat.Portable),
          size)
    add.copy(deletionVector = vector)
  }
}

/** Whether two versions of a table have the same metadata. The JSON of a schema may be written in several ways. */
private[delta] object SameMetadata {

  def apply(a: Metadata, b: Metadata): Boolean = same(a, b)(identity)

  /** The highest value that an identity column has given is in the schema, so that each insert changes it. */
  def butForIdentities(a: Metadata, b: Metadata): Boolean = same(a, b)(withoutMarks)

  private def same(a: Metadata, b: Metadata)(compared: StructType => StructType): Boolean =
    a.copy(schemaString = null) == b.copy(schemaString = null) && compared(a.schema) == compared(b.schema)

  private def withoutMarks(schema: StructType): StructType = StructType(schema.map { field =>
    val metadata = new MetadataBuilder().withMetadata(field.metadata)
      .remove(DeltaSourceUtils.IDENTITY_INFO_HIGHWATERMARK)
    field.copy(metadata = metadata.build())
  })
}
