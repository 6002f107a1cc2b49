package org.apache.spark.sql.zorder.store

import org.scalatest.Tag

/** Tests that `make test` runs too; `make store-test` runs all. */
private[store] object InShort extends Tag("sparkzorder.InShort")
