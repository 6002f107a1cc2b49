package org.apache.spark.sql.zorder.table.file

/** Marks the file index of a clustering run's own scan, which is no query of the user and is never logged. */
trait OwnScan
