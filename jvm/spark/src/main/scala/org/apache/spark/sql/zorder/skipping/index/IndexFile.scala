package org.apache.spark.sql.zorder.skipping.index

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  DataInputStream,
  DataOutputStream,
  EOFException,
  FileNotFoundException,
  IOException,
  UTFDataFormatException
}
import java.nio.ByteBuffer
import java.util.concurrent.{ConcurrentHashMap, ExecutionException}
import java.util.zip.{CRC32, InflaterInputStream, ZipException}

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{ChecksumException, FSDataInputStream, FileStatus, FileSystem, Path}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.normalized.NormalizedLongType
import org.apache.spark.sql.zorder.stats.Deflated

/**
 * An index as one immutable file, column by column, so that a query loads the columns it filters on and no
 * others:
 *
 * {{{
 *   magic | sections, each deflated | directory | length of the directory, its CRC32, magic
 * }}}
 *
 * The directory says what each section is, where, and its CRC32. It ends with where Bloom filters are, which
 * columns have values in place of ranges, which are expressions, for a table of a format what its files have
 * under the names of columns, and by which rules its entries were made. A file that is cut off, or not ours, or
 * whose sums do not agree, is no index.
 */
private[skipping] object IndexFile {
  import IndexArrays._

  private val Magic = 0x5a4f524449445801L // "ZORDIDX" and the version of the format
  private val MagicBytes = 8
  private val TrailerBytes = 4 + 4 + MagicBytes

  /**
   * The rules by which entries are made: what counts as a bound, and what a filter is made of. It goes up where
   * less is believed of files than before, since entries by older rules may be wrong. Versions that know none
   * wrote no number, which is 0 here.
   */
  private val Rules = 2

  /** A section: where it lies, its bytes there, its bytes unpacked, its sum. */
  final private case class Section(offset: Long, packed: Int, plain: Int, crc: Long)

  /** The bytes of an index; `ranges` of each column in their order. */
  def bytes(index: StatisticsIndex): Array[Byte] = {
    val out = new ByteArrayOutputStream()
    val data = new DataOutputStream(out)
    data.writeLong(Magic)
    def section(write: DataOutputStream => Unit): Section = {
      val plain = packedBytes(write)
      val packed = Deflated.of(plain)
      val at = out.size
      data.write(packed)
      Section(at.toLong, packed.length, plain.length, crc(packed))
    }
    val f = index.files
    val files = IndexedSeq[DataOutputStream => Unit](
      strings(f.paths, _),
      longs(f.lengths, _),
      longs(f.modified, _),
      longs(f.rows, _),
      longs(f.readAt, _)).map(section)
    val columns = index.columns.indices.map { c =>
      val r = index.rangesAt(c).getOrElse(throw new IOException(
        s"The index has no ranges of ${index.columns(c).sql}."))
      index.columns(c) -> section(writeRanges(r, _))
    }
    val said = Directory(index.caseSensitive, f.count, files, columns, index.blooms, index.identities, Rules)
    val directory = packedBytes(Directory.write(said, _))
    data.write(directory)
    data.writeInt(directory.length)
    data.writeInt(crc(directory).toInt)
    data.writeLong(Magic)
    data.flush()
    out.toByteArray
  }

  /**
   * The index in a file, its columns not yet loaded; None for a file that is none. One that was made by older
   * rules has its columns and no entries. Throws [[IndexTooLarge]] if not even the list of files is admitted,
   * [[LaterIndex]] if it was made by later rules, and what the storage throws.
   *
   * @param admit
   *   is asked before so many bytes of memory are taken. A column that it refuses counts as unknown, and is
   *   asked for again by the next query.
   * @param failed
   *   is told of a column that cannot be loaded later
   */
  def read(fs: FileSystem, file: FileStatus, admit: Long => Boolean)(
      failed: Throwable => Unit): Option[StatisticsIndex] =
    try {
      val length = file.getLen
      if (length < MagicBytes + TrailerBytes) None
      else {
        val bytes = new IndexBytes(fs, file)
        val trailer = ByteBuffer.wrap(bytes.range(length - TrailerBytes, TrailerBytes))
        val (size, sum, magic) = (trailer.getInt, trailer.getInt, trailer.getLong)
        val start = length - TrailerBytes - size
        if (magic != Magic || size < 0 || start < MagicBytes) None
        else {
          val directory = bytes.range(start, size)
          if (crc(directory).toInt != sum) None
          else Some(of(bytes, new BloomFiles(fs, file.getPath.getParent), directory, admit, failed))
        }
      }
    } catch {
      case e: IOException if isOfStorage(e) => throw e
      case NonFatal(_) => None
    }

  /** Whether not the bytes are to blame, but the storage: what cannot be read now may be read later. */
  def isOfStorage(e: Throwable): Boolean = e match {
    case _: BrokenIndex | _: EOFException | _: UTFDataFormatException | _: ZipException => false
    case _: ChecksumException => false
    case _: FileNotFoundException => false // it was dropped since it was listed
    case _ => e.isInstanceOf[IOException]
  }

  private def of(
      bytes: IndexBytes,
      filters: BloomFiles,
      directory: Array[Byte],
      admit: Long => Boolean,
      failed: Throwable => Unit): StatisticsIndex = {
    val said =
      Directory.read(directory)((dataType, stored) => new ColumnBlooms(stored, dataType, filters, failed))
    if (said.rules > Rules) throw new LaterIndex(bytes.path)
    else if (said.rules < Rules)
      withoutEntries(said, new ColumnBlooms(ColumnSegments.Empty, _, filters, failed))
    else whole(bytes, said, admit, failed)
  }

  /** What an index is of, for a refresh to make it anew. Filters are those of no file. */
  private def withoutEntries(said: Directory, noBlooms: DataType => ColumnBlooms): StatisticsIndex = {
    val columns = said.columns.map(_._1)
    new StatisticsIndex(
      IndexedFiles.of(Nil),
      columns,
      said.caseSensitive,
      _ => None,
      new IndexBlooms(
        said.blooms.budget,
        said.blooms.columns.map { case (c, _) => c -> noBlooms(columns(c).dataType) }),
      said.identities,
      byOlderRules = true)
  }

  private def whole(
      bytes: IndexBytes,
      said: Directory,
      admit: Long => Boolean,
      failed: Throwable => Unit): StatisticsIndex = {
    import said.{blooms, caseSensitive, columns, count, files, identities}
    if (!admit(IndexSizes.ofFiles(count, files.map(_.plain.toLong)))) throw new IndexTooLarge(bytes.path)
    val ranges = new LoadedRanges(bytes, count, columns, admit, failed)
    new StatisticsIndex(
      readFiles(bytes, count, files),
      columns.map(_._1),
      caseSensitive,
      ranges.at(_),
      blooms,
      identities)
  }

  /** The list of files, whose sections lie one after the other. */
  private def readFiles(bytes: IndexBytes, count: Int, sections: IndexedSeq[Section]): IndexedFiles = {
    val first = sections.head.offset
    val together = bytes.range(first, sections.map(_.packed).sum)
    def part[A](i: Int)(values: DataInputStream => A): A = {
      val at = (sections(i).offset - first).toInt
      values(unpacked(java.util.Arrays.copyOfRange(together, at, at + sections(i).packed), sections(i)))
    }
    new IndexedFiles(
      part(0)(readStrings(count, _)),
      part(1)(readLongs(count, _)),
      part(2)(readLongs(count, _)),
      part(3)(readLongs(count, _)),
      part(4)(readLongs(count, _)))
  }

  /**
   * The ranges of columns: each is read when a query asks for it first, and kept. A column whose section is broken,
   * or whose type is unknown here, has none, and is not read again.
   *
   * @param count
   *   number of files
   */
  final private class LoadedRanges(
      bytes: IndexBytes,
      count: Int,
      columns: IndexedSeq[(IndexedColumn, Section)],
      admit: Long => Boolean,
      failed: Throwable => Unit) {
    private val loaded = new ConcurrentHashMap[Int, Option[ColumnRanges]]()
    private val admitted = ConcurrentHashMap.newKeySet[Int]()

    def at(c: Int): Option[ColumnRanges] = Option(loaded.computeIfAbsent(c, _ => load(c))).flatten

    /** Null leaves no trace in the map: what is refused, or could not be read, is asked for again. */
    private def load(c: Int): Option[ColumnRanges] = {
      val (column, section) = columns(c)
      def fits = admitted.contains(c) || admit(IndexSizes.ofColumn(column.dataType, section.plain.toLong))
      if (column.dataType.isInstanceOf[UnknownType]) None
      else if (fits) {
        admitted.add(c)
        rangesIn(column, section)
      } else null
    }

    /** Null where the storage failed. */
    private def rangesIn(column: IndexedColumn, section: Section): Option[ColumnRanges] =
      try {
        val in = unpacked(bytes.range(section.offset, section.packed), section)
        Some(readRanges(column.dataType, count, in))
      } catch {
        case NonFatal(e) =>
          failed(e)
          if (isOfStorage(e)) null else None
      }
  }

  /**
   * What an index file says of its sections.
   *
   * @param count
   *   number of files
   * @param files
   *   the sections of the list of files: paths, lengths, times, numbers of rows, times of reading
   * @param columns
   *   each with the section of its ranges
   * @param rules
   *   by which the entries were made
   */
  final private case class Directory(
      caseSensitive: Boolean,
      count: Int,
      files: IndexedSeq[Section],
      columns: IndexedSeq[(IndexedColumn, Section)],
      blooms: IndexBlooms,
      identities: Map[String, String],
      rules: Int)

  private object Directory {

    def write(directory: Directory, out: DataOutputStream): Unit = {
      import directory.{columns, identities}
      out.writeBoolean(directory.caseSensitive)
      out.writeInt(directory.count)
      directory.files.foreach(writeSection(_, out))
      out.writeInt(columns.length)
      columns.foreach { case (c, section) =>
        out.writeUTF(c.sql)
        out.writeInt(c.path.length)
        c.path.foreach(out.writeUTF)
        out.writeUTF(TypeText.of(c.dataType))
        out.writeBoolean(c.absentIsNull)
        writeSection(section, out)
      }
      IndexBlooms.write(directory.blooms, out)
      val listed = columns.indices.filter(columns(_)._1.values)
      out.writeInt(listed.length)
      listed.foreach(out.writeInt)
      val computed = columns.indices.filter(columns(_)._1.expression.isDefined)
      out.writeInt(computed.length)
      computed.foreach { c =>
        val e = columns(c)._1.expression.get
        out.writeInt(c)
        out.writeUTF(e.meaning)
        out.writeInt(e.columns.length)
        e.columns.foreach(out.writeUTF)
      }
      out.writeInt(identities.size)
      identities.toSeq.sorted.foreach { case (name, identity) =>
        out.writeUTF(name)
        out.writeUTF(identity)
      }
      out.writeInt(directory.rules)
    }

    /** @param bloomsOf the filters of a column of this type */
    def read(bytes: Array[Byte])(bloomsOf: (DataType, ColumnSegments) => ColumnBlooms): Directory = {
      val in = new DataInputStream(new ByteArrayInputStream(bytes))
      val caseSensitive = in.readBoolean()
      val count = in.readInt()
      val files = IndexedSeq.fill(5)(readSection(in))
      val columns = IndexedSeq.fill(in.readInt()) {
        val sql = in.readUTF()
        val parts = Seq.fill(in.readInt())(in.readUTF())
        IndexedColumn(sql, parts, TypeText.read(in.readUTF()), in.readBoolean()) -> readSection(in)
      }
      val blooms =
        if (in.available() == 0) IndexBlooms.None
        else IndexBlooms.read(in)((c, stored) => bloomsOf(columns(c)._1.dataType, stored))
      // an earlier version ends before it
      val listed = if (in.available() == 0) Set.empty[Int] else Seq.fill(in.readInt())(in.readInt()).toSet
      val computed =
        if (in.available() == 0) Map.empty[Int, IndexedExpression]
        else Seq.fill(in.readInt())(in.readInt() -> readExpression(in)).toMap
      val identities =
        if (in.available() == 0) Map.empty[String, String]
        else Seq.fill(in.readInt())(in.readUTF() -> in.readUTF()).toMap
      val rules = if (in.available() == 0) 0 else in.readInt()
      val named = columns.zipWithIndex.map { case ((column, section), c) =>
        column.copy(values = listed(c), expression = computed.get(c)) -> section
      }
      Directory(caseSensitive, count, files, named, blooms, identities, rules)
    }

    private def readExpression(in: DataInputStream): IndexedExpression =
      IndexedExpression(in.readUTF(), IndexedSeq.fill(in.readInt())(in.readUTF()))
  }

  private def writeRanges(r: ColumnRanges, out: DataOutputStream): Unit = {
    out.write(r.states)
    longs(r.nulls, out)
    r.offsets.foreach(out.writeInt)
    r.bounds match {
      case NoRanges =>
      case LongRanges(mins, maxs) =>
        out.writeBoolean(true)
        longs(mins, out)
        longs(maxs, out)
      case BytesRanges(mins, maxs) =>
        out.writeBoolean(false)
        byteStrings(mins, out)
        byteStrings(maxs, out)
    }
  }

  private def readRanges(dataType: DataType, files: Int, in: DataInputStream): ColumnRanges = {
    val states = new Array[Byte](files)
    in.readFully(states)
    val nulls = readLongs(files, in)
    val offsets = Array.fill(files + 1)(in.readInt())
    val ranges = offsets(files)
    val bounds =
      if (ranges == 0) NoRanges
      else if (in.readBoolean()) LongRanges(readLongs(ranges, in), readLongs(ranges, in))
      else BytesRanges(readByteStrings(ranges, in), readByteStrings(ranges, in))
    new ColumnRanges(dataType, states, ColumnRanges.believed(dataType, states, nulls), offsets, bounds)
  }

  private def writeSection(s: Section, out: DataOutputStream): Unit = {
    out.writeLong(s.offset)
    out.writeInt(s.packed)
    out.writeInt(s.plain)
    out.writeLong(s.crc)
  }

  private def readSection(in: DataInputStream): Section =
    Section(in.readLong(), in.readInt(), in.readInt(), in.readLong())

  private def packedBytes(write: DataOutputStream => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream()
    val data = new DataOutputStream(out)
    write(data)
    data.flush()
    out.toByteArray
  }

  private def unpacked(packed: Array[Byte], s: Section): DataInputStream = {
    if (crc(packed) != s.crc) throw new BrokenIndex("The checksum of a part of the index does not agree.")
    val plain = new Array[Byte](s.plain)
    val in = new DataInputStream(new InflaterInputStream(new ByteArrayInputStream(packed)))
    try in.readFully(plain)
    finally in.close()
    new DataInputStream(new ByteArrayInputStream(plain))
  }

  private def crc(bytes: Array[Byte]): Long = {
    val sum = new CRC32()
    sum.update(bytes)
    sum.getValue
  }
}

/**
 * The bytes of an index file in few requests: its end is read at once, which is all of a small one. Of a
 * large one further pieces are read when they are asked for.
 */
final private class IndexBytes(fs: FileSystem, status: FileStatus) {
  private val tailAt = math.max(0L, status.getLen - IndexBytes.Tail)
  private val tail = read(tailAt, (status.getLen - tailAt).toInt)

  def path: Path = status.getPath

  /** @throws java.io.IOException the file cannot be read, or has no such bytes any more */
  def range(from: Long, count: Int): Array[Byte] =
    if (from < tailAt) read(from, count)
    else {
      val at = (from - tailAt).toInt
      if (count < 0 || at + count.toLong > tail.length) throw new BrokenIndex(s"$path ends too early.")
      java.util.Arrays.copyOfRange(tail, at, at + count)
    }

  private def read(from: Long, count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    val in = open()
    try in.readFully(from, bytes)
    catch {
      // the file has these bytes, so that a connection has ended
      case e: EOFException => throw new IOException(s"$path could not be read to its end", e)
    } finally in.close()
    bytes
  }

  /** Opens the file with its known status, so that an object store is not asked again. */
  private def open(): FSDataInputStream =
    try fs.openFile(path).withFileStatus(status).build().get()
    catch {
      case e: ExecutionException =>
        throw e.getCause match {
          case io: IOException => io
          case other => new IOException(other)
        }
    }
}

private object IndexBytes {

  /** Bytes that an object store sends in the time of a request or two. */
  val Tail: Int = 1 << 20
}

/** Arrays in the bytes of an index file. */
private object IndexArrays {

  def longs(values: Array[Long], out: DataOutputStream): Unit = {
    val buffer = ByteBuffer.allocate(8 * values.length)
    buffer.asLongBuffer().put(values)
    out.write(buffer.array)
  }

  def readLongs(count: Int, in: DataInputStream): Array[Long] = {
    val bytes = new Array[Byte](8 * count)
    in.readFully(bytes)
    val values = new Array[Long](count)
    ByteBuffer.wrap(bytes).asLongBuffer().get(values)
    values
  }

  def byteStrings(values: Array[Array[Byte]], out: DataOutputStream): Unit = {
    values.foreach(v => out.writeInt(v.length))
    values.foreach(v => out.write(v))
  }

  def readByteStrings(count: Int, in: DataInputStream): Array[Array[Byte]] = {
    val values = Array.fill(count)(new Array[Byte](in.readInt()))
    values.foreach(v => in.readFully(v))
    values
  }

  def strings(values: Array[String], out: DataOutputStream): Unit =
    byteStrings(values.map(_.getBytes("UTF-8")), out)

  def readStrings(count: Int, in: DataInputStream): Array[String] =
    readByteStrings(count, in).map(new String(_, "UTF-8"))
}

/** What parts of an index will take in memory, from what they have unpacked. */
private object IndexSizes {

  /** A short string or array is about three times its bytes. */
  private val OfText = 3L

  /** The entry of a file in the map from names to numbers. */
  private val InMap = 64L

  /** @param parts bytes of the sections of the list of files, paths first */
  def ofFiles(count: Long, parts: Seq[Long]): Long = OfText * parts.head + parts.tail.sum + InMap * count

  def ofColumn(dataType: DataType, bytes: Long): Long = Normalization.of(dataType) match {
    case Some(_: NormalizedLongType) => bytes
    case _ => OfText * bytes
  }
}

/** Bytes that no index has. */
final private class BrokenIndex(message: String) extends IOException(message)

/** An index whose entries may mean what this version does not know. */
final private[index] class LaterIndex(path: Path)
    extends IOException(s"$path was made by a later version of spark-zorder")

/** Not even the list of files of an index may be loaded. */
final private[skipping] class IndexTooLarge(path: Path)
    extends IOException(s"$path is too large to be loaded")
