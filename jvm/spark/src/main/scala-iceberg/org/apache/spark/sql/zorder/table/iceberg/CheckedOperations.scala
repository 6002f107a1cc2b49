package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.{TableMetadata, TableOperations}
import org.apache.iceberg.encryption.EncryptionManager
import org.apache.iceberg.io.{FileIO, LocationProvider}

/**
 * A table's own operations with a check before each commit. Iceberg may read the table again within a commit, so this is
 * the one place that sees what the new metadata replaces: if somebody is faster after the check, Iceberg refuses the
 * commit, tries again, and the check is made again.
 */
abstract private[iceberg] class CheckedOperations(own: TableOperations) extends TableOperations {

  /** Throws what the commit fails with. */
  protected def check(base: TableMetadata, next: TableMetadata): Unit

  override def commit(base: TableMetadata, next: TableMetadata): Unit = {
    check(base, next)
    own.commit(base, next)
  }

  override def current(): TableMetadata = own.current()
  override def refresh(): TableMetadata = own.refresh()
  override def io(): FileIO = own.io()
  override def encryption(): EncryptionManager = own.encryption()
  override def metadataFileLocation(name: String): String = own.metadataFileLocation(name)
  override def locationProvider(): LocationProvider = own.locationProvider()
  override def temp(uncommitted: TableMetadata): TableOperations = own.temp(uncommitted)
  override def newSnapshotId(): Long = own.newSnapshotId()
  override def requireStrictCleanup(): Boolean = own.requireStrictCleanup()
}
