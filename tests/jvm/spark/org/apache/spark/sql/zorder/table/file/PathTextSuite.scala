package org.apache.spark.sql.zorder.table.file

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

class PathTextSuite extends AnyFunSuite {

  private def isWithin(path: String, dir: String): Boolean =
    PathText.isWithin(PathText.of(new Path(path)), PathText.of(new Path(dir)))

  test("a directory holds itself and what lies below it, and not one whose name begins alike") {
    for (dir <- Seq("/data/t", "/data/t/", "file:/data/t", "hdfs://host/data/t")) {
      assert(isWithin("/data/t", dir) && isWithin("s3a://b/data/t/p=1", dir), dir)
      assert(!isWithin("/data/t2", dir), dir)
    }
    assert(!isWithin("/data", "/data/t") && isWithin("/data", "/") && isWithin("/", "/"))
  }
}
