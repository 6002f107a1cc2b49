package org.apache.spark.sql.zorder.table.delta

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** The audit of Delta tables, whose files come from the log, partitions and renamed columns included. */
@SameOnAllLines
class DeltaAuditSuite extends AnyFunSuite with UncomparedCommits {

  test("a partition is audited by itself, and renamed columns are found in files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr("a", "b", "id % 2 AS p").repartition(4).write.format("delta")
        .option("delta.columnMapping.mode", "name").partitionBy("p").save(path.toString)
      spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN a TO x")
      def audit(columns: String): Seq[Row] =
        spark.sql(s"SELECT * FROM clustering_information('$path'$columns)").collect().toSeq
      val rows = audit(", 'x, b'")
      assert(rows.map(_.getAs[String]("partition")).toSet === Set(null, "p=0", "p=1"))
      assert(rows.map(_.getAs[String]("verdict")).distinct === Seq("RECLUSTER"))
      assert(rows.map(_.getAs[String]("statement")).toSet === Set(
        s"ZORDER TABLE '$path' BY (x, b) WITH (fileCount = 4)",
        s"ZORDER TABLE '$path' WHERE p = 0L BY (x, b) WITH (fileCount = 4)",
        s"ZORDER TABLE '$path' WHERE p = 1L BY (x, b) WITH (fileCount = 4)"))
      done(keeps(path)(one(rows.last.getAs[String]("statement").replace("= 4)", "= 4, force = true)"))))
      val worst = rows.last.getAs[String]("partition")
      val after = audit("")
      assert(after.find(_.getAs[String]("partition") == worst).get.getAs[String]("verdict") === "OK")
      assert(after.head.getAs[String]("statement") === rows(1).getAs[String]("statement"))
      assert(after.head.getAs[Long]("files_without_statistics") === 0)
    }
  }

  test("a Bloom filter of a liquid table is proposed by the columns of the table", LongTest) {
    withTempDir { dir =>
      withConf("spark.zorder.fileCount" -> "8", "spark.zorder.pageRowLimit" -> "1000") {
        val path = dir.resolve("t")
        spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, a INT, b BIGINT, s STRING, d DATE) USING delta " +
          "CLUSTER BY (a, d) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')")
        numbers(40000).withColumn("b", col("b") % 2000).repartition(4).write.format("delta").mode("append")
          .save(path.toString)
        val asked = Seq("a" -> 1, "b" -> 1, "id" -> 2).map { case (c, weight) =>
          val box = s"named_struct('column', '$c', 'kind', 'equal')"
          s"SELECT array(array($box)) boxes, ${weight}D weight, '$c' query"
        }
        spark.sql(asked.mkString(" UNION ALL ")).createOrReplaceTempView("liquid_log")
        val rows = spark.sql(s"SELECT * FROM clustering_advice('$path', 'liquid_log')").collect().toSeq
        val bloom = rows.find(_.getAs[String]("verdict") == "BLOOM FILTER").get.getAs[String]("statement")
        assert(bloom.startsWith(s"ZORDER TABLE '$path' BY (a, d)") && bloom.contains("bloom = 'id'"), bloom)
        done(one(bloom))
      }
    }
  }
}
