package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.File

import org.scalatest.{BeforeAndAfterEach, Suite}

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.zorder.table.{TableFixture, TableRef}
import org.apache.spark.sql.zorder.table.parquet.LateChoice
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** A table `t` whose directories are exchanged, and whatever a test lets happen beside it. */
private[commit] trait ExchangeFixture extends TableFixture with BeforeAndAfterEach { this: Suite =>

  protected val forty: Seq[Long] = 0L until 40L

  private var testing: Option[String] = None

  override def beforeEach(): Unit = {
    // under test Spark's optimizer runs rules twice, which hides what the guard misses the first time
    testing = Option(System.clearProperty("spark.testing"))
    CrashPoint.meanwhile = (_: String) => ()
    spark.sql("DROP TABLE IF EXISTS t")
    delete(temp.resolve("warehouse").toFile)
  }

  override def afterEach(): Unit = testing.foreach(System.setProperty("spark.testing", _))

  /** Makes a table `t` of forty rows in four files; returns its directory. */
  protected def make(kind: String): String = {
    saved("t", kind)
    location.getPath
  }

  protected def meta: CatalogTable =
    spark.sessionState.catalog.getTableMetadata(TableIdentifier("t", Some("default")))
  protected def location: File = new File(meta.location.getPath)

  protected def refreshed(): Seq[Long] = {
    spark.sql("REFRESH TABLE t")
    tableIds("t")
  }

  protected def statement(late: Option[LateChoice] = None): Seq[Row] =
    vacuumed(TableRef.Name(Seq("t")), late = late)
  protected def vacuum(late: Option[LateChoice] = None): Seq[String] = statement(late).map(status)
}
