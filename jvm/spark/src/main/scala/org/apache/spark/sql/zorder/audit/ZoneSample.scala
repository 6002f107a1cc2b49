package org.apache.spark.sql.zorder.audit

import org.apache.spark.sql.zorder.fit.{BytesSample, LongSample, Sample, SampleColumn}
import org.apache.spark.sql.zorder.run.inspect.Probes
import sparkzorder.curve.{Block, BytesWord, Evenly, LongWord, Word}

/** Rows as files of these bounds might hold them, where no data is read: some of each of at most 2,500 files. */
private[audit] object ZoneSample {
  private val MostFiles = 2500
  private val RowsOfAFile = 4

  /** @param columns number of zones of each block */
  def of(files: IndexedSeq[Block], columns: Int): Sample = {
    val some = Evenly.some(files, MostFiles)
    Sample((0 until columns).map(c => column(some.flatMap(values(_, c)))))
  }

  /** Each column begins at another of its values, or rows would lie on the diagonals of the boxes. */
  private def values(block: Block, c: Int): IndexedSeq[Option[Word]] = {
    val found = Probes.of(block.zones(c)).toIndexedSeq
    (0 until RowsOfAFile).map(i =>
      if (found.isEmpty) None else Some(found((i * (2 * c + 1) + c) % found.length)))
  }

  private def column(words: IndexedSeq[Option[Word]]): SampleColumn = {
    val isNull = words.map(_.isEmpty).toArray
    words.flatten.headOption match {
      case Some(_: BytesWord) =>
        BytesSample(
          words.map { case Some(BytesWord(b)) => b; case _ => Array.emptyByteArray }.toArray,
          isNull)
      case _ => LongSample(words.map { case Some(LongWord(v)) => v; case _ => 0L }.toArray, isNull)
    }
  }
}
