package org.apache.spark.sql.zorder.stats

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, FileMetaData}

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{Block, Evenly, Zone}

/**
 * The pages of one file. Pages of different columns do not begin at the same rows: each column has its own.
 *
 * @param columns
 *   per requested column its pages in order, each a block with one zone. A row group without page index, or
 *   with one that contradicts it, is one page with the row group's zone.
 */
final case class FilePages(file: DataFile, columns: IndexedSeq[IndexedSeq[Block]]) {

  /** Rows and zone of each page of the requested column number `column`. */
  def pages(column: Int): Seq[(Long, Zone)] = columns(column).map(b => (b.rows, b.zones.head))

  /**
   * The file cut wherever a page of some column begins: a query reads such a run of rows where no column's
   * page rules it out, as Parquet's column index filter does.
   *
   * @param wanted
   *   the columns of the blocks, as numbers of requested columns; None for a column of which nothing is known
   */
  def runs(wanted: IndexedSeq[Option[Int]]): Seq[Block] = {
    val begins = columns.map(_.scanLeft(0L)(_ + _.rows))
    val cuts = wanted.flatten.flatMap(begins(_)).distinct.sorted
    val at = wanted.map(_.map(c => FilePages.pageOf(cuts, begins(c))))
    cuts.indices.dropRight(1).map { r =>
      val found = at.indices.map(i => at(i).map(page => columns(wanted(i).get)(page(r))))
      Block(
        cuts(r + 1) - cuts(r),
        found.map(_.fold[Zone](Zone.Unknown)(_.zones.head)),
        found.indices.filter(i => found(i).exists(!_.mayHoldNull(0))).toSet)
    }
  }
}

private object FilePages {

  /** The page that each cut begins in; `begins` ascends and is part of the cuts. */
  private def pageOf(cuts: IndexedSeq[Long], begins: IndexedSeq[Long]): IndexedSeq[Int] = {
    var page = 0
    cuts.map { cut =>
      while (page + 1 < begins.length && begins(page + 1) <= cut) page += 1
      page
    }
  }
}

/** Page statistics from the column and offset indexes. */
object PageIndex {

  /** Page indexes of this many files represent the pages of a table. */
  private val MostFiles = 1000

  /** Those files, evenly taken. */
  private[stats] def some(files: Seq[DataFile]): Seq[DataFile] = Evenly.take(files, MostFiles)

  /** The pages of at most `most` files, evenly taken. */
  def ofSome(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      most: Int = MostFiles): Seq[FilePages] = read(session, Evenly.take(files, most), columns)

  /**
   * Reads the indexes of the wanted columns only, in one Spark job (none for a handful of files); results in
   * the order of `files`. An encrypted file has one unknown page a column.
   */
  def read(session: ClassicSession, files: Seq[DataFile], columns: Seq[StatColumn]): Seq[FilePages] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    FooterJob.run(session, files, "page indexes") { (conf, slice) =>
      slice.map(ofFile(conf, _, columns, caseSensitive))
    }
  }

  private def ofFile(
      conf: Configuration,
      file: DataFile,
      columns: Seq[StatColumn],
      caseSensitive: Boolean): FilePages =
    FooterReader.open(conf, file) { reader =>
      of(reader, file, FooterReader.zones(reader.getFooter.getFileMetaData, columns, caseSensitive))
    }

  /**
   * The pages of a file that is open.
   *
   * @param wanted
   *   how the requested columns are found in it
   */
  private[stats] def of(reader: ParquetFileReader, file: DataFile, wanted: Seq[ChunkZone]): FilePages = {
    val blocks = FooterReader.filled(reader)
    val encryption = reader.getFooter.getFileMetaData.getEncryptionType
    if (encryption != FileMetaData.EncryptionType.UNENCRYPTED) {
      val unknown = Block(blocks.map(_.getRowCount).sum, IndexedSeq(Zone.Unknown))
      FilePages(file, wanted.map(_ => IndexedSeq(unknown)).toIndexedSeq)
    } else {
      val zones = wanted.map(_.beside(file))
      FilePages(file, zones.map(w => blocks.flatMap(b => ofRowGroup(reader, b, w))).toIndexedSeq)
    }
  }

  private def ofRowGroup(
      reader: ParquetFileReader,
      block: BlockMetaData,
      wanted: ChunkZone): IndexedSeq[Block] = {
    val chunks = ColumnChunks.byPath(block)
    val whole = wanted.of(chunks, block.getRowCount)
    val pages = for {
      chunk <- wanted.chunk(chunks, block.getRowCount)
      columnIndex <- Option(reader.readColumnIndex(chunk))
      offsets <- Option(reader.readOffsetIndex(chunk))
      nulls = ParquetZones.nulls(chunk)
      found <- ParquetZones.ofPages(columnIndex, offsets, block.getRowCount, whole, nulls, wanted.decoder)
    } yield found
    pages.fold(IndexedSeq(Block(block.getRowCount, IndexedSeq(whole)))) { found =>
      // a page index cuts long values short, and no reader comes to the page of a row group that it skips
      found.map { page =>
        val nullFree = if (wanted.keepsValues) page.nullFree else Set.empty[Int]
        page.copy(zones = page.zones.map(Zone.within(_, whole)), nullFree = nullFree)
      }
    }
  }
}
