package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame

class IcebergFewFilesSuite extends AnyFunSuite with NarrowedIcebergTables with FewFiles {

  override protected def made(dir: Path, name: String, rows: DataFrame): String = {
    val table = create(s"few_$name", rows.schema.toDDL)
    rows.writeTo(table).option("distribution-mode", "none").append()
    table
  }
}
