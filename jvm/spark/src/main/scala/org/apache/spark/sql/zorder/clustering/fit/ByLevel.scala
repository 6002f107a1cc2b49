package org.apache.spark.sql.zorder.clustering.fit

/** What there is at each level at which a reader skips: a number of blocks, or the share that is read. */
final case class ByLevel[A](files: A, rowGroups: A, pages: A) {
  def map[B](f: A => B): ByLevel[B] = ByLevel(f(files), f(rowGroups), f(pages))

  /** What is read where files that are opened are read whole. */
  def ofFiles: ByLevel[A] = ByLevel.same(files)
}

object ByLevel {

  /** One value for every level. */
  def same[A](each: A): ByLevel[A] = ByLevel(each, each, each)
}
