package org.apache.spark.sql.zorder.table.parquet.journal

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.Operation
import org.apache.spark.sql.zorder.table.parquet.files.ListedFile

/** [[Journal]] as JSON and back. */
private[parquet] object JournalJson {

  private val mapper = new ObjectMapper()

  def write(j: Journal): String = {
    val node = mapper.createObjectNode()
    node.put("version", 1).put("txn", j.txn).put("kind", j.kind.text).put("operation", j.operation.text)
    node.put("state", j.state.text).put("owner", j.owner).put("table", j.table)
    if (j.process.nonEmpty) node.put("process", j.process)
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
    if (j.ignored.nonEmpty) files(node, "ignored", j.ignored)
    mapper.writeValueAsString(node)
  }

  /**
   * None when the text is not a journal, or one of a later version with a word that this one does not know: its
   * directories are then unexplained, and nobody touches them.
   */
  def read(text: String): Option[Journal] =
    try Option(mapper.readTree(text)).filter(_.hasNonNull("txn")).flatMap(journal)
    catch { case _: java.io.IOException => None }

  private def journal(node: JsonNode): Option[Journal] =
    for {
      kind <- JournalKind.of(node.path("kind").asText)
      operation <- Operation.of(node.path("operation").asText)
      state <- JournalState.of(node.path("state").asText)
    } yield journal(node, kind, operation, state)

  private def journal(
      node: JsonNode,
      kind: JournalKind,
      operation: Operation,
      state: JournalState): Journal = Journal(
    txn = node.path("txn").asText,
    kind = kind,
    operation = operation,
    state = state,
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
    carried = readFiles(node, "carried"),
    ignored = readFiles(node, "ignored"),
    process = node.path("process").asText)

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
