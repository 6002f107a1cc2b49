package org.apache.spark.sql.zorder.skipping

import org.apache.spark.sql.zorder.table.delta.LiquidTables
import sparkzorder.mark.{LongTest, SameOnAllLines}

/** Queries of liquid tables, whose list of files we narrow. */
@LongTest
@SameOnAllLines
class LiquidSkippingSuite extends DeltaSkippingSuite with LiquidTables

/** Queries of liquid tables at random; we have clustered one of these. */
@LongTest
@SameOnAllLines
class LiquidSkippingAtRandomSuite extends DeltaSkippingAtRandomSuite with LiquidTables

/** Liquid tables with an index of ours. */
@LongTest
@SameOnAllLines
class LiquidIndexSuite extends DeltaIndexSuite with LiquidTables
