package org.apache.spark.sql.zorder.store

import java.net.URLDecoder

import org.scalatest.funsuite.AnyFunSuite

/**
 * The requests of the first run over a table, counted exactly: over four files, or four in each of two partitions. A
 * number that changes is explained here.
 *
 * Two kinds are left out, because they depend on the clock: those of S3A's committer (`__magic`) and those of the run's
 * claim. S3A asks whether a directory is there by a list of two keys; that is a look here, and no listing.
 */
class ListingsOnStoreSuite extends AnyFunSuite with StoreFixture {

  /** What a run has asked for. */
  private case class Counted(listings: Map[String, Int], looks: Int, heads: Int, gets: Int, puts: Int)

  private def counted(at: String)(run: => Any): Counted = {
    val made = requests(run).filterNot(r => r.key.contains("__magic") || r.key.contains("claim-zorder"))
    def count(action: String): Int = made.count(_.action == action)
    val (looks, listed) = made.filter(_.action == "ListObjectsV2").partition(_.key.contains("max-keys=2&"))
    val listings = listed.groupBy(r => which(at, prefix(r))).map { case (dir, all) => dir -> all.size }
    Counted(listings, looks.size, count("HeadObject"), count("GetObject"), count("PutObject"))
  }

  private def prefix(list: Request): String =
    URLDecoder.decode(list.key, "UTF-8").replaceFirst(".*[?&]prefix=([^&]*).*", "$1")

  /** `old` is the table's directory before the run, `new` that after it, `beside` the one that both lie in. */
  private def which(at: String, prefix: String): String = {
    val table = key(at)
    val (parent, name) = table.splitAt(table.lastIndexOf('/') + 1)
    if (prefix == parent) "beside"
    else
      prefix.stripSuffix("/").replaceFirst(s"^${parent}z[^/]*[.]$name(?=/|$$)", "new")
        .replaceFirst(s"^$table(?=/|$$)", "old")
  }

  private def key(path: String): String = path.stripPrefix(s"s3a://${S3Server.Bucket}/")

  test("a table without partitions that moves") {
    withTable(partitioned = false) { (name, at) =>
      val made = counted(at)(done(cluster(name)))
      assert(made.listings === Map(
        // the journals: to recover; for late files before anything is written
        "beside" -> 2,
        // by Spark, to analyse the table and to forget its old files; to read it; for jobs at work and files
        // that came: before files are copied, and before the catalog is altered, which no earlier listing can
        // tell; for jobs after that, and then for the files of one that has ended meanwhile
        "old" -> 7,
        "old/_zorder/index" -> 1,
        // what earlier runs did; the number of this one, which another may have taken meanwhile
        "old/_zorder/runs" -> 2,
        // what was written; whether it is still there right before the catalog is altered, since anybody's
        // vacuum may have deleted it
        "new" -> 2
      ))
      assert((made.looks, made.heads, made.gets, made.puts) === ((27, 50, 33, 9)))
    }
  }

  test("a table with partitions that move") {
    withTable(partitioned = true) { (name, at) =>
      val made = counted(at)(done(cluster(name)))
      assert(made.listings === Map(
        // as above
        "beside" -> 2,
        // for jobs that write several partitions: before files are copied, before and after the catalog is
        // altered
        "old" -> 3,
        // to read it; for jobs and files, as above
        "old/p=0" -> 5,
        "old/p=1" -> 5,
        "old/_zorder/index" -> 1,
        // as above; what is there when the run's record is copied to it from the new directory
        "old/_zorder/runs" -> 3,
        // what was written; whether the directory is empty, as a rollback leaves it
        "new" -> 2,
        // what was written; whether it is still there
        "new/p=0" -> 2,
        "new/p=1" -> 2,
        // to copy the record, and to delete it here
        "new/_zorder/runs" -> 1,
        "new/_zorder" -> 1
      ))
      assert((made.looks, made.heads, made.gets, made.puts) === ((42, 100, 68, 12)))
    }
  }

  test("a path that is copied: a run in place is refused there") {
    withTable(partitioned = false) { (_, at) =>
      val to = place("copy")
      val statement = s"ZORDER TABLE parquet.`$at` BY (a, b) WITH (fileCount = 4, force = true) INTO '$to'"
      val made = counted(at)(done(one(statement)))
      assert(made.listings === Map(
        // the journals: for an exchange under way, and for unfinished commits before and after the run
        "beside" -> 3,
        "old" -> 1,
        "old/_zorder/runs" -> 1,
        // what was written
        key(to) -> 1
      ))
      // the claim lies beside the copy, so that the directory of both is there, which a look finds
      assert((made.looks, made.heads, made.gets, made.puts) === ((38, 55, 34, 3)))
    }
  }
}
