package org.apache.spark.sql.zorder

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException

/** The statements in `tests/shared/sql`, on every Spark line. */
class SqlCasesSuite extends AnyFunSuite with ZOrderSession {

  /** The paragraphs of a file behind its first one, which says what the file is. */
  private def paragraphs(file: String): Seq[String] =
    new String(
      Files.readAllBytes(Paths.get("tests/shared/sql", file)),
      UTF_8).split("\n\n").toSeq.drop(1).map(_.trim)

  paragraphs("ours.sql").foreach { statement =>
    test(s"ours: ${statement.replace('\n', ' ').take(90)}") {
      val plan = spark.sql("EXPLAIN " + statement).head().getString(0)
      assert(plan.contains("ZOrder"))
      assert(!plan.contains("Exception"))
    }
  }

  paragraphs("refused.sql").foreach { paragraph =>
    val comment = paragraph.takeWhile(_ != '\n')
    val statement = paragraph.drop(comment.length + 1)
    test(s"refused: $statement") {
      val sentence = intercept[ZOrderException](spark.sql(statement)).getMessage
      assert(sentence.contains(comment.stripPrefix("-- ")))
    }
  }
}
