package org.apache.spark.sql.zorder.table

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.zorder.table.file.DataFile

/** [[RunRecord]] as JSON and back; fields that an older version did not write read as empty. */
object RunRecordJson {

  private val mapper = new ObjectMapper()

  def write(record: RunRecord): String = {
    val node = mapper.createObjectNode()
    node.put("version", 1).put("number", record.number).put("runId", record.runId)
    node.put("startedMs", record.startedMs).put("finishedMs", record.finishedMs)
    node.put("operation", record.operation.text).put("statement", record.statement).put("curve", record.curve)
    val columns = node.putArray("columns")
    record.columns.foreach(c => columns.add(c))
    val layouts = node.putObject("layoutIds")
    record.layoutIds.toSeq.sorted.foreach { case (partition, id) => layouts.put(partition, id) }
    val files = node.putArray("files")
    record.files.foreach(f => file(files.addObject(), f))
    val rewritten = node.putArray("rewritten")
    record.rewritten.foreach(f => dataFile(rewritten.addObject(), f))
    node.put("report", record.report)
    record.version.foreach(v => node.put("version_committed", v))
    if (record.columnIds.nonEmpty) {
      val ids = node.putArray("columnIds")
      record.columnIds.foreach(id => ids.add(id))
    }
    record.branch.foreach(b => node.put("branch", b))
    record.location.foreach(l => node.put("location", l))
    mapper.writeValueAsString(node)
  }

  /** None when the text is not a record. */
  def read(text: String): Option[RunRecord] =
    try {
      val node = mapper.readTree(text)
      if (node == null || !node.hasNonNull("number") || !node.hasNonNull("runId")) None
      else Operation.of(node.path("operation").asText).map(record(node, _))
    } catch { case _: java.io.IOException => None }

  private def record(node: JsonNode, operation: Operation): RunRecord = RunRecord(
    number = node.path("number").asInt,
    runId = node.path("runId").asText,
    startedMs = node.path("startedMs").asLong,
    finishedMs = node.path("finishedMs").asLong,
    operation = operation,
    statement = node.path("statement").asText,
    columns = each(node, "columns").map(_.asText),
    curve = node.path("curve").asText,
    layoutIds = node.path("layoutIds").fieldNames.asScala
      .map(p => p -> node.path("layoutIds").path(p).asText).toMap,
    files = each(node, "files").map { f =>
      val (level, number) = (f.path("level").asInt, f.path("file").asInt)
      val until = f.path("until").asInt(number + 1)
      RecordedFile(f.path("path").asText, f.path("length").asLong, level, number, until)
    },
    rewritten = each(node, "rewritten").map(readDataFile),
    report = node.path("report").asText,
    version = Some(node.path("version_committed")).filter(_.isNumber).map(_.asLong),
    columnIds = each(node, "columnIds").map(_.asText),
    branch = Some(node.path("branch")).filter(_.isTextual).map(_.asText),
    location = Some(node.path("location")).filter(_.isTextual).map(_.asText))

  private def file(node: ObjectNode, f: RecordedFile): Unit = {
    node.put("path", f.path).put("length", f.length).put("level", f.level).put("file", f.fileNumber)
    if (f.until != f.fileNumber + 1) node.put("until", f.until)
    ()
  }

  private def dataFile(node: ObjectNode, f: DataFile): Unit = {
    node.put("path", f.path).put("length", f.length).put("modified", f.modified)
    node.put("partition", f.partition)
    ()
  }

  private def readDataFile(f: JsonNode): DataFile = DataFile(
    f.path("path").asText,
    f.path("length").asLong,
    f.path("modified").asLong,
    f.path("partition").asText)

  private def each(node: JsonNode, name: String): Seq[JsonNode] = node.path(name) match {
    case array: ArrayNode => array.elements.asScala.toVector
    case _ => Nil
  }
}
