package org.apache.spark.sql.zorder.table.storage

import java.util.Locale

/** File systems where a directory cannot be renamed in one step. */
private[zorder] object ObjectStores {

  private val schemes = Set(
    "s3",
    "s3a",
    "s3n",
    "gs",
    "gcs",
    "abfs",
    "abfss",
    "wasb",
    "wasbs",
    "adl",
    "oss",
    "oci",
    "cos",
    "cosn",
    "obs",
    "ks3",
    "tos",
    "swift",
    "r2",
    "bos",
    "ufile",
    "wasabi",
    "dbfs")

  def isOne(scheme: String): Boolean = scheme != null && schemes(scheme.toLowerCase(Locale.ROOT))
}
