package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.expressions.Expressions
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** The layout is that of plain Parquet, and reads no more than Iceberg's own z-order on the same rows. */
@SameOnAllLines
class IcebergLayoutSuite extends AnyFunSuite with IcebergFixture {
  private val columns = "id BIGINT, a INT, b INT, at TIMESTAMP, price DOUBLE"
  private val values = Seq(
    "id",
    "int(pmod(hash(id), 1000000)) AS a",
    "int(pmod(hash(id, 3), 1000000)) AS b",
    "timestamp_seconds(1400000000L + pmod(hash(id, 1), 300000000)) AS at",
    "pmod(hash(id, 2), 2000000) / 1000d - 1000 AS price")

  private def measured(row: Row, level: String): Seq[Double] = {
    val shares = row.getSeq[Row](row.fieldIndex("columns"))
    shares.map(_.getAs[Row](level).getAs[Double]("measured"))
  }

  test("shares of files, row groups and pages as on plain Parquet, for 16 files", LongTest) {
    val t = create("layout", columns)
    fill(t, 40000, 16, values: _*)
    val path = temp.resolve("parquet").toUri.toString
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    spark.range(0, 40000, 1, 16).selectExpr(values: _*).write.parquet(path)
    val options = "BY (a, at, price) WITH (fileCount = 16, force = true, pageRowLimit = 250)"
    val ours = sql(s"ZORDER TABLE $t $options").head()
    val plain = sql(s"ZORDER TABLE '$path' $options").head()
    Seq("files", "row_groups", "pages").foreach { level =>
      measured(ours, level).zip(measured(plain, level)).foreach { case (x, y) =>
        assert(math.abs(x - y) < 0.02, s"$level: ${measured(ours, level)} and ${measured(plain, level)}")
      }
    }
  }

  /** Mean number of files that Iceberg plans for look-ups of some rows' values. */
  private def planned(table: String, column: String): Double = {
    val loaded = load(table)
    val rows = spark.table(table).where("id % 401 = 7")
    val wanted = (column match {
      case "at" => rows.selectExpr("unix_micros(at)")
      case c => rows.select(c)
    }).collect().map(_.get(0))
    wanted.map { v =>
      val scan = loaded.newScan().filter(Expressions.equal(column, v)).planFiles()
      try {
        var n = 0
        scan.forEach(_ => n += 1)
        n
      } finally scan.close()
    }.sum.toDouble / wanted.length
  }

  /** Shares of files that Iceberg plans for look-ups: after a run of ours, and after Iceberg's own z-order. */
  private def sideBySide(name: String, by: Seq[String]): (Int, Seq[(Double, Double)]) = {
    val (ours, theirs) = (create(s"${name}_ours", columns), create(s"${name}_theirs", columns))
    Seq(ours, theirs).foreach(fill(_, 40000, 16, values: _*))
    val list = by.mkString(", ")
    val size = tasks(theirs).map(_.file.fileSizeInBytes).sum / 16
    sql(s"CALL ice.system.rewrite_data_files(table => 'db.${name}_theirs', strategy => 'sort', sort_order => " +
      s"'zorder($list)', options => map('rewrite-all', 'true', 'target-file-size-bytes', '$size'))").collect()
    val n = tasks(theirs).length
    val row = sql(s"ZORDER TABLE $ours BY ($list) WITH (fileCount = $n, force = true)").head()
    assert(status(row) == "DONE" && tasks(ours).length == n)
    val shares = by.map(c => (planned(ours, c) / n, planned(theirs, c) / n))
    info(s"$n files; shares of files read, ours and Iceberg's: " + by.zip(shares).map { case (c, (x, y)) =>
      f"$c $x%.3f $y%.3f"
    }.mkString(", "))
    (n, shares)
  }

  /** What no layout of so many files can go below, as a mean over the columns. */
  private def bound(files: Int, columns: Int): Double = math.pow(files.toDouble, -1.0 / columns)

  test("columns of one type and range: none reads more files than after Iceberg's own zorder", LongTest) {
    val (n, shares) = sideBySide("alike", Seq("a", "b"))
    shares.foreach { case (ours, theirs) => assert(ours <= theirs * 1.01) }
    assert(shares.map(_._1).sum / 2 < 1.05 * bound(n, 2))
  }

  test("columns of unlike types: Iceberg's zorder sorts by one of them, ours serves all", LongTest) {
    val (n, shares) = sideBySide("unlike", Seq("a", "at", "price"))
    val (ours, theirs) = (shares.map(_._1), shares.map(_._2))
    assert(ours.max < 0.6 && ours.sum / 3 < 1.08 * bound(n, 3))
    assert(theirs.count(_ > 0.95) == 2 && ours.sum < 0.65 * theirs.sum)
  }
}
