package org.apache.spark.sql.zorder.table.delta

import org.scalatest.{BeforeAndAfterEach, TestSuite}

import sparkzorder.mark.{LongTest, SameOnAllLines}

/** The tables of a suite have liquid clustering by the columns of its runs. */
trait LiquidTables extends DeltaFixture { this: TestSuite =>
  override protected def clusterBy: Option[String] = Some("a, b")
}

/** Delta 4 computes the state of a liquid table while Spark analyzes an ALTER of it, which Spark forbids in tests alone. */
trait AlteredLiquidTables extends LiquidTables with BeforeAndAfterEach { this: TestSuite =>
  private var testing: Option[String] = None

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    testing = Option(System.clearProperty("spark.testing"))
  }

  override protected def afterEach(): Unit =
    try testing.foreach(System.setProperty("spark.testing", _))
    finally super.afterEach()
}

/** Others at work during a run on a liquid table, and runs that die. */
@LongTest
@SameOnAllLines
class LiquidConcurrencySuite extends DeltaConcurrencySuite with LiquidTables

/** Others that remove rows of a liquid table during a run. */
@LongTest
@SameOnAllLines
class LiquidRebaseSuite extends DeltaRebaseSuite with LiquidTables

/** Runs on liquid tables whose tasks, writes or commits fail. */
@LongTest
@SameOnAllLines
class LiquidFaultSuite extends DeltaFaultSuite with LiquidTables

/** Statements on liquid tables in JVMs that are halted. */
@LongTest
@SameOnAllLines
class LiquidHaltSuite extends DeltaHaltSuite with LiquidTables

/** Features of Delta's protocol on liquid tables. */
@LongTest
@SameOnAllLines
class LiquidFeaturesSuite extends DeltaFeaturesSuite with AlteredLiquidTables

/** Statements that only read liquid tables. */
@LongTest
@SameOnAllLines
class LiquidReadingSuite extends DeltaReadingSuite with LiquidTables

/** Liquid tables that are larger than a batch. */
@LongTest
@SameOnAllLines
class LiquidStepsSuite extends DeltaStepsSuite with LiquidTables
