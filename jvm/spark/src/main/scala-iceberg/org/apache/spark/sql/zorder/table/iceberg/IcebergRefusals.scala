package org.apache.spark.sql.zorder.table.iceberg

import java.io.IOException
import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{BaseMetadataTable, FileFormat, FileScanTask, HasTableOperations, Table}

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** Refuses Iceberg tables that we must not rewrite. */
private[iceberg] object IcebergRefusals {

  /** Checks the table's metadata. */
  def table(session: ClassicSession, name: String, table: Table): Unit = {
    if (table.isInstanceOf[BaseMetadataTable] || !table.isInstanceOf[HasTableOperations])
      refuse(s"$name shows the metadata of an Iceberg table; name the table itself.")
    try new Path(table.location).getFileSystem(session.sessionState.newHadoopConf())
    catch {
      case e: IOException =>
        refuse(s"The footers of $name are read through Hadoop's file systems, and none reaches " +
          s"${table.location} (${ZOrderException.firstLine(e)}); add one, such as hadoop-aws for s3a, and map " +
          "the scheme to it by spark.hadoop.fs.<scheme>.impl.")
    }
    ()
  }

  /** Checks all files of a snapshot, even those that WHERE leaves out: these cannot be read. */
  def files(name: String, tasks: Iterable[FileScanTask]): Unit = {
    tasks.map(_.file).find(_.format != FileFormat.PARQUET).foreach { f =>
      refuse(
        s"File ${f.location} of $name is stored as ${f.format.toString.toLowerCase(Locale.ROOT)}, and only " +
          s"Parquet files can be clustered; set write.format.default to parquet and ${rewrite(name)}.")
    }
    tasks.map(_.file).find(_.keyMetadata != null).foreach { f =>
      refuse(s"File ${f.location} of $name is encrypted: encrypted tables are not rewritten; leave it.")
    }
  }

  /** Checks the files that a run would rewrite: new files would belong to other partitions. */
  def partitioning(name: String, table: Table, tasks: Iterable[FileScanTask]): Unit =
    tasks.map(_.file).find(_.specId != table.spec.specId).foreach { f =>
      refuse(
        s"File ${f.location} of $name was written before the table's partitioning was changed; leave it out " +
          s"by WHERE, or ${rewrite(name)}.")
    }

  private def rewrite(name: String): String =
    s"run CALL <catalog>.system.rewrite_data_files(table => '$name', options => " +
      "map('rewrite-all', 'true')) first, which writes all files anew"
}
