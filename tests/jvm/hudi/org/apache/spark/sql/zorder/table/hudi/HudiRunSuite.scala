package org.apache.spark.sql.zorder.table.hudi

import org.scalatest.funsuite.AnyFunSuite

/** Whole runs on Hudi tables: the same result row, the same layout, a clustering in Hudi's timeline. */
class HudiRunSuite extends AnyFunSuite with HudiFixture {
  private val small = "WITH (fileCount = 16)"

  test("rows, keys and commit times stay, the timeline has a clustering, the layout is that of plain Parquet") {
    withTempDir { dir =>
      val (path, plain) = (dir.resolve("t"), dir.resolve("p"))
      hudi(path, 40000)
      numbers(40000).repartition(6).write.parquet(plain.toString)
      val row = done(keeps(path)(zorder(path, s"BY (a, b) $small")))
      val same = done(zorder(plain, s"BY (a, b) $small"))
      assert(metric[Long](row, "rows") === 40000 && metric[Long](row, "numFilesAdded") === 16)
      assert(files(path) === 16)
      for (c <- 0 to 1; level <- Seq("files", "row_groups", "pages"); what <- Seq("forecast", "measured"))
        assert(math.abs(share(row, c, level, what) - share(same, c, level, what)) < 0.02, s"$c $level $what")
      for ((c, i) <- Seq("a", "b").zipWithIndex)
        assert(math.abs(share(row, i, "files", "measured") - shareRead(read(path), c)) < 0.005)
      assert(timeline(path).last === (("replacecommit", "COMPLETED")))
      assert(pending(path) === 0)
    }
  }
}
