package org.apache.spark.sql.zorder.clustering.plan

import org.apache.spark.sql.zorder.expr.layout.{PartitionLayouts, PreImages}

/**
 * What one shuffle partition writes: a file of a partition of the table.
 *
 * @param level
 *   `OutputPlan.InLayout`, `InSortedRun` or `InRegion` (docs/spec.md, section 4)
 * @param fileNumber
 *   the first file number that it may hold rows of, as far as known
 * @param until
 *   one past the last of them
 */
final private[clustering] case class OutputFile(directory: String, level: Int, fileNumber: Int, until: Int)

/**
 * Which shuffle partition writes the rows of which file number.
 *
 * @param spread
 *   whether cells whose keys are all equal are spread over their files by a hash of the row
 */
final private[clustering] class OutputPlan(
    val each: IndexedSeq[OutputFile],
    val preImages: PreImages,
    val spread: Boolean) {
  def count: Int = preImages.partitions

  /** Some of the files alone, numbered anew, for rows that belong to no other. */
  def only(some: IndexedSeq[Int]): OutputPlan = {
    val place = some.zipWithIndex.toMap
    val outputOf = preImages.targets.getOrElse(0 until count).map(place.getOrElse(_, 0))
    OutputPlan.some(some.map(each), outputOf, spread)
  }
}

private[clustering] object OutputPlan {

  /** Level of a file that holds the rows of one file number. */
  val InLayout = 0

  /** Level of a file of a sorted run, across file numbers, left alone until a merge is worth it. */
  val InSortedRun = 1

  /** Level of a file that holds rows of a region, which the steps to come will put in place. */
  val InRegion = 2

  /** The file of one file number. */
  private[plan] def inLayout(directory: String, n: Int): OutputFile =
    OutputFile(directory, InLayout, n, n + 1)

  /** Every file number of one layout by a partition of its own. */
  def each(files: Int): OutputPlan =
    new OutputPlan((0 until files).map(inLayout("", _)), new PreImages(files), spread = true)

  /** The output files of several partitions, numbered consecutively. */
  def of(directories: Seq[String], layouts: PartitionLayouts): OutputPlan = {
    val outputs = directories.zip(layouts.refs).flatMap { case (directory, ref) =>
      (0 until ref.layout.files).map(inLayout(directory, _))
    }
    new OutputPlan(outputs.toIndexedSeq, new PreImages(outputs.length), spread = true)
  }

  /**
   * Per file number, the place in `written` of the nearest number. A number that is not written has no rows,
   * unless a clustering expression means another thing than when they were counted, such as `to_date(ts)` in
   * another time zone: these rows widen the file of their neighbours, and not one at the other end.
   *
   * @param written
   *   numbers, ascending, at least one
   */
  private[plan] def nearest(written: IndexedSeq[Int], files: Int): IndexedSeq[Int] = {
    val numbers = written.toArray
    (0 until files).map { n =>
      val found = java.util.Arrays.binarySearch(numbers, n)
      val above = -found - 1
      if (found >= 0) found
      else if (above == numbers.length) above - 1
      else if (above > 0 && n - numbers(above - 1) <= numbers(above) - n) above - 1
      else above
    }
  }

  /** New rows as files of their own, in layout order across file numbers. */
  def sortedRun(directory: String, append: GrowthPlan.Append): OutputPlan = {
    import append.fileOf
    val outputs = (0 to fileOf.last).map(f =>
      OutputFile(directory, InSortedRun, fileOf.indexOf(f), fileOf.lastIndexOf(f) + 1))
    some(outputs, fileOf.toIndexedSeq)
  }

  /**
   * Some of the file numbers.
   *
   * @param outputOf
   *   per file number, counted through all layouts, its place in `outputs`; a near one for one that has no rows
   */
  def some(outputs: IndexedSeq[OutputFile], outputOf: IndexedSeq[Int], spread: Boolean = false): OutputPlan =
    new OutputPlan(outputs, new PreImages(outputs.length, Some(outputOf)), spread)
}
