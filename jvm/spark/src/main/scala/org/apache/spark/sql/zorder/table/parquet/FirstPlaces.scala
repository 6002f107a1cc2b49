package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, UnfinishedFiles}
import org.apache.spark.sql.zorder.table.parquet.journal.Journal
import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * Where a table or its partitions lay before their files moved for the first time, and where others may still write. A
 * journal names such a place only as long as old files are there.
 */
private[parquet] object FirstPlaces {

  /**
   * Files in the first places that no finished commit names. A place that the catalog names again is none.
   *
   * @param done
   *   finished commits
   * @param live
   *   where the data is now
   */
  def late(
      table: CatalogParquetTable,
      done: Seq[Journal],
      live: => Map[String, Path]): Seq[LateDataFile] =
    if (!table.entry.hasMoved) Nil
    else {
      val now = live
      val used = now.values.map(PathText.of).toSet
      val named = done.flatMap(_.units.map(u => PathText.of(u.old))).toSet
      val places = table.entry.firstPlaces(now).toSeq.sortBy(_._1).filterNot { case (_, home) =>
        used(PathText.of(home)) || named(PathText.of(home))
      }
      val moved = done.flatMap(j => j.units.map(u => PathText.of(u.target) -> j)).toMap
      for {
        (partition, home) <- existing(table, places)
        f <- DirectoryListing.walk(table.store.fs, home).data
        if !isBelow(used, home, new Path(home, f.rel)) && !UnfinishedFiles.is(table.store.fs, home, f)
      } yield LateDataFile(
        moved.get(PathText.of(now(partition))).orElse(done.lastOption),
        partition,
        home,
        f,
        home = true,
        sure = false,
        far = !isNear(table, home))
    }

  /** Whether a partition of the table lies between. */
  private def isBelow(live: Set[String], home: Path, file: Path): Boolean =
    Iterator.iterate(file.getParent)(_.getParent).takeWhile(d => d != null && d != home)
      .exists(d => live(PathText.of(d)))

  /** Whether the table's directory holds the place, or lay there itself. */
  private def isNear(table: CatalogParquetTable, home: Path): Boolean =
    if (table.partitioned) PathText.of(home).startsWith(s"${PathText.of(table.root)}/")
    else PathText.of(home.getParent) == PathText.of(table.root.getParent)

  /** Places inside the table's directory are found by listings of it: of thousands, most have gone together. */
  private def existing(table: CatalogParquetTable, places: Seq[(String, Path)]): Seq[(String, Path)] = {
    val (inside, others) = places.partition { case (_, home) => table.partitioned && isNear(table, home) }
    val top = PathText.of(table.root)
    others ++ present(
      table.store.fs,
      table.root,
      inside.map { case (p, home) =>
        PathText.of(home).stripPrefix(s"$top/").split('/').toList -> (p -> home)
      })
  }

  private def present(
      fs: FileSystem,
      at: Path,
      below: Seq[(List[String], (String, Path))]): Seq[(String, Path)] = {
    val here = below.collect { case (Nil, place) => place }
    val deeper = below.collect { case (name :: rest, place) => (name, (rest, place)) }
    here ++ (if (deeper.isEmpty) Nil
             else {
               val names =
                 TextFiles.children(fs, at).filter(_.isDirectory).map(_.getPath.getName).toSet
               deeper.groupBy(_._1).toSeq.sortBy(_._1).filter(d => names(d._1)).flatMap {
                 case (name, places) => present(fs, new Path(at, name), places.map(_._2))
               }
             })
  }
}
