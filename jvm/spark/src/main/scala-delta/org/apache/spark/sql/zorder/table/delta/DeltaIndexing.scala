package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.delta.{DeltaColumnMapping, DeltaLog, NoMapping, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.FormatIndexing
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/**
 * How an index reads a snapshot of a Delta table.
 *
 * @param declared
 *   the columns of the files
 */
final private[delta] class DeltaIndexing(
    log: DeltaLog,
    snapshot: Snapshot,
    declared: StructType,
    adds: => Map[String, AddFile])
    extends FormatIndexing {

  /** Without mapping, files have the names of the table, whatever names of files were left in its schema. */
  override lazy val schema: StructType =
    if (snapshot.columnMappingMode == NoMapping) DeltaColumnMapping.dropColumnMappingMetadata(declared)
    else declared

  override lazy val identities: Map[String, String] = DeltaIndexing.identities(snapshot)

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition]): InputRelation =
    DeltaRows(session, log, snapshot, partitions, whole)

  /** The files without the vectors that mark rows as deleted. */
  private lazy val whole: Map[String, AddFile] = adds.map { case (path, add) =>
    path -> (if (add.deletionVector == null) add else add.copy(deletionVector = null))
  }
}

private[zorder] object DeltaIndexing {

  /**
   * What files have under the names of the columns: the names in files, which are never used again in this table. A
   * directory may have had another table before, whose files had the same names.
   */
  def identities(snapshot: Snapshot): Map[String, String] = {
    val isMapped = snapshot.columnMappingMode != NoMapping
    def named(field: StructField): String = {
      val name = if (isMapped) DeltaColumnMapping.getPhysicalName(field) else field.name
      ColumnPath.sql(Seq(name)) + inside(field.dataType)
    }
    def inside(dataType: DataType): String = dataType match {
      case s: StructType =>
        // an index asks for fields by their names, which may be given to each other
        s.fields.map(f => s"${ColumnPath.sql(Seq(f.name))}=${named(f)}").mkString("(", ",", ")")
      case ArrayType(element, _) => s"[${inside(element)}]"
      case MapType(key, value, _) => s"{${inside(key)},${inside(value)}}"
      case _ => ""
    }
    snapshot.schema.fields.map(f =>
      f.name -> FormatIndexing.identity(s"${snapshot.metadata.id} ${named(f)}")).toMap
  }

  /** The full path of a file of the log. */
  def located(root: Path, path: String): Path =
    DeltaFileOperations.absolutePath(root.toString, path).makeQualified(root.toUri, root)
}
