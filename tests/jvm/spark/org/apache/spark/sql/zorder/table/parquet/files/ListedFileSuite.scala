package org.apache.spark.sql.zorder.table.parquet.files

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

class ListedFileSuite extends AnyFunSuite {
  private val (flat, nested) = (ListedFile("a.parquet", 10, 1), ListedFile("p=1/q=2/a.parquet", 10, 2))

  test("the parts of a path") {
    assert(Seq(flat, nested).map(_.name) == Seq("a.parquet", "a.parquet"))
    assert(Seq(flat, nested).map(_.parent) == Seq("", "p=1/q=2"))
    assert(nested.under(new Path("/t")) == ListedFile("/t/p=1/q=2/a.parquet", 10, 2))
  }

  test("a copy with another time is the same file; one of another length or place is not") {
    assert(flat.copy(modified = 7).identity == flat.identity)
    assert(Seq(flat.copy(length = 11), nested).forall(_.identity != flat.identity))
  }
}
