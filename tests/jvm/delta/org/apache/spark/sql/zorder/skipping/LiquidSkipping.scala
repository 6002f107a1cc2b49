package org.apache.spark.sql.zorder.skipping

import org.apache.spark.sql.zorder.table.delta.AlteredLiquidTables
import sparkzorder.mark.{LongTest, SameOnAllLines}

/** Queries of liquid tables, whose list of files we narrow. */
@LongTest
@SameOnAllLines
class LiquidSkippingSuite extends DeltaSkippingSuite with AlteredLiquidTables

/** Queries of liquid tables at random; we have clustered one of these. */
@LongTest
@SameOnAllLines
class LiquidSkippingAtRandomSuite extends DeltaSkippingAtRandomSuite with AlteredLiquidTables

/** Liquid tables with an index of ours. */
@LongTest
@SameOnAllLines
class LiquidIndexSuite extends DeltaIndexSuite with AlteredLiquidTables
