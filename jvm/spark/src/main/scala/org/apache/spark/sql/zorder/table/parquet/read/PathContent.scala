package org.apache.spark.sql.zorder.table.parquet.read

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.execution.datasources.{FileStatusCache, InMemoryFileIndex}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.file.{DataFile, PathText}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, ListedFile}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.HadoopFSUtils

/** The schema and the partitions that Spark reads from a directory of Parquet files. */
private[zorder] object PathContent {

  /**
   * @param dataSchema
   *   of the files, as Spark infers it (from one file, unless the session merges schemas)
   * @param dirByName
   *   the partition directories by the names that Spark would write: `month=1` -> `month=01`
   */
  final case class Content(
      dataSchema: StructType,
      partitionSchema: StructType,
      dirByName: Map[String, String])

  /**
   * @param tree
   *   listing of the directory, so that Spark need not list it again
   */
  def read(session: ClassicSession, root: Path, tree: DirectoryListing): Content = {
    val listed = new Listed(root, tree)
    val index = new InMemoryFileIndex(session, Seq(root), Map.empty[String, String], None, listed)
    val files = index.allFiles().filter(_.getLen > 0)
    val spec = index.partitionSpec()
    val inFiles =
      if (files.isEmpty) new StructType()
      else inferred(session, root, files.toSeq)
    val resolver = session.sessionState.conf.resolver
    spec.partitionColumns.fieldNames.find(p => inFiles.fieldNames.exists(resolver(_, p))).foreach { p =>
      refuse("ZORDER_TABLE_REFUSED.PARTITION_COLUMN_IN_FILES", "column" -> p, "path" -> root)
    }
    val base = s"${PathText.of(root)}/"
    val dirs = spec.partitions.map { p =>
      canonical(session, spec.partitionColumns, p.values) -> p.path.toUri.getPath.stripPrefix(base)
    }
    Content(inFiles, spec.partitionColumns, byValues(root, dirs))
  }

  /** Partition directories by the names that Spark would write. Two of one name are refused. */
  def byValues(root: Path, dirs: Seq[(String, String)]): Map[String, String] = {
    dirs.groupBy(_._1).find(_._2.size > 1).foreach { case (fragment, several) =>
      refuse(
        "ZORDER_DIRECTORY_REFUSED.TWO_FOR_ONE_PARTITION",
        "dirs" -> several.map(_._2).sorted.mkString(" and "),
        "path" -> root,
        "partition" -> fragment)
    }
    dirs.toMap
  }

  /** If Spark fails at a file, our own reading of the footers says at which, and what to do. */
  private def inferred(session: ClassicSession, root: Path, files: Seq[FileStatus]): StructType =
    try new ParquetFileFormat().inferSchema(session, Map.empty, files).getOrElse(new StructType())
    catch {
      case NonFatal(e) =>
        val data = files.map(f => DataFile(f.getPath.toString, f.getLen, f.getModificationTime, ""))
        throw SchemaUnion.refusal(session, root.toString, data).getOrElse(e)
    }

  /** The files of the root that Spark would list. */
  final private class Listed(root: Path, tree: DirectoryListing) extends FileStatusCache {
    private def isSeen(file: ListedFile): Boolean =
      !file.rel.split('/').exists(name => HadoopFSUtils.shouldFilterOutPathName(name))

    override def getLeafFiles(path: Path): Option[Array[FileStatus]] =
      if (path != root) None
      else Some(tree.files.zip(tree.statuses).collect { case (f, status) if isSeen(f) => status }.toArray)

    override def putLeafFiles(path: Path, leafFiles: Array[FileStatus]): Unit = ()
    override def invalidateAll(): Unit = ()
  }

  /** The directories that Spark writes for these partition values. */
  def canonical(session: ClassicSession, columns: StructType, values: InternalRow): String =
    columns.fields.zipWithIndex.map { case (field, i) =>
      val value = Literal(values.get(i, field.dataType), field.dataType)
      val zone = Some(session.sessionState.conf.sessionLocalTimeZone)
      val text = Cast(value, StringType, zone).eval().asInstanceOf[UTF8String]
      ExternalCatalogUtils.getPartitionPathString(field.name, if (text == null) null else text.toString)
    }.mkString("/")
}
