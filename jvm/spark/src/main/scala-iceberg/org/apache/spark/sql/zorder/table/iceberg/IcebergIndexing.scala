package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{ContentFile, FileScanTask, HasTableOperations, Schema, Table}
import org.apache.iceberg.hadoop.HadoopFileIO
import org.apache.iceberg.mapping.NameMapping
import org.apache.iceberg.types.{Type, Types}
import org.apache.spark.sql.types.{MetadataBuilder, StructType}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.sql.zorder.table.FormatIndexing
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * How an index reads a snapshot of an Iceberg table.
 *
 * @param tasks
 *   of the files of the snapshot, by path
 */
final private[iceberg] class IcebergIndexing(
    table: Table,
    staged: StagedTasks,
    tasks: => Map[String, FileScanTask])
    extends FormatIndexing {

  /** A catalog gives all sessions the same table, whose schema others may change while an index is made. */
  private val now = table.schema

  /**
   * Without the columns that were a partition by themselves in some spec: Iceberg takes their values from the manifests.
   * A file without a column may have a default of it.
   */
  override lazy val schema: StructType = {
    val constant = IcebergIndexing.constants(table)
    StructType(IcebergColumns.of(now).filterNot(f => constant(f.name)).map { f =>
      val marked = new MetadataBuilder().withMetadata(f.metadata).putBoolean(StatColumn.AbsentIsUnknown, true)
      f.copy(metadata = marked.build())
    })
  }

  override lazy val identities: Map[String, String] = IcebergIndexing.identities(table, now)

  override def generation(file: DataFile): Long = IcebergIndexing.generation(tasks(file.path).file)

  /** Without the deletes of the snapshot. */
  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition]): InputRelation = {
    if (!table.schema.sameSchema(now))
      throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_COMMIT", "table" -> table.name)
    val whole = partitions.flatMap(_.files).map { f =>
      f.path -> UncommittedFile.task(table, tasks(f.path).file)
    }
    IcebergRows(session, table, staged, partitions, whole.toMap)
  }
}

private[zorder] object IcebergIndexing {

  /**
   * Whether an index can lie beside the table. Where Iceberg reads by other means than Hadoop's, or by settings of the
   * catalog's own, Hadoop may wait for credentials that nobody gave it, at every query. Tables of version 1 do not count
   * commits, which tell a file from another one that takes its name later.
   */
  def isPossible(session: ClassicSession, table: Table): Boolean =
    table.io.isInstanceOf[HadoopFileIO] && (table match {
      case known: HasTableOperations => known.operations.current.formatVersion > 1
      case _ => true
    }) && !IcebergReach.hasOwnSettings(session, table)

  /**
   * The commit that brought the file in: `add_files` takes files by the names that others gave them, and may do so again
   * when they have been written anew.
   */
  def generation(file: ContentFile[_]): Long = Option(file.fileSequenceNumber).fold(0L)(_.longValue)

  /**
   * What files have under the names of the columns: field ids in this table, and of files that have none, the names that
   * stand for these ids. A location may have had another table before, whose files had the same names.
   */
  def identities(table: Table, schema: Schema): Map[String, String] = {
    val names = IcebergColumns.mapping(table)
    val id = table match {
      case known: HasTableOperations => known.operations.current.uuid
      case _ => table.name
    }
    schema.columns.asScala.map(f => f.name -> FormatIndexing.identity(s"$id ${numbered(f, names)}")).toMap
  }

  private def numbered(field: Types.NestedField, names: Option[NameMapping]): String =
    s"${field.fieldId}${names.fold("")(named(field, _))}${inside(field.`type`, names)}"

  /** Iceberg writes the mapping anew with each column that is added, so that others' names must not count. */
  private def named(field: Types.NestedField, names: NameMapping): String =
    Option(names.find(field.fieldId)).fold("-") { mapped =>
      mapped.names.asScala.toSeq.sorted.map(name => ColumnPath.sql(Seq(name))).mkString("[", ",", "]")
    }

  /** An index asks for fields by their names, which may be given to each other. */
  private def inside(own: Type, names: Option[NameMapping]): String =
    if (!own.isNestedType) ""
    else own.asNestedType.fields.asScala
      .map(f => s"${ColumnPath.sql(Seq(f.name))}=${numbered(f, names)}").mkString("(", ",", ")")

  /** Top-level columns by which files of some spec are partitioned. */
  private def constants(table: Table): Set[String] = {
    val sources = table.specs.values.asScala.flatMap(_.fields.asScala).filter(_.transform.isIdentity)
    sources.flatMap(f => Option(table.schema.findColumnName(f.sourceId))).map { name =>
      // a field of a struct takes the whole struct with it
      table.schema.columns.asScala.map(_.name).find(c => name == c || name.startsWith(s"$c.")).getOrElse(name)
    }.toSet
  }
}
