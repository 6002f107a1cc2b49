package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import org.scalatest.Assertions

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.zorder.table.GuardedFileSystem
import org.apache.spark.util.Utils

/** The statements that read, on a table that nobody may write to. */
object OnlyReading extends Assertions {

  /**
   * Says all of them, and looks whether anything in `dir` was touched.
   *
   * @param table
   *   clustered by a and b; as in a statement, `db.t` or a path in quotes
   * @param dir
   *   holds the table and whatever is beside it
   * @return
   *   the dry run
   */
  def on(spark: SparkSession, table: String, dir: Path): Row = {
    val text = table.stripPrefix("'").stripSuffix("'")
    val kind = if (table.startsWith("'")) "path" else "table"
    val elsewhere = Files.createTempDirectory("zorder-copy-")
    GuardedFileSystem.settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try GuardedFileSystem.untouched(dir) {
        assert(spark.sql(s"SELECT * FROM zorder_history('$text')").count() > 0)
        spark.sql(s"SELECT zorder_file('$kind:$text', 1, 2L)").collect()
        assert(spark.sql(s"SELECT * FROM clustering_advice('$text')").count() > 0)
        assert(spark.sql(s"SELECT * FROM clustering_information('$text')").count() > 0)
        assert(spark.sql(s"SELECT * FROM clustering_boxes('$text')").count() > 0)
        spark.sql(s"ZORDER VACUUM $table RETAIN 0 HOURS DRY RUN").collect()
        val by = "WITH (fileCount = 4, force = true)"
        val copy = spark.sql(s"ZORDER TABLE $table BY (a, b) $by INTO '${elsewhere.resolve("copy")}'").head()
        assert(copy.getAs[String]("status") === "DONE", copy)
        spark.sql(s"ZORDER TABLE $table FULL BY (b, a) $by DRY RUN").head()
      }
    finally {
      GuardedFileSystem.settings.foreach(s => spark.conf.unset(s._1))
      Utils.deleteRecursively(elsewhere.toFile)
    }
  }
}
