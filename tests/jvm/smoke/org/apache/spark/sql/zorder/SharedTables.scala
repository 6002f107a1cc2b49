package org.apache.spark.sql.zorder

import java.nio.file.{Files, Path}

import org.scalatest.{BeforeAndAfterAll, Suite}

import org.apache.spark.util.Utils

/** For tables that several tests of a suite read and none changes: the first test that asks for one makes it. */
trait SharedTables extends BeforeAndAfterAll { this: Suite =>

  protected lazy val shared: Path = Files.createTempDirectory("zorder-test-")

  override def afterAll(): Unit = {
    Utils.deleteRecursively(shared.toFile)
    super.afterAll()
  }
}
