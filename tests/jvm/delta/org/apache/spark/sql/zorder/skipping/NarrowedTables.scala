package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import io.delta.tables.DeltaTable
import org.scalatest.TestSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.table.delta.DeltaFixture

/** Delta tables in the order of their ids, and queries of them, in which `<t>` stands for the table. */
trait NarrowedTables extends DeltaFixture with SkippedScans { this: TestSuite =>

  // the queries are what is tested
  override protected def comparesCommits: Boolean = false

  /** Files of a hundred ids each. */
  protected def ids(from: Long, files: Int): DataFrame =
    spark.range(from, from + files * 100L, 1, files).selectExpr(
      "id",
      "timestamp_seconds(1577836800 + id) ts",
      "if(id div 100 = 4, null, id) n",
      "if(id % 2 = 0, null, id) m",
      "if(id % 100 = 7, double('NaN'), cast(id as double)) d",
      "concat('k', lpad(cast(id as string), 6, '0')) s",
      "concat(repeat('x', 40), lpad(cast(id as string), 6, '0')) url",
      "date_add(date'2020-01-01', cast(id div 100 as int)) day",
      "cast(id as decimal(25, 3)) w",
      "id % 3 r")

  /** Adds rows to a table. Where those of the suite are liquid, it is one by its first column. */
  protected def saved(df: DataFrame, path: Path, properties: (String, String)*): Unit =
    if (clusterBy.isEmpty || DeltaTable.isDeltaTable(spark, path.toString))
      properties.foldLeft(df.write.format("delta").mode("append")) { case (writer, (key, value)) =>
        writer.option(s"delta.$key", value)
      }.save(path.toString)
    else {
      // one statement, so that version 0 has the rows, as it has without clustering
      df.createOrReplaceTempView("first_rows")
      val set = properties.map { case (key, value) => s"'delta.$key' = '$value'" }
      val more = if (set.isEmpty) "" else set.mkString("TBLPROPERTIES (", ", ", ") ")
      on(
        path,
        s"CREATE TABLE <t> USING delta CLUSTER BY (${df.columns.head}) ${more}AS SELECT * FROM first_rows")
      ()
    }

  /** Ten files. */
  protected def table(path: Path, properties: (String, String)*): Unit =
    saved(ids(0, 10), path, properties: _*)

  protected def on(path: Path, query: String): DataFrame =
    spark.sql(query.replace("<t>", s"delta.`$path`"))

  /** Each query opens so many files, and has the answer of a session that skips nothing. */
  protected def check(path: Path, queries: (String, Int)*): Unit =
    queries.foreach { case (query, files) => assert(opens(on(path, query)) === files, query) }

  /** Files of which rows are deleted. */
  protected def vectors(path: Path): Int =
    DeltaLog.forTable(spark, path.toString).update().allFiles.collect().count(_.deletionVector != null)

  protected def texts(path: Path): Seq[String] = texts(read(path).collect().toSeq)

  protected def texts(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted
}
