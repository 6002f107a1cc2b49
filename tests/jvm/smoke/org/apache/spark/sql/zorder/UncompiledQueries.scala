package org.apache.spark.sql.zorder

import org.scalatest.{Outcome, TestSuite, TestSuiteMixin}

/**
 * For suites that read small tables again and again: compiling a query takes longer than running it. `make test` runs
 * their tests without compiled queries on the first of the full lines and with them on the other; `make test-all` and a
 * suite that is started by its name compile on both.
 */
trait UncompiledQueries extends ZOrderSession with StatementRows with TestSuiteMixin { this: TestSuite =>

  abstract override protected def withFixture(test: NoArgTest): Outcome =
    withConf(UncompiledQueries.settings: _*)(super.withFixture(test))
}

object UncompiledQueries {

  /** On the other lines `make test` leaves out further tests, and test-all none. */
  private def onFirstLine: Boolean =
    sys.props.get("sparkzorder.tests.without").contains("sparkzorder.mark.LongTest")

  private def settings: Seq[(String, String)] = if (onFirstLine) ZOrderSession.interpreted else Nil
}
