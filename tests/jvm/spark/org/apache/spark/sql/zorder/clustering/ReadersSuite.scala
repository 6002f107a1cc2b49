package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** What is said to those who read a table while its directories are exchanged. */
@SameOnAllLines
class ReadersSuite extends AnyFunSuite with RunFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"

  test("the result of a run that exchanges directories says what becomes of running queries", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).write.parquet(path.toString)
      def reason(target: String, more: String = "") =
        spark.sql(s"ZORDER TABLE $target $run $more").head().getAs[String]("reason")
      assert(!reason(s"'$path'", s"INTO '$path-copy'").contains("exchanged"))
      assert(reason(s"'$path'").contains("as before; directories were exchanged"))
      spark.sql(s"CREATE TABLE readers_ext USING parquet LOCATION '$path-copy'")
      assert(reason("readers_ext FULL").contains(s"$path-copy as before; directories were exchanged"))
      numbers(2000).withColumn("p", org.apache.spark.sql.functions.lit(1)).write.partitionBy("p")
        .format("parquet").saveAsTable("readers_parts")
      assert(reason("readers_parts").contains("exchanged"))
      // their old files stay where they are from now on
      Seq("readers_ext", "readers_parts").foreach { t =>
        spark.sql(s"ALTER TABLE $t SET TBLPROPERTIES ('zorder.location' = 'move')")
        val said = reason(s"$t FULL")
        assert(
          said.contains("any more: programs that read or write that path") && !said.contains("exchanged"))
      }
      assert(status(spark.sql(s"ZORDER TABLE readers_parts $run").head()) === "NOTHING_TO_DO")
      Seq("readers_ext", "readers_parts").foreach(t => spark.sql(s"DROP TABLE $t"))
    }
  }

  test("a streaming query that reads the table by its path forbids a run") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val frame = numbers(2000)
      frame.write.parquet(path.toString)
      val query = spark.readStream.schema(frame.schema).parquet(path.toString)
        .writeStream.format("noop").option("checkpointLocation", dir.resolve("c").toString).start()
      try {
        query.processAllAvailable()
        refused(path, s"ZORDER TABLE '$path' $run", "streaming query", "checkpoint")
        assert(status(zorder(path, s"$run INTO '$path-copy'")) === "DONE")
      } finally query.stop()
      done(zorder(path, run))
    }
  }

  test("so does one of another session, before its first batch, and the one in whose batch the run is") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val frame = numbers(2000)
      frame.write.parquet(path.toString)
      def condition(body: => Any): String = intercept[ZOrderException](body).condition
      @volatile var inBatch = ""
      val batch: (DataFrame, Long) => Unit = (rows, _) =>
        inBatch = condition(rows.sparkSession.sql(s"ZORDER TABLE '$path' $run").collect())
      val query = spark.newSession().readStream.schema(frame.schema).parquet(path.toString)
        .writeStream.foreachBatch(batch).option("checkpointLocation", dir.resolve("c").toString).start()
      try {
        assert(condition(zorder(path, run)) === "ZORDER_SESSION_REFUSED.STREAMING_READER")
        query.processAllAvailable()
        assert(inBatch === "ZORDER_SESSION_REFUSED.STREAMING_READER")
      } finally query.stop()
      done(zorder(path, run))
    }
  }
}
