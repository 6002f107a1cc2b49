package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.expressions.Expressions
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row

/** The layout is that of plain Parquet, and reads no more than Iceberg's own z-order on the same rows. */
class IcebergLayoutSuite extends AnyFunSuite with IcebergFixture {
  private val columns = "id BIGINT, a INT, at TIMESTAMP, price DOUBLE"
  private val values = Seq(
    "id",
    "int(pmod(hash(id), 1000000)) AS a",
    "timestamp_seconds(1400000000L + pmod(hash(id, 1), 300000000)) AS at",
    "pmod(hash(id, 2), 2000000) / 1000d - 1000 AS price")

  private def measured(row: Row, level: String): Seq[Double] = {
    val shares = row.getSeq[Row](row.fieldIndex("columns"))
    shares.map(_.getAs[Row](level).getAs[Double]("measured"))
  }

  test("shares of files, row groups and pages as on plain Parquet, for 16 files") {
    val t = create("layout", columns)
    fill(t, 40000, 16, values: _*)
    val path = temp.resolve("parquet").toUri.toString
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

  test("no column reads more files than after rewrite_data_files with zorder, and the mean is far below") {
    val (ours, theirs) = (create("ours", columns), create("theirs", columns))
    Seq(ours, theirs).foreach(fill(_, 40000, 16, values: _*))
    val bytes = tasks(theirs).map(_.file.fileSizeInBytes).sum
    sql("CALL ice.system.rewrite_data_files(table => 'db.theirs', strategy => 'sort', " +
      s"sort_order => 'zorder(a, at, price)', options => map('rewrite-all', 'true', 'target-file-size-bytes', '${bytes / 16}'))").collect()
    val n = tasks(theirs).length
    assert(status(sql(s"ZORDER TABLE $ours BY (a, at, price) WITH (fileCount = $n, force = true)").head()) == "DONE")
    val shares = Seq("a", "at", "price").map { c =>
      c -> ((planned(ours, c) / tasks(ours).length, planned(theirs, c) / n))
    }
    val (mine, other) = (shares.map(_._2._1).sum / 3, shares.map(_._2._2).sum / 3)
    info(s"$n files; shares of files read, ours and Iceberg's: " + shares.map { case (c, (x, y)) =>
      f"$c $x%.3f $y%.3f"
    }.mkString(", "))
    assert(mine < 0.48 && mine < 0.85 * other, shares)
  }
}
