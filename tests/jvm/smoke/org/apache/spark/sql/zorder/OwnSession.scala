package org.apache.spark.sql.zorder

import org.scalatest.{BeforeAndAfterAll, Suite}

import org.apache.spark.sql.SparkSession

/** A session of the suite's own, in place of any that is there: for settings that a session has from its start. */
trait OwnSession extends BeforeAndAfterAll { this: Suite =>

  private var session: SparkSession = _

  /** There is none before the first test. */
  protected def ownSession: SparkSession = session

  /** What a suite changes of the settings of every test session. */
  protected def builder: SparkSession.Builder = ZOrderSession.builder()

  /** What a fixture adds to them. */
  protected def configured(start: SparkSession.Builder): SparkSession.Builder = start

  override def beforeAll(): Unit = {
    (SparkSession.getActiveSession ++ SparkSession.getDefaultSession).foreach(_.stop())
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    session = configured(builder).getOrCreate()
    SparkSession.setActiveSession(session)
    super.beforeAll()
  }

  override def afterAll(): Unit = {
    session.stop()
    super.afterAll()
  }
}
