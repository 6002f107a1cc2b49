package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

private[table] object CatalogResolver {
  def open(session: ClassicSession, parts: Seq[String]): parquet.ParquetTable = {
    val _ = session
    refuse(s"Cannot open the table ${parts.mkString(".")} by name yet.")
  }

  def refuseOverlap(session: ClassicSession, root: Path, except: Option[String]): Unit = {
    val _ = (session, root, except)
  }
}
