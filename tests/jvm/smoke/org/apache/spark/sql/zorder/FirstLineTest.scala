package org.apache.spark.sql.zorder

import org.scalatest.Tag

/** Marks one test as [[SameOnAllLines]] marks a suite: `make test` runs it on the first of the full lines only. */
object FirstLineTest extends Tag("org.apache.spark.sql.zorder.SameOnAllLines")
