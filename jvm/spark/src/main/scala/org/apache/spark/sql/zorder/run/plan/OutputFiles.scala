package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.expr.layout.{PreImages, PartitionLayouts}

/**
 * What one shuffle partition writes: a file of a partition of the table.
 *
 * @param level
 *   `OutputFiles.InPlace`, `Appended` or `Gathered` (SPEC 4)
 * @param fileNumber
 *   the first file number that it may hold rows of
 * @param until
 *   one past the last of them
 */
final private[run] case class OutputFile(directory: String, level: Int, fileNumber: Int, until: Int)

/**
 * Which shuffle partition writes the rows of which file number.
 *
 * @param spread
 *   whether cells whose keys are all equal are spread over their files by a hash of the row
 */
final private[run] class OutputFiles(
    val each: IndexedSeq[OutputFile],
    val preImages: PreImages,
    val spread: Boolean) {
  def count: Int = preImages.partitions
}

private[run] object OutputFiles {

  /** Level of a file that holds the rows of one file number. */
  val InPlace = 0

  /** Level of a file in layout order across file numbers, left alone until a merge is worth it. */
  val Appended = 1

  /** Level of a file that holds rows of a region, which the steps to come will put in place. */
  val Gathered = 2

  private def inPlace(directory: String, n: Int): OutputFile = OutputFile(directory, InPlace, n, n + 1)

  /** Every file number of one layout by a partition of its own. */
  def each(files: Int): OutputFiles =
    new OutputFiles((0 until files).map(inPlace("", _)), new PreImages(files), spread = true)

  /** The same for the layouts of several partitions of a table, counted through. */
  def of(directories: Seq[String], routes: PartitionLayouts): OutputFiles = {
    val outputs = directories.zip(routes.refs).flatMap { case (directory, ref) =>
      (0 until ref.layout.files).map(inPlace(directory, _))
    }
    new OutputFiles(outputs.toIndexedSeq, new PreImages(outputs.length), spread = true)
  }

  /** New rows by files of their own, in layout order across file numbers. */
  def appended(directory: String, append: GrowthPlan.Append): OutputFiles = {
    import append.fileOf
    val outputs = (0 to fileOf.last).map(f =>
      OutputFile(directory, Appended, fileOf.indexOf(f), fileOf.lastIndexOf(f) + 1))
    some(outputs, fileOf.toIndexedSeq)
  }

  /**
   * Some of the file numbers.
   *
   * @param outputOf
   *   per file number, counted through all layouts, its place in `outputs`; any for one that has no rows
   */
  def some(outputs: IndexedSeq[OutputFile], outputOf: IndexedSeq[Int], spread: Boolean = false): OutputFiles =
    new OutputFiles(outputs, new PreImages(outputs.length, Some(outputOf)), spread)
}
