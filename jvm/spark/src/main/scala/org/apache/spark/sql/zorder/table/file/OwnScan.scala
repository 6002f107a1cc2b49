package org.apache.spark.sql.zorder.table.file

/** Marks the file index of a scan that a clustering run makes: no query of the user, never logged. */
trait OwnScan
