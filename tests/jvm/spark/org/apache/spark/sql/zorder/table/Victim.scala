package org.apache.spark.sql.zorder.table

import java.io.File

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.parquet.commit.{ExchangeMark, PathCommit, SwapPlan}
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.parquet.journal.JournalStore
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** Runs one statement: the statement, and settings of the session as `key=value`. */
object StatementVictim {

  def main(args: Array[String]): Unit = {
    val spark = session(args.drop(1).toSeq)
    spark.sql(args(0)).collect()
    spark.stop()
  }

  def session(settings: Seq[String]): SparkSession = {
    val builder = ZOrderSession.builder().master("local[1]")
    settings.foreach { setting =>
      val cut = setting.indexOf('=')
      builder.config(setting.take(cut), setting.drop(cut + 1))
    }
    builder.getOrCreate()
  }
}

/**
 * A run that meets somebody else's statement when it is about to commit for the first time: the run, the other
 * statement, and settings of the session as `key=value`.
 */
object RebaseVictim {

  def main(args: Array[String]): Unit = {
    val spark = StatementVictim.session(args.drop(2).toSeq)
    val others = Iterator(args(1))
    CrashPoint.meanwhile = at =>
      if (at.endsWith("-commit") && others.hasNext) { spark.sql(others.next()).collect(); () }
    spark.sql(args(0)).collect()
    spark.stop()
  }
}

/** Commits what somebody has staged for a path: its root, the commit, the record. No Spark needed. */
object PathVictim {

  def main(args: Array[String]): Unit = {
    val (root, request) = (new Path(args(0)), Victims.request(args(2)))
    val store = JournalStore.beside(root.getFileSystem(new Configuration), root)
    val draft = store.get(args(1)).get
    val staged = DirectoryListing.walk(store.fs, draft.staging)
    val units = SwapPlan.forPath(store, draft, staged, request.inputs, Map.empty, Map("" -> draft.home))
    new PathCommit(
      store,
      ExchangeMark.Unmarked,
      300L).commit(draft.copy(units = units), request.record, request.layouts)
    ()
  }
}

/**
 * Commits what somebody has staged for a table of the catalog: its name, the commit, the record, the
 * file of its [[CatalogImage]], and settings of the session.
 */
object CatalogVictim {

  def main(args: Array[String]): Unit = {
    val (table, image) = (args(0), new File(args(3)))
    val spark = StatementVictim.session(args.drop(4).toSeq)
    CatalogImage.create(spark, image)
    CrashPoint.meanwhile = _ => CatalogImage.write(spark, table, image)
    val opened = TableResolver.openParquet(Shims.classic(spark), TableRef.Name(Seq(table)), Nil)
    opened.commit(opened.store.get(args(1)).get, Victims.request(args(2)))
  }
}
