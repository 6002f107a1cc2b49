package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame

class DeltaFewFilesSuite extends AnyFunSuite with NarrowedTables with FewFiles {

  override protected def made(dir: Path, name: String, rows: DataFrame): String = {
    saved(rows, dir.resolve(name))
    s"delta.`${dir.resolve(name)}`"
  }
}
