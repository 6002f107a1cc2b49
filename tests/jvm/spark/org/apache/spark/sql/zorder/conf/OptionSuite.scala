package org.apache.spark.sql.zorder.conf

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.mark.SameOnAllLines

@SameOnAllLines
class OptionSuite extends AnyFunSuite with ZOrderSession {
  private val none = Map.empty[String, String]

  /** Refused with this condition, about the key that was written; the other parameters of its sentence. */
  private def refused(condition: String, key: String)(body: => Any): Map[String, String] = {
    val e = intercept[ZOrderException](body)
    assert(e.condition == s"ZORDER_INVALID_OPTION.$condition")
    val parameters = e.getMessageParameters.asScala.toMap
    assert(parameters("option") == key)
    parameters - "option"
  }

  /** Refused for its value; the form that is accepted. */
  private def badValue(key: String, value: String)(body: => Any): String = {
    val parameters = refused("VALUE", key)(body)
    assert(parameters("value") == value)
    parameters("accepted")
  }

  private def merged(pairs: (String, String)*): RunOptions =
    RunOptions.merge(statement(pairs: _*), none, none)

  /** As a statement has them, which may write a name in any case. */
  private def statement(pairs: (String, String)*): Seq[OptionSetting] = pairs.map { case (name, text) =>
    val option = ZOrderOption.named(name)
    option.setting(option.name, text)
  }

  test("statement over table property over session over default") {
    val session = Map(
      "spark.zorder.fileCount" -> "3",
      "spark.zorder.minGain" -> "0.3",
      "spark.zorder.codec" -> "gzip",
      "spark.sql.zorder.x" -> "1",
      "spark.zorder.delta.takeOver" -> "true"
    )
    val table = Map(
      "zorder.fileCount" -> "2",
      "zorder.minGain" -> "0.2",
      "zorder.by" -> "a",
      "owner" -> "me",
      "zorder.txn" -> "7")
    val options = RunOptions.merge(statement("fileCount" -> "1"), table, session)
    assert(options == RunOptions(fileCount = Some(1), minGain = 0.2, codec = Some("gzip")))
    assert(RunOptions.merge(Nil, none, none) == RunOptions())
  }

  test("names in any case, in every place") {
    val options = RunOptions.merge(
      statement("FORCE" -> "true"),
      Map("ZORDER.FILECOUNT" -> "5"),
      Map("spark.zorder.mingain" -> "0"))
    assert(options == RunOptions(force = true, fileCount = Some(5), minGain = 0))
  }

  test("an unknown name is refused in every place, as it was written, with the nearest one") {
    def meant(key: String)(body: => Any): String = refused("MISSPELT", key)(body)("suggestion")
    assert(meant("fileCont")(merged("fileCont" -> "1")) == "fileCount")
    assert(meant("zorder.codek")(
      RunOptions.merge(Nil, Map("zorder.codek" -> "zstd"), none)) == "zorder.codec")
    assert(meant("spark.zorder.minGian")(
      RunOptions.merge(Nil, none, Map("spark.zorder.minGian" -> "1"))) == "spark.zorder.minGain")
  }

  test("limits of a statement, and none") {
    val limits = merged("maxInputBytes" -> "1g", "maxDuration" -> "90m", "maxBytesInFlight" -> "none")
    assert(limits.maxInputBytes == Some(1L << 30) && limits.maxDurationMs == 5400000L)
    assert(limits.maxBytesInFlight == Some(Long.MaxValue))
    assert(merged("maxBytesInFlight" -> "auto").maxBytesInFlight.isEmpty)
  }

  test("sizes") {
    def size(v: String): Option[Long] = merged("targetFileSize" -> v).targetFileSize
    Seq(
      "1048576" -> 1048576L,
      "64k" -> 65536L,
      "256m" -> (256L << 20),
      "256MB" -> (256L << 20),
      "1.5 GiB" -> (3L << 29),
      "1g" -> (1L << 30),
      "2T" -> (2L << 40)).foreach { case (v, n) =>
      assert(size(v) == Some(n), v)
    }
    Seq("", "0", "-1", "m", "1x", "0.1", "99999999999t", "1e3").foreach { v =>
      assert(badValue("targetFileSize", v)(size(v)).startsWith("a size of at least one byte, such as 256m"))
    }
  }

  test("a size that lost its unit is refused with the one that was meant; what a format says is raised") {
    for (name <- Seq("targetFileSize", "rowGroupSize"))
      Seq("256" -> "256m", "1b" -> "1m", "16k" -> "16m", "20000" -> "20000k", "63.9k" -> "65433k").foreach {
        case (v, meant) =>
          assert(refused("TOO_SMALL", name)(merged(name -> v)) == Map("value" -> v, "suggestion" -> meant))
      }
    assert(merged("maxInputBytes" -> "1", "maxBytesInFlight" -> "1").maxInputBytes.contains(1L))
    for ((name, text, wanted) <- Seq(
        ("targetFileSize", "20000", "65536"),
        ("rowGroupSize", "128m", "128m"),
        ("pageRowLimit", "7", "7")))
      assert(ZOrderOption.ofFormat(name, "f", text) == ((ZOrderOption.named(name), "f", wanted)))
  }

  test(
    "what a format says comes after keys of ours in any case, and a bad value of it names its own property") {
    val formats = Seq(
      ZOrderOption.ofFormat("pageRowLimit", "write.rows", "x"),
      ZOrderOption.ofFormat("targetFileSize", "write.size", "1m"))
    def merge(written: Seq[OptionSetting], table: Map[String, String], session: Map[String, String]) =
      RunOptions.merge(written, table, session, formats)
    badValue("write.rows", "x")(merge(Nil, none, none))
    badValue("write.size", "big")(ZOrderOption.ofFormat("targetFileSize", "write.size", "big"))
    val session = Map("spark.zorder.TARGETFILESIZE" -> "2m", "spark.zorder.pagerowlimit" -> "5")
    assert(merge(Nil, none, session) == RunOptions(targetFileSize = Some(2L << 20), pageRowLimit = 5))
    assert(merge(Nil, Map("ZORDER.PageRowLimit" -> "6"), none).targetFileSize.contains(1L << 20))
    assert(merge(statement("pageRowLimit" -> "7"), none, none).pageRowLimit == 7)
  }

  test("a table property that no run reads is refused") {
    for (name <- Seq("curve", "layout")) {
      val e = intercept[ZOrderException](RunOptions.merge(Nil, Map(s"zorder.$name" -> "lexical"), none))
      assert(e.condition.startsWith("ZORDER_INVALID_OPTION."), name)
    }
  }

  test("times, as in Python") {
    val lines = new String(Files.readAllBytes(Paths.get("tests/shared/durations.tsv")), UTF_8).split('\n')
    assert(lines.length > 15)
    lines.map(_.split('\t')).foreach { parts =>
      val (text, wanted) = (parts(0), parts(1))
      if (wanted != "refused") assert(merged("maxDuration" -> text).maxDurationMs == wanted.toLong, text)
      else assert(
        badValue("maxDuration", text)(merged("maxDuration" -> text)).startsWith("a time with its unit"))
    }
  }

  test("retention is the property over the session, and no part of a run") {
    def days(table: Map[String, String], session: Map[String, String]): Double =
      RunOptions.retention(table, session) / 86400000.0
    assert(days(none, none) == 7)
    assert(days(none, Map("spark.zorder.retention" -> "36h")) == 1.5)
    assert(days(
      Map("ZORDER.Retention" -> "2d", "zorder.codek" -> "x"),
      Map("spark.zorder.retention" -> "7")) == 2)
    assert(badValue("zorder.retention", "-7d")(
      days(Map("zorder.retention" -> "-7d"), none)).startsWith("a time with its unit"))
    assert(refused("RETENTION", "retention")(merged("Retention" -> "7d")) ==
      Map("property" -> "zorder.retention", "setting" -> "spark.zorder.retention"))
  }

  test("a bad value of ours at the start of a session breaks our statements alone") {
    // the shared session has its settings before the application gets bad ones
    assert(spark.conf.getOption("spark.zorder.retention").isEmpty)
    val conf = spark.sparkContext.conf
    val bad =
      Seq(
        "retention" -> "7",
        "sort.enabled" -> "maybe",
        "commit.waitSeconds" -> "x",
        "queryLog.maxQueries" -> "x")
    bad.foreach { case (name, value) => conf.set(s"spark.zorder.$name", value) }
    try {
      val fresh = spark.newSession()
      assert(fresh.range(3).selectExpr("id").sort("id").count() == 3)
      bad.foreach { case (name, value) =>
        val key = s"spark.zorder.$name"
        badValue(key, value)(RunOptions.merge(Nil, none, Map(key -> value)))
      }
    } finally bad.foreach { case (name, _) => conf.remove(s"spark.zorder.$name") }
  }

  test("no setting of the session is taken for an option of a run") {
    val all = SessionKeys.settings.map(s => s.key -> s.default).toMap
    assert(RunOptions.merge(Nil, none, all) == RunOptions())
  }

  test("numbers, words and truth values") {
    assert(merged(
      "pageRowLimit" -> "1000",
      "verify" -> "Checksum",
      "overlap" -> "include",
      "force" -> "TRUE",
      "timestampType" -> "micros",
      "rowGroupSize" -> "64m") ==
      RunOptions(
        pageRowLimit = 1000,
        verify = "checksum",
        overlap = "include",
        force = true,
        timestampType = "micros",
        rowGroupSize = Some(64L << 20)))
    Seq(
      "fileCount" -> "0",
      "fileCount" -> "1.5",
      "pageRowLimit" -> "3000000000",
      "minGain" -> "1.1",
      "minGain" -> "NaN",
      "force" -> "yes",
      "codec" -> "rar",
      "overlap" -> "",
      "timestampType" -> "int96"
    )
      .foreach { case (name, value) =>
        badValue(name, value)(merged(name -> value))
      }
  }

  test("every default in words is the default in fact") {
    val words =
      ZOrderOption.all.filterNot(o => Set("targetFileSize", "fileCount", "rowGroupSize", "codec")(o.name))
    words.foreach(o => assert(o.setting(o.name, o.default).in(RunOptions()) == RunOptions(), o.name))
  }

  test("SET -v shows every key with its text") {
    val rows = spark.sql("SET -v").collect().map(r => r.getString(0) -> r).toMap
    ZOrderOption.all.foreach { o =>
      assert(rows(o.sessionKey).getString(2).startsWith(o.doc))
      assert(rows(o.sessionKey).getString(3) == "0.1.0")
    }
    SessionKeys.settings.foreach(s => assert(rows(s.key).getString(1) == s.default))
    SessionKeys.settings.filter(_.default.nonEmpty).foreach(s => s.check(s.default))
  }

  test("the documentation is what the code generates") {
    val page = Paths.get("docs/guide/options.md")
    val fresh = Paths.get("target/options.md")
    Files.createDirectories(fresh.getParent)
    Files.write(fresh, OptionsPage.markdown.getBytes(UTF_8))
    assert(
      new String(Files.readAllBytes(page), UTF_8) == OptionsPage.markdown,
      "the new page is target/options.md: copy it to docs/guide/options.md")
  }

  test("nearest names") {
    assert(NearestName.distance("abc", "acb") == 1 && NearestName.distance("", "abc") == 3)
    assert(NearestName.to("customer_sk", Seq("ss_customer_sk", "ss_cdemo_sk")) == Some("ss_customer_sk"))
    assert(NearestName.to("xyz", Seq("ss_customer_sk")).isEmpty && NearestName.to("x", Nil).isEmpty)
    assert(NearestName.hint("AEG", Seq("age", "name")) == " Did you mean age?")
    assert(NearestName.hint("id", Seq("kind")) == "")
    assert(NearestName.to("numFiles", ZOrderOption.all.map(_.name)).isEmpty)
  }
}
