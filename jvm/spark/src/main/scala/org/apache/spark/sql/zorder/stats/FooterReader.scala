package org.apache.spark.sql.zorder.stats

import java.io.{EOFException, IOException}

import scala.collection.mutable
import scala.collection.JavaConverters._
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, Path}
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.crypto.ParquetCryptoRuntimeException
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{
  BlockMetaData,
  ColumnChunkMetaData,
  CompressionCodecName,
  FileMetaData
}
import org.apache.parquet.hadoop.metadata.CompressionCodecName._
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.{InputFile, ParquetDecodingException}
import org.apache.parquet.schema.{MessageType, PrimitiveType}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{Block, NormalizedLong, NormalizedValue, Zone}

/** Reads footers one by one; schemas that recur are kept once. Lives inside one task. */
private[stats] final class FooterReader(
    conf: Configuration,
    columns: Seq[StatColumn],
    caseSensitive: Boolean) {
  private val schemas = mutable.HashMap.empty[(MessageType, Option[String], Set[Seq[String]]), FileSchema]

  def read(file: DataFile): FileFooter = read(file, paged = 0)._1

  /**
   * The footer, and the pages of the first columns of a file that is opened once.
   *
   * @param paged
   *   how many of the columns
   * @return
   *   None for pages that cannot be read
   */
  def read(file: DataFile, paged: Int): (FileFooter, Option[FilePages]) =
    try FooterReader.open(conf, file) { reader =>
        val read = footer(file, reader)
        val pages =
          if (paged == 0 || read.opaque) None
          else Try(PageIndex.of(reader, file, zones(read, reader).take(paged))).toOption
        (read, pages)
      }
    catch {
      case _: ParquetCryptoRuntimeException => (FooterReader.encrypted(file, "", 0L), None)
      case NonFatal(e) =>
        val unknown = RawFooter.unknownTypes(conf, file)
        if (unknown.isEmpty) throw e else (FooterReader.opaque(file, unknown), None)
    }

  /**
   * What a file says of its values, as far as it can be read; None for a file that is no Parquet file, or is gone.
   *
   * @param listed
   *   the columns, by number, whose dictionaries are read
   */
  def readIfPossible(file: DataFile, listed: Set[Int]): Option[FileStatistics] =
    try Some(FooterReader.open(conf, file) { reader =>
        val read = footer(file, reader)
        val wanted = zones(read, reader)
        val pages = PageIndex.of(reader, file, wanted)
        FileStatistics(read, pages, if (read.opaque) nothing else values(reader, wanted, listed))
      })
    catch {
      case NonFatal(_) =>
        try
          Some(FileStatistics(
            read(file),
            FilePages(file, columns.map(_ => IndexedSeq.empty[Block]).toIndexedSeq),
            nothing))
        catch { case NonFatal(_) => None }
    }

  private def nothing: IndexedSeq[Option[IndexedSeq[NormalizedValue]]] = columns.map(_ => None).toIndexedSeq

  private def values(
      reader: ParquetFileReader,
      wanted: Seq[ChunkZone],
      listed: Set[Int]): IndexedSeq[Option[IndexedSeq[NormalizedValue]]] =
    if (listed.isEmpty) nothing
    else Dictionaries.of(reader, columns.indices.map(c => if (listed(c)) Some(wanted(c)) else None))

  /** Footer and pages of a file that is opened once; nobody else reads it meanwhile, and it is not encrypted. */
  def readWithPages(file: DataFile): (FileFooter, FilePages) =
    FooterReader.open(conf, file) { reader =>
      val read = footer(file, reader)
      (read, PageIndex.of(reader, file, zones(read, reader)))
    }

  /** How the requested columns are found in a file whose footer has been read. */
  private def zones(read: FileFooter, reader: ParquetFileReader): Seq[ChunkZone] = {
    val message = reader.getFooter.getFileMetaData.getSchema
    columns.map(c => ChunkZone(c, read.schema, message, read.origin, caseSensitive))
  }

  private def footer(file: DataFile, reader: ParquetFileReader): FileFooter = {
    val meta = reader.getFooter.getFileMetaData
    val createdBy = Option(meta.getCreatedBy).getOrElse("")
    val blocks = FooterReader.filled(reader)
    val rows = blocks.map(_.getRowCount).sum
    if (meta.getEncryptionType != FileMetaData.EncryptionType.UNENCRYPTED)
      FooterReader.encrypted(file, createdBy, rows)
    else {
      val keyValues = meta.getKeyValueMetaData.asScala.toMap
      val origin = FileOrigin(createdBy, keyValues)
      val untyped = if (origin.bySpark) Set.empty[Seq[String]] else FooterReader.untyped(conf, file, reader)
      val recurring = (meta.getSchema, keyValues.get(ParquetReadSupport.SPARK_METADATA_KEY), untyped)
      val schema =
        schemas.getOrElseUpdate(recurring, SchemaReader.read(meta.getSchema, keyValues).withoutType(untyped))
      val wanted = columns.map(c => ChunkZone(c, schema, meta.getSchema, origin, caseSensitive).beside(file))
      val chunks = blocks.map(ColumnChunks.byPath)
      val byLeaf = schema.leaves.map(leaf => chunks.map(_.get(leaf.path)))
      val leafNulls = schema.leaves.zip(byLeaf).map { case (leaf, found) =>
        FooterReader.nulls(found.zip(blocks.map(_.getRowCount)).map { case (chunk, n) =>
          chunk.filter(leaf.maxRepetition > 0 || ParquetZones.countsAgree(_, n))
        })
      }
      val groups = blocks.indices.map { i =>
        val rows = blocks(i).getRowCount
        val zones = wanted.map(_.of(chunks(i), rows)).toIndexedSeq
        val nullFree = wanted.indices.filter(wanted(_).isNullFree(chunks(i), rows)).toSet
        RowGroup(
          rows,
          blocks(i).getCompressedSize,
          blocks(i).getColumns.asScala.map(FooterReader.dictionaryBytes).sum,
          blocks(i).getColumns.asScala.map(RawBytes.of).sum,
          zones,
          nullFree)
      }
      val filtered = schema.leaves.zip(byLeaf).collect {
        case (leaf, found) if found.flatten.exists(_.getBloomFilterOffset > 0) => leaf.column
      }
      val codecs = blocks.flatMap(_.getColumns.asScala).groupBy(_.getCodec.name)
        .map { case (codec, all) => codec -> all.map(_.getTotalSize).sum }
      FileFooter(
        file,
        rows,
        createdBy,
        keyValues - ParquetReadSupport.SPARK_METADATA_KEY,
        schema,
        nulls = LeafNumbers(leafNulls),
        values = LeafNumbers(byLeaf.map(_.flatten.map(_.getValueCount).sum)),
        bytes = LeafNumbers(byLeaf.map(_.flatten.map(_.getTotalSize).sum)),
        rawBytes = LeafNumbers(byLeaf.map(_.flatten.map(RawBytes.of(_)).sum)),
        codecs,
        groups,
        encrypted = false,
        packed = Encodings.inDoubt(blocks),
        filtered = filtered.toSet)
    }
  }
}

/** The chunks of a row group. */
private[stats] object ColumnChunks {
  def byPath(block: BlockMetaData): Map[Seq[String], ColumnChunkMetaData] =
    block.getColumns.asScala.map(c => c.getPath.toArray.toSeq -> c).toMap

  /** Whether the dictionary encodes every page, so that it has all values. */
  def isAllDictionary(chunk: ColumnChunkMetaData): Boolean = {
    val pages = chunk.getEncodingStats
    pages != null && pages.hasDictionaryPages && pages.hasDictionaryEncodedPages &&
    !pages.hasNonDictionaryEncodedPages
  }
}

/**
 * How one requested column is found among a file's chunks, and its zone read.
 *
 * @param keepsValues
 *   whether what is no NULL in the file is none in the table
 */
private[stats] final case class ChunkZone(
    path: Option[Seq[String]],
    decoder: Option[ZoneDecoder],
    absent: Zone,
    keepsValues: Boolean = true,
    unknown: Zone = Zone.Unknown) {

  /** Adds the bounds that the table format knows of a timestamp, where the file has none. */
  def beside(file: DataFile): ChunkZone = path.flatMap(file.timestamps.get).fold(this) { case (min, max) =>
    copy(unknown = Zone.Between(NormalizedLong(min), NormalizedLong(max)))
  }

  /** None also where the counts of a chunk contradict the rows of its row group: then nothing of it is believed. */
  def chunk(chunks: Map[Seq[String], ColumnChunkMetaData], rows: Long): Option[ColumnChunkMetaData] =
    path.flatMap(chunks.get).filter(ParquetZones.countsAgree(_, rows))

  def isNullFree(chunks: Map[Seq[String], ColumnChunkMetaData], rows: Long): Boolean =
    keepsValues && chunk(chunks, rows).flatMap(ParquetZones.nulls).contains(0L)

  def of(chunks: Map[Seq[String], ColumnChunkMetaData], rows: Long): Zone =
    if (path.isEmpty) absent
    else
      chunk(chunks, rows).map(ParquetZones.ofChunk(_, decoder)).getOrElse(Zone.Unknown) match {
        case Zone.Unknown => unknown
        case known => known
      }
}

private[stats] object ChunkZone {
  def apply(
      column: StatColumn,
      schema: FileSchema,
      message: MessageType,
      origin: FileOrigin,
      caseSensitive: Boolean): ChunkZone = {
    def folded(path: Seq[String]): Seq[String] = path.map(_.toLowerCase(java.util.Locale.ROOT))
    val found = column.stored match {
      case StoredAs.Named(path) if caseSensitive => schema.leaves.filter(_.column == path)
      case StoredAs.Named(path) => schema.leaves.filter(l => folded(l.column) == folded(path))
      case StoredAs.Numbered(id) => schema.leaves.filter(_.fieldId.contains(id))
    }
    found match {
      case _ if !caseSensitive && schema.isSpelledTwice(column) => ChunkZone(None, None, Zone.Unknown)
      case Seq(leaf) if leaf.maxRepetition == 0 =>
        val stored = message.getType(leaf.path: _*).asPrimitiveType
        val decoder = ParquetZones.decoder(stored, column, origin)
        val keepsValues = decoder.isDefined || !ParquetZones.mayNullify(column.dataType)
        ChunkZone(Some(leaf.path), decoder, column.absent, keepsValues)
      case Seq() =>
        val otherwiseThere = column.stored match {
          case StoredAs.Named(path) => schema.leaves.exists(l => folded(l.column).startsWith(folded(path)))
          // a file without numbers was not written by the format: the column may be there by its name
          case StoredAs.Numbered(_) => schema.leaves.exists(_.fieldId.isEmpty)
        }
        ChunkZone(None, None, if (otherwiseThere) Zone.Unknown else column.absent)
      case _ => ChunkZone(None, None, Zone.Unknown)
    }
  }
}

private[stats] object FooterReader {

  /**
   * Opens a file for its footer, indexes and pages; no setting makes it trust wrongly ordered bounds. What Parquet's
   * library says of a damaged file names no file, so this does.
   */
  def open[T](conf: Configuration, file: DataFile)(body: ParquetFileReader => T): T =
    try
      try opened(conf, file, new ListedParquetFile(conf, file))(body)
      catch {
        case NonFatal(e) =>
          opened(conf, file, changed(conf, file).getOrElse(throw e))(body)
      }
    catch {
      case NonFatal(e) if isDamage(e) =>
        val cause = ZOrderException.firstLine(ExceptionUtils.getThrowables(e).last)
        throw ZOrderException.over(e, "ZORDER_FILE_UNREADABLE.DAMAGED", "file" -> file.path, "cause" -> cause)
    }

  private def opened[T](conf: Configuration, file: DataFile, input: InputFile)(
      body: ParquetFileReader => T): T = {
    val options = HadoopReadOptions.builder(conf, new Path(file.path)).useSignedStringMinMax(false).build()
    val reader = ParquetFileReader.open(input, options)
    try body(reader)
    finally reader.close()
  }

  /**
   * The file as it is, if it has not the length that was told of it: it may be another one since. Files that only their
   * format reaches are never written over.
   */
  private def changed(conf: Configuration, file: DataFile): Option[InputFile] =
    if (file.own.isDefined) None
    else {
      val path = new Path(file.path)
      Try(path.getFileSystem(conf).getFileStatus(path)).toOption.filter(_.getLen != file.length)
        .map(HadoopInputFile.fromStatus(_, conf))
    }

  /** Bytes that make no sense. Others say better what is no Parquet file, is encrypted, or was not got from a storage. */
  private def isDamage(e: Throwable): Boolean = {
    val causes = ExceptionUtils.getThrowables(e)
    val said = NotParquet.unapply(e).isDefined || causes.exists {
      case _: ZOrderException | _: ParquetCryptoRuntimeException => true
      case _ => false
    }
    val read = !causes.exists(_.isInstanceOf[IOException]) || causes.exists {
      case _: EOFException | _: ChecksumException => true
      // the bytes of a page are in memory when it is decoded; a dictionary is read and decoded at once
      case decoding: ParquetDecodingException =>
        !Option(decoding.getMessage).exists(_.startsWith("Failed to read dictionary"))
      case c => c.getClass.getName.contains(".thrift.")
    }
    !said && read
  }

  /** The row groups that have rows: writers other than Spark write an empty file as one without rows and statistics. */
  def filled(reader: ParquetFileReader): IndexedSeq[BlockMetaData] =
    reader.getFooter.getBlocks.asScala.filter(_.getRowCount != 0L).toIndexedSeq

  /** The path of the column in a file that is not encrypted; None if the file has no column that is meant. */
  def pathOf(meta: FileMetaData, column: StatColumn, caseSensitive: Boolean): Option[Seq[String]] =
    zones(meta, Seq(column), caseSensitive).head.path

  /** How columns are found in a file that is not encrypted. */
  def zones(meta: FileMetaData, columns: Seq[StatColumn], caseSensitive: Boolean): Seq[ChunkZone] = {
    val keyValues = meta.getKeyValueMetaData.asScala.toMap
    val origin = FileOrigin(Option(meta.getCreatedBy).getOrElse(""), keyValues)
    val schema = SchemaReader.read(meta.getSchema, keyValues)
    columns.map(c => ChunkZone(c, schema, meta.getSchema, origin, caseSensitive))
  }

  def encrypted(file: DataFile, createdBy: String, rows: Long): FileFooter =
    bare(file, createdBy, rows, Nil, encrypted = true)

  /** The footer of a file with types that Parquet's library cannot read. */
  private def opaque(file: DataFile, unreadable: Seq[UnreadableColumn]): FileFooter =
    bare(file, "", 0L, unreadable, encrypted = false)

  private def bare(
      file: DataFile,
      createdBy: String,
      rows: Long,
      unreadable: Seq[UnreadableColumn],
      encrypted: Boolean): FileFooter = {
    val nothing = FileSchema(IndexedSeq.empty, new StructType(), unreadable, Nil)
    FileFooter(
      file,
      rows,
      createdBy,
      Map.empty,
      nothing,
      nulls = LeafNumbers.Empty,
      values = LeafNumbers.Empty,
      bytes = LeafNumbers.Empty,
      rawBytes = LeafNumbers.Empty,
      codecBytes = Map.empty,
      rowGroups = IndexedSeq.empty,
      encrypted)
  }

  /** Leaves of no type: Parquet's library hides that, so look at those that hold nothing but NULL. */
  private def untyped(conf: Configuration, file: DataFile, reader: ParquetFileReader): Set[Seq[String]] = {
    val leaves = reader.getFooter.getFileMetaData.getSchema.getColumns.asScala
      .filter(c => c.getPrimitiveType.getLogicalTypeAnnotation == null && hasStatistics(c))
      .map(_.getPath.toSeq).toSet
    val held = reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala)
      .filterNot(c => isAllNull(c)).map(_.getPath.toArray.toSeq).toSet
    val empty = leaves -- held
    if (empty.isEmpty) empty else RawFooter.untyped(conf, file).intersect(empty)
  }

  private def hasStatistics(column: ColumnDescriptor): Boolean =
    column.getPrimitiveType.getPrimitiveTypeName != PrimitiveType.PrimitiveTypeName.INT96

  private def isAllNull(chunk: ColumnChunkMetaData): Boolean =
    ParquetZones.nulls(chunk).forall(_ == chunk.getValueCount)

  /** The dictionary comes first in its chunk; not every writer says where it is. */
  private def dictionaryBytes(chunk: ColumnChunkMetaData): Long =
    if (chunk.getDictionaryPageOffset <= 0) 0L
    else math.max(0L, chunk.getFirstDataPageOffset - chunk.getDictionaryPageOffset)

  private def nulls(chunks: Seq[Option[ColumnChunkMetaData]]): Long = {
    val counts = chunks.map(_.flatMap(ParquetZones.nulls))
    if (counts.forall(_.isDefined)) counts.flatten.sum else -1L
  }
}

/** What Parquet's library, or Spark over it, says of a file that does not end as a Parquet file does; gives the file. */
object NotParquet {
  private val Said = "(\\S+) is not a Parquet file".r

  def unapply(e: Throwable): Option[String] =
    ExceptionUtils.getThrowables(e).toSeq.flatMap(c => Option(c.getMessage)).reverse
      .flatMap(Said.findFirstMatchIn(_)).headOption.map(_.group(1))
}

/** Codecs and encodings: which ones every Spark can read, and which ones have to be tried. */
private[stats] object Encodings {
  private val SafeCodecs = Set(UNCOMPRESSED, SNAPPY, GZIP, ZSTD)
  private val SafeEncodings = Set("PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY")
  private val DeltaEncodings = Set("DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")

  /** Top-level columns with a codec or encoding that some Sparks cannot read, and its name. */
  def inDoubt(blocks: Seq[BlockMetaData]): Set[(String, String)] =
    blocks.flatMap(_.getColumns.asScala).flatMap { chunk =>
      val codec = Seq(chunk.getCodec).filterNot(SafeCodecs).map(_.name)
      (codec ++ encodings(chunk)).map(chunk.getPath.toArray.head -> _)
    }.toSet

  private def encodings(chunk: ColumnChunkMetaData): Seq[String] = {
    val fixed = chunk.getPrimitiveType.getPrimitiveTypeName == FIXED_LEN_BYTE_ARRAY
    val safe = if (fixed) SafeEncodings else SafeEncodings ++ DeltaEncodings
    chunk.getEncodings.asScala.toSeq.map(_.name).filterNot(safe)
  }

  def isCodec(packing: String): Boolean = CompressionCodecName.values.exists(_.name == packing)
}

/** How many bytes the values of a column chunk take in a writer's memory before they are encoded. */
private object RawBytes {

  /** Before the bytes of a string. */
  private val Length = 4L

  def of(chunk: ColumnChunkMetaData): Long = {
    val found: Statistics[_] = chunk.getStatistics
    val statistics = Option[Statistics[_]](found)
    val nulls = statistics.filter(_.isNumNullsSet).fold(0L)(s => math.max(0L, s.getNumNulls))
    width(chunk, statistics).fold(chunk.getTotalUncompressedSize)(_ * (chunk.getValueCount - nulls))
  }

  /** Bytes of a value: a string counts as long as its bounds are on the mean. None if unknown, or if bits are packed. */
  private def width(chunk: ColumnChunkMetaData, statistics: Option[Statistics[_]]): Option[Long] =
    chunk.getPrimitiveType.getPrimitiveTypeName match {
      case PrimitiveTypeName.INT32 | PrimitiveTypeName.FLOAT => Some(4L)
      case PrimitiveTypeName.INT64 | PrimitiveTypeName.DOUBLE => Some(8L)
      case PrimitiveTypeName.INT96 => Some(12L)
      case PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY => Some(chunk.getPrimitiveType.getTypeLength.toLong)
      case PrimitiveTypeName.BINARY if hasDictionary(chunk) =>
        statistics.filter(_.hasNonNullValue).map(s =>
          Length + (s.getMinBytes.length + s.getMaxBytes.length) / 2)
      case _ => None
    }

  /** Whether the values are in a dictionary. Without one, the bytes before compression are those of the values. */
  private def hasDictionary(chunk: ColumnChunkMetaData): Boolean = chunk.getDictionaryPageOffset > 0
}
