package org.apache.spark.sql.zorder.errors

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.mark.SameOnAllLines

@SameOnAllLines
class ErrorsPageSuite extends AnyFunSuite {
  private val page = new String(Files.readAllBytes(Paths.get("docs/guide/errors.md")), UTF_8)

  test("the page is what the code generates") {
    val fresh = Paths.get("target/errors.md")
    Files.createDirectories(fresh.getParent)
    Files.write(fresh, ErrorsPage.markdown(page).getBytes(UTF_8))
    assert(
      page == ErrorsPage.markdown(page),
      "the new page is target/errors.md: copy it to docs/guide/errors.md, and say what to do where it says nothing")
  }

  test("the page says what to do about each condition") {
    val advice = ErrorsPage.adviceIn(page)
    ConditionsFile.conditions.foreach(c => assert(advice.get(c.name).exists(_.length > 20), c.name))
  }
}
