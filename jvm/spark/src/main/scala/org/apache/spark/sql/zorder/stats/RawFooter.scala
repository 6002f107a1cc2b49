package org.apache.spark.sql.zorder.stats

import java.io.ByteArrayInputStream
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.Version
import org.apache.parquet.format.{FileMetaData, LogicalType, SchemaElement, Util}

import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * A footer as it is in the file, for two things that Parquet's library hides: it fails with a null pointer at logical
 * types newer than itself, and it drops the annotation of columns that have no type.
 */
private[stats] object RawFooter {
  private val Tail = 8
  private val Magic = "PAR1".getBytes(StandardCharsets.US_ASCII)

  /** Top-level columns with a logical type that Parquet's library does not know. */
  def unknownTypes(conf: Configuration, file: DataFile): Seq[UnreadableColumn] =
    leaves(conf, file).collect {
      case (path, leaf) if logical(leaf).exists(_.getSetField == null) =>
        val length = if (leaf.isSetType_length) s"(${leaf.getType_length})" else ""
        val why =
          s"${path.mkString(".")} is ${leaf.getType}$length with a logical type, such as float16, that is " +
            s"younger than Parquet ${Version.VERSION_NUMBER}"
        UnreadableColumn(path.head, why, UnreadableColumnHints.otherType(""))
    }

  /** Leaves of no type, as writers make them that have seen only NULL. */
  def untyped(conf: Configuration, file: DataFile): Set[Seq[String]] =
    leaves(conf, file).collect { case (path, leaf) if logical(leaf).exists(_.isSetUNKNOWN) => path }.toSet

  private def logical(leaf: SchemaElement): Option[LogicalType] =
    if (leaf.isSetLogicalType) Some(leaf.getLogicalType) else None

  /** Empty if the footer cannot be read at all: the caller has its own error for that. */
  private def leaves(conf: Configuration, file: DataFile): Seq[(Seq[String], SchemaElement)] =
    Try(read(conf, file)).toOption.toSeq.flatMap { meta =>
      val elements = meta.getSchema.asScala.iterator
      def below(group: SchemaElement, path: Seq[String]): Seq[(Seq[String], SchemaElement)] =
        (0 until group.getNum_children).flatMap { _ =>
          val element = elements.next()
          val at = path :+ element.getName
          if (element.getNum_children > 0) below(element, at) else Seq(at -> element)
        }
      below(elements.next(), Nil)
    }

  private def read(conf: Configuration, file: DataFile): FileMetaData = {
    val in = new ListedParquetFile(conf, file).newStream()
    try {
      val tail = new Array[Byte](Tail)
      in.seek(file.length - Tail)
      in.readFully(tail)
      val length = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt
      // of a file that is no Parquet, any number: an array of that size may be more than the heap
      require(
        length >= 0 && length <= file.length - Tail && tail.endsWith(Magic),
        s"${file.path} has no footer")
      val bytes = new Array[Byte](length)
      in.seek(file.length - Tail - length)
      in.readFully(bytes)
      Util.readFileMetaData(new ByteArrayInputStream(bytes))
    } finally in.close()
  }
}
