package org.apache.spark.sql.zorder.table.parquet.journal

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.parquet.files.ListedFile

/** [[Journal]] as JSON and back. */
private[parquet] object JournalJson {

  private val mapper = new ObjectMapper()

  def write(j: Journal): String = {
    val node = mapper.createObjectNode()
    node.put("version", 1).put("txn", j.txn).put("kind", j.kind).put("operation", j.operation)
    node.put("state", j.state).put("owner", j.owner).put("table", j.table)
    node.put("runId", j.runId).put("changedMs", j.changedMs)
    node.put("home", j.home.toString).put("staging", j.staging.toString)
    val units = node.putArray("units")
    j.units.foreach { u =>
      val unit = units.addObject()
      unit.put("partition", u.partition).put("target", u.target.toString)
      unit.put("staged", u.staged.toString).put("old", u.old.toString)
      files(unit, "inputs", u.inputs)
      files(unit, "kept", u.kept)
      files(unit, "outputs", u.outputs)
    }
    files(node, "carried", j.carried)
    mapper.writeValueAsString(node)
  }

  /** None when the text is not a journal. */
  def read(text: String): Option[Journal] =
    try {
      val node = mapper.readTree(text)
      if (node == null || !node.hasNonNull("txn") || !node.hasNonNull("state")) None else Some(journal(node))
    } catch { case _: java.io.IOException => None }

  private def journal(node: JsonNode): Journal = Journal(
    txn = node.path("txn").asText,
    kind = node.path("kind").asText,
    operation = node.path("operation").asText,
    state = node.path("state").asText,
    owner = node.path("owner").asText,
    table = node.path("table").asText,
    runId = node.path("runId").asText,
    changedMs = node.path("changedMs").asLong,
    home = new Path(node.path("home").asText),
    staging = new Path(node.path("staging").asText),
    units = each(node, "units").map { u =>
      SwapUnit(
        u.path("partition").asText,
        new Path(u.path("target").asText),
        new Path(u.path("staged").asText),
        new Path(u.path("old").asText),
        readFiles(u, "inputs"),
        readFiles(u, "kept"),
        readFiles(u, "outputs"))
    },
    carried = readFiles(node, "carried"))

  private def files(node: ObjectNode, name: String, list: Seq[ListedFile]): Unit = {
    val array = node.putArray(name)
    list.foreach { f =>
      array.addObject().put("path", f.rel).put("length", f.length).put("modified", f.modified)
    }
  }

  private def readFiles(node: JsonNode, name: String): Seq[ListedFile] = each(node, name).map { f =>
    ListedFile(f.path("path").asText, f.path("length").asLong, f.path("modified").asLong)
  }

  private def each(node: JsonNode, name: String): Seq[JsonNode] = node.path(name) match {
    case array: ArrayNode => array.elements.asScala.toVector
    case _ => Nil
  }
}
