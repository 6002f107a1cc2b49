package org.apache.spark.sql.zorder.table.hudi

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.mark.LongTest

/** Look-ups read no more files than after Hudi's own z-order and Hilbert clustering of the same rows. */
@LongTest
class HudiLayoutSuite extends AnyFunSuite with HudiFixture {
  private val n = 20000L
  private val values = Seq(
    "id",
    "int(pmod(hash(id), 1000000)) AS a",
    "int(pmod(hash(id, 3), 1000000)) AS b",
    "timestamp_seconds(1400000000L + pmod(hash(id, 1), 300000000)) AS at",
    "pmod(hash(id, 2), 2000000) / 1000d - 1000 AS price")

  private def filled(path: Path): Unit =
    write(spark.range(0, n, 1, 4).selectExpr(values: _*).repartition(16), path, "bulk_insert")

  /** Hudi's clustering with one group for the table, so that one curve spans it, and about 16 files. */
  private def theirs(path: Path, by: Seq[String], curve: String, build: String): Seq[Double] = {
    filled(path)
    val bytes = filesRead(path).toSeq.map(f => java.nio.file.Files.size(path.resolve(f))).sum
    val options = Map(
      "hoodie.layout.optimize.curve.build.method" -> build,
      "hoodie.clustering.plan.strategy.small.file.limit" -> (bytes * 4).toString,
      "hoodie.clustering.plan.strategy.max.bytes.per.group" -> (bytes * 4).toString,
      "hoodie.clustering.plan.strategy.target.file.max.bytes" -> (bytes / 16).toString)
    spark.sql(
      s"CALL run_clustering(path => '$path', order => '${by.mkString(",")}', order_strategy => '$curve', " +
        s"options => '${options.map { case (k, v) => s"$k=$v" }.mkString(",")}')").collect()
    assert(timeline(path).last === (("replacecommit", "COMPLETED")))
    by.map(shareRead(read(path), _))
  }

  private def ours(path: Path, by: Seq[String], files: Int): Seq[Double] = {
    filled(path)
    done(zorder(path, s"BY (${by.mkString(", ")}) WITH (fileCount = $files, force = true)"))
    by.map(shareRead(read(path), _))
  }

  private def sideBySide(
      by: Seq[String],
      ways: (String, String)*)(check: (Seq[Double], Seq[Double]) => Unit): Unit =
    for ((curve, build) <- ways) withTempDir { dir =>
      val other = theirs(dir.resolve("theirs"), by, curve, build)
      val count = files(dir.resolve("theirs"))
      val own = ours(dir.resolve("ours"), by, count)
      info(s"$count files, Hudi's $curve $build; shares of files read, ours and Hudi's: " +
        by.zip(own.zip(other)).map { case (c, (x, y)) => f"$c $x%.3f $y%.3f" }.mkString(", "))
      check(own, other)
    }

  test("columns of one type and range: no column reads more files than after Hudi's own curves") {
    sideBySide(Seq("a", "b"), "z-order" -> "direct", "hilbert" -> "sample") { (own, other) =>
      assert(own.zip(other).forall { case (x, y) => x <= y * 1.01 })
    }
  }

  test("columns of unlike types: Hudi's direct z-order sorts by one of them, ours serves all") {
    sideBySide(Seq("a", "at", "price"), "z-order" -> "direct", "z-order" -> "sample") { (own, other) =>
      assert(own.max < 0.6 && own.sum <= other.sum * 1.01)
    }
  }
}
