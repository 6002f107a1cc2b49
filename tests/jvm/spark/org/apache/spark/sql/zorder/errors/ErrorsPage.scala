package org.apache.spark.sql.zorder.errors

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The resource with the conditions, as tests read it. */
object ConditionsFile {

  /**
   * @param sentence
   *   empty where only the subclasses have one
   */
  final case class Condition(
      name: String,
      sqlState: String,
      sentence: String,
      subClasses: Option[Seq[(String, String)]]) {

    /** The names that an exception can have, and their sentences. */
    def all: Seq[(String, String)] =
      subClasses.fold(Seq(name -> sentence))(_.map { case (sub, text) => s"$name.$sub" -> text })
  }

  lazy val conditions: Seq[Condition] = {
    val file = Paths.get(getClass.getResource("/error/zorder-error-conditions.json").toURI)
    fields(new ObjectMapper().readTree(Files.readAllBytes(file))).map { case (name, node) =>
      Condition(
        name,
        node.path("sqlState").asText,
        message(node),
        Option(node.get("subClass")).map(fields(_).map { case (sub, n) => sub -> message(n) }))
    }
  }

  private def fields(node: JsonNode): Seq[(String, JsonNode)] =
    node.fieldNames.asScala.map(name => name -> node.get(name)).toList

  private def message(node: JsonNode): String = node.path("message").asScala.map(_.asText).mkString("\n")
}

/**
 * Makes the page `docs/guide/errors.md` from the resource with the conditions; a test compares the two. The beginning of
 * the page and each paragraph "What to do" are written by hand, in the page itself, and are taken over from it.
 */
object ErrorsPage {
  private val Begin = "## ZORDER_"
  private val Advice = "**What to do.**"

  /** @param page as it is now */
  def markdown(page: String): String = {
    val beginning = page.split(s"(?m)^(?=$Begin)").head
    val advice = adviceIn(page)
    beginning + ConditionsFile.conditions.map(c => section(c, advice.getOrElse(c.name, ""))).mkString("\n")
  }

  /** What the page advises on each condition. */
  def adviceIn(page: String): Map[String, String] =
    page.split(s"(?m)^(?=$Begin)").tail.map { section =>
      val (name, rest) = section.span(_ != '\n')
      val paragraph = rest.split("\n\n").find(_.startsWith(Advice)).getOrElse("")
      name.stripPrefix("## ") -> paragraph.stripPrefix(Advice).trim
    }.toMap

  private def section(c: ConditionsFile.Condition, advice: String): String = {
    val rows = c.all.filter(_._2.nonEmpty).map { case (name, sentence) => s"| `$name` | ${text(sentence)} |" }
    val table = if (rows.isEmpty) Nil else Seq("", "| condition | message |", "| --- | --- |") ++ rows
    (Seq(s"## ${c.name}", "", s"SQLSTATE `${c.sqlState}`.", "", s"$Advice $advice") ++ table)
      .mkString("", "\n", "\n")
  }

  /** Parameters are no tags, and bars end no cell. */
  private def text(sentence: String): String =
    sentence.replaceAll("<(\\w+)>", "&lt;$1&gt;").replace("|", "\\|").replace("*", "\\*").replace("\n", " ")
}
