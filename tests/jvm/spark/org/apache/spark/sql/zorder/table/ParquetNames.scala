package org.apache.spark.sql.zorder.table

import java.io.File

/** The names of the Parquet files below a directory, hidden or not. */
private[table] object ParquetNames {
  def below(dir: String): Seq[String] = {
    val root = new File(dir)
    def walk(f: File, prefix: String): Seq[String] = Option(f.listFiles).toSeq.flatten.flatMap { c =>
      if (c.isDirectory) walk(c, s"$prefix${c.getName}/") else Seq(prefix + c.getName)
    }
    walk(root, "").filter(_.endsWith(".parquet"))
  }
}
