package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.unsafe.types.UTF8String

/** What Spark reads from a directory of Parquet files. */
private[zorder] object PathContent {

  /**
   * @param dataSchema
   *   of the files, as Spark infers it (of one file, unless the session merges schemas)
   * @param actual
   *   the partition directories by the spelling that Spark writes: `month=1` -> `month=01`
   */
  final case class Content(dataSchema: StructType, partitionSchema: StructType, actual: Map[String, String])

  def read(session: ClassicSession, root: Path): Content = {
    val index = new InMemoryFileIndex(session, Seq(root), Map.empty[String, String], None)
    val files = index.allFiles().filter(_.getLen > 0)
    val spec = index.partitionSpec()
    val inFiles =
      if (files.isEmpty) new StructType()
      else new ParquetFileFormat().inferSchema(session, Map.empty, files.toSeq).getOrElse(new StructType())
    val resolver = session.sessionState.conf.resolver
    spec.partitionColumns.fieldNames.find(p => inFiles.fieldNames.exists(resolver(_, p))).foreach { p =>
      refuse(s"The partition column $p is also stored in the files of $root; " +
        "write the table once by Spark (partitionBy), which leaves it out of the files.")
    }
    val base = s"${root.toUri.getPath.stripSuffix("/")}/"
    val actual = spec.partitions.map { p =>
      canonical(session, spec.partitionColumns, p.values) -> p.path.toUri.getPath.stripPrefix(base)
    }
    actual.groupBy(_._1).find(_._2.size > 1).foreach { case (fragment, dirs) =>
      refuse(s"The directories ${dirs.map(_._2).sorted.mkString(" and ")} of $root are both the partition " +
        s"$fragment; move the files into one of them.")
    }
    Content(inFiles, spec.partitionColumns, actual.toMap)
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
