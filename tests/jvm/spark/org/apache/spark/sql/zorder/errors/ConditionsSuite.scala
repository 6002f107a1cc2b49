package org.apache.spark.sql.zorder.errors

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.util.Locale

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ConditionsFile.conditions
import sparkzorder.mark.SameOnAllLines

/** The conditions of errors: in the file, in the sources, and in the hands of a user. */
@SameOnAllLines
class ConditionAlgebraSuite extends AnyFunSuite with ZOrderSession {
  private val Parameter = "<([a-zA-Z0-9_-]+)>".r
  private val Name = "\"(ZORDER_[A-Z0-9_.]+)\"".r

  /** A table or a path inside of a statement, which ends where a sentence does. */
  private val InStatement =
    ("\\b(?:ZORDER|OPTIMIZE|ALTER|MSCK|ANALYZE|REFRESH|CREATE|INSERT|SELECT|CALL|RESTORE) " +
      "(?:[^.;:]|[.:](?! ))*(?<! in )<(?:table|path|dir|place|file)>").r

  private lazy val sentences: Map[String, String] = conditions.flatMap(_.all).toMap

  /** The names in the sources of the jar, those of table formats included, each with a file that has it. */
  private lazy val used: Map[String, String] = {
    def sources(dir: Path): Seq[Path] = {
      val found = Files.walk(dir)
      try found.iterator.asScala.filter(_.toString.endsWith(".scala")).toList
      finally found.close()
    }
    sources(Paths.get("jvm/spark/src/main")).flatMap { file =>
      val text = new String(Files.readAllBytes(file), UTF_8)
      Name.findAllMatchIn(text).map(_.group(1) -> file.toString).toList
    }.toMap
  }

  /** What Spark's own method says, which Spark 4 calls by another name and then by both. */
  private def bySpark(e: ZOrderException): Set[Any] =
    e.getClass.getMethods.filter(m => Set("getErrorClass", "getCondition")(m.getName)).map(_.invoke(
      e): Any).toSet

  test("conditions are about forty, sorted, each with an SQLSTATE and a sentence for each of its names") {
    assert(conditions.size >= 30 && conditions.size <= 45, conditions.size)
    assert(conditions.map(_.name) == conditions.map(_.name).sorted)
    conditions.foreach { c =>
      assert(c.name.matches("ZORDER_[A-Z]+(_[A-Z]+)*"))
      assert(c.sqlState.matches("[0-9A-Z]{5}"), c.name)
      assert(!c.subClasses.exists(_.isEmpty), s"${c.name} has an empty list of subclasses")
      assert(
        c.subClasses.isEmpty || c.sentence.isEmpty,
        s"${c.name} has a sentence before those of subclasses")
      c.all.foreach { case (name, sentence) => assert(sentence.nonEmpty, name) }
      c.subClasses.foreach(s => assert(s.map(_._1) == s.map(_._1).sorted, c.name))
      c.subClasses.toSeq.flatten.foreach { case (sub, _) =>
        assert(sub.matches("[A-Z0-9]+(_[A-Z0-9]+)*"), s"${c.name}.$sub")
      }
    }
  }

  test("a scheduler knows what to run again by the SQLSTATE alone") {
    def of(state: String) = conditions.filter(_.sqlState == state).map(_.name)
    assert(of("40001") == Seq("ZORDER_CONFLICT", "ZORDER_RETRY_QUERY"))
    assert(of("08007") == Seq("ZORDER_COMMIT_UNKNOWN"))
  }

  test("a conflict says of its commit that it changed nothing, since earlier batches of the statement stay") {
    val whole = conditions.filter(_.name == "ZORDER_CONFLICT").flatMap(_.all).collect {
      case (name, sentence) if sentence.toLowerCase(Locale.ROOT).contains("nothing was changed") => name
    }
    // of a statement that has made no commit yet
    assert(whole == Seq("ZORDER_CONFLICT.JOB_IN_OLD_DIRECTORY"))
  }

  test("the names in the sources are those in the file") {
    assert((used -- sentences.keys).toSeq == Nil, "in the sources alone")
    assert((sentences.keySet -- used.keys).toSeq.sorted == Nil, "in the file alone")
  }

  test(
    "an exception has its condition, its SQLSTATE and its parameters, and its message begins with the name") {
    conditions.foreach(c =>
      c.all.foreach { case (name, sentence) =>
        val names = Parameter.findAllMatchIn(sentence).map(_.group(1)).toList.distinct
        val e = new ZOrderException(name, names.map(n => n -> s"the $n"): _*)
        assert(e.condition == name && bySpark(e) == Set(name) && e.getSqlState == c.sqlState)
        assert(e.getMessageParameters.asScala == names.map(n => n -> s"the $n").toMap, name)
        assert(e.getMessage.startsWith(s"[$name] ") && e.getMessage.endsWith(e.sentence), name)
        assert(e.sentence == Parameter.replaceAllIn(sentence, "the $1"), name)
      })
  }

  test("statements in sentences have tables and paths as SQL, by a parameter that says so") {
    // Iceberg's procedures take the name as a string; our adapter has it in backquotes where it needs them
    val strings = Set("ICEBERG_NOT_PARQUET", "ICEBERG_OLD_PARTITIONING").map("ZORDER_FILE_REFUSED." + _)
    val found = sentences.filter { case (_, sentence) => InStatement.findFirstIn(sentence).isDefined }
    assert(found.keySet == strings)
    assert(strings.forall(sentences(_).contains("(table => '<table>', ")))
  }

  test("kinds of exceptions keep their conditions, and a first line has no name of one") {
    val conflict =
      new ZOrderConflictException("ZORDER_INDEX_NOT_FOUND", "table" -> "t", "statement" -> "ZORDER INDEX t")
    assert(conflict.isInstanceOf[SparkThrowable] && conflict.getSqlState == "42704")
    assert(ZOrderException.firstLine(conflict).startsWith("t has no statistics index"))
    val cause = new IllegalStateException("$here <there>")
    val over = ZOrderException.over(
      cause,
      "ZORDER_INVALID_QUERY_LOG.NOT_READABLE",
      "log" -> "l",
      "cause" -> cause.getMessage)
    assert(over.getSuppressed.toSeq == Seq(cause) && over.getMessage.contains("$here <there>"))
  }

  test("a user gets it from a statement") {
    val e = intercept[ZOrderException](spark.sql("ZORDER LOG START").collect())
    assert(bySpark(e) == Set("ZORDER_INVALID_QUERY_LOG.NO_PLACE") && e.getSqlState == "22023")
    assert(e.getMessageParameters.get("setting") == "spark.zorder.queryLog.path")
  }
}
