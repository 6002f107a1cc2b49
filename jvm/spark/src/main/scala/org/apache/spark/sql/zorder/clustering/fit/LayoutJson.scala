package org.apache.spark.sql.zorder.clustering.fit

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.Base64

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import sparkzorder.curve.NormalizedBytes
import sparkzorder.curve.layout.{
  BytesScale,
  Cut,
  CutTree,
  InFileOrder,
  Layout,
  LayoutColumn,
  Leaf,
  LongScale,
  Scale,
  ScaleBuilder
}

/**
 * Writes a layout as JSON and reads it. Numbers are stored as differences, byte strings without the prefix
 * that they share with their predecessor, the tree in preorder (`column, rank` of a cut, minus the number of
 * files of a leaf): four columns and 10,000 files stay below 1 MB.
 */
object LayoutJson {
  private val Version = 1
  private val mapper = new ObjectMapper()

  def write(layout: Layout): String = {
    val root = mapper.createObjectNode()
    root.put("version", Version).put("curve", layout.curve).put("inFile", layout.inFile.name)
    root.put("files", layout.files)
    val columns = root.putArray("columns")
    layout.columns.foreach(writeColumn(columns.addObject(), _))
    writeTree(root.putArray("tree"), layout.tree)
    mapper.writeValueAsString(root)
  }

  /**
   * Refuses a text that is not a layout, or is of a version that this jar does not read. The error never
   * quotes the text: its boundaries are data.
   */
  def read(json: String): Layout = {
    val root =
      try mapper.readTree(json)
      catch { case _: java.io.IOException => notALayout("it is not JSON") }
    if (root == null || !root.isObject || !root.has("version")) notALayout("it has no version")
    val version = root.get("version")
    if (!version.isInt || version.asInt != Version)
      refuse("ZORDER_INVALID_LAYOUT.VERSION", "version" -> Version)
    try {
      val columns = root.get("columns").elements().asScala.map(readColumn).toIndexedSeq
      if (columns.isEmpty) notALayout("it has no columns")
      val tokens = root.get("tree").elements().asScala.map(_.asInt)
      val tree = readTree(tokens, columns.length, MostDepth)
      if (tokens.hasNext) notALayout("its tree goes on after its end")
      Layout(columns, tree, root.get("curve").asText, InFileOrder.named(root.get("inFile").asText))
    } catch {
      case e: ZOrderException => throw e
      case _: RuntimeException => notALayout("a part is missing or damaged")
    }
  }

  /** Deeper trees than any builder makes; text from outside must not exhaust the stack. */
  private val MostDepth = 2000

  private def notALayout(why: String): Nothing =
    refuse("ZORDER_INVALID_LAYOUT.NOT_READABLE", "cause" -> why)

  /**
   * Sixteen hex digits that stand for the layout in records, plans, properties and logs. Earlier versions
   * wrote the first eight of them, which are too few for a table with a layout for each of thousands of
   * partitions.
   */
  def id(json: String): String =
    MessageDigest.getInstance("SHA-256").digest(json.getBytes(UTF_8)).take(8).map(b =>
      f"${b & 0xff}%02x").mkString

  private def writeColumn(node: ObjectNode, column: LayoutColumn): Unit = {
    node.put("sql", column.sql).put("type", column.dataType)
    val scale = column.scale
    node.put("nulls", scale.nulls)
    val rows = node.putArray("rows")
    scale.rows.foreach(rows.add(_))
    scale match {
      case s: LongScale =>
        val starts = node.putArray("numbers")
        s.starts.indices.foreach(i => starts.add(if (i == 0) s.starts(0) else s.starts(i) - s.starts(i - 1)))
      case s: BytesScale =>
        val starts = node.putArray("strings")
        s.starts.indices.foreach { i =>
          val shared = if (i == 0) 0 else BytesScale.commonPrefix(s.starts(i - 1), s.starts(i))
          starts.add(shared).add(Base64.getEncoder.encodeToString(s.starts(i).drop(shared)))
        }
        val points = node.putArray("points")
        s.point.indices.filter(s.point(_)).foreach(points.add(_))
      case other => throw new IllegalStateException(s"no JSON form of ${other.getClass.getName}")
    }
  }

  private def readColumn(node: JsonNode): LayoutColumn = {
    val rows = ints(node.get("rows"))
    val nulls = node.get("nulls").asInt
    check(rows.nonEmpty && nulls >= 0 && rows.forall(_ >= 0))
    val scale =
      if (node.has("numbers")) {
        val differences = node.get("numbers").elements().asScala.map(_.asLong).toArray
        val starts = differences.scanLeft(0L)(_ + _).tail
        check(starts.length == rows.length + 1 && ascending(starts.length)((i, j) => starts(i) < starts(j)))
        ScaleBuilder.longScale(starts, rows, nulls)
      } else {
        val points = ints(node.get("points")).toSet
        val starts = readStrings(node.get("strings"))
        check(starts.length == rows.length && ascending(starts.length)((i, j) =>
          NormalizedBytes.compareBytes(starts(i), starts(j)) < 0))
        ScaleBuilder.bytesScale(starts, rows.indices.map(points).toArray, rows, nulls)
      }
    LayoutColumn(node.get("sql").asText, node.get("type").asText, scale)
  }

  private def check(holds: Boolean): Unit = if (!holds) notALayout("a column's scale is damaged")

  private def ascending(n: Int)(below: (Int, Int) => Boolean): Boolean =
    (1 until n).forall(i => below(i - 1, i))

  private def readStrings(node: JsonNode): Array[Array[Byte]] = {
    val out = Array.newBuilder[Array[Byte]]
    var last = Array.emptyByteArray
    node.elements().asScala.grouped(2).foreach { pair =>
      last = last.take(pair(0).asInt) ++ Base64.getDecoder.decode(pair(1).asText)
      out += last
    }
    out.result()
  }

  private def ints(node: JsonNode): Array[Int] = node.elements().asScala.map(_.asInt).toArray

  private def writeTree(out: ArrayNode, tree: CutTree): Unit = tree match {
    case Leaf(files) => out.add(-files)
    case Cut(column, rank, left, right) =>
      out.add(column).add(rank)
      writeTree(out, left)
      writeTree(out, right)
  }

  private def readTree(tokens: Iterator[Int], columns: Int, depthLeft: Int): CutTree = {
    if (depthLeft == 0) notALayout("its tree is too deep")
    tokens.next() match {
      case leaf if leaf < 0 => Leaf(-leaf)
      case column =>
        val rank = tokens.next()
        if (column >= columns || rank < 1 || rank >= Scale.One) notALayout("a cut is outside the columns")
        val left = readTree(tokens, columns, depthLeft - 1)
        Cut(column, rank, left, readTree(tokens, columns, depthLeft - 1))
    }
  }
}

/** Parsed layouts by their JSON, cached: each use of a layout function repeats the JSON. */
object LayoutLookUp {
  private val Kept = 16

  /** By the whole text, beside the id: texts of one id are not mixed up. */
  private val cache = new java.util.LinkedHashMap[(String, String), LayoutRef](Kept, 0.75f, true) {
    override def removeEldestEntry(eldest: java.util.Map.Entry[(String, String), LayoutRef]): Boolean =
      size > Kept
  }

  def ofJson(json: String): LayoutRef = stored(LayoutJson.id(json), json)

  /**
   * A layout that a table keeps under this id, and whose files are recorded under it: the id of an earlier
   * version is shorter, and stays.
   */
  def stored(id: String, json: String): LayoutRef = cache.synchronized {
    Option(cache.get((id, json))).getOrElse {
      val ref = new LayoutRef(id, LayoutJson.read(json))
      cache.put((id, json), ref)
      ref
    }
  }

  /** The layout of a text: its JSON, or else whatever JSON `stored` finds by it. */
  def of(text: String, stored: String => String): LayoutRef =
    ofJson(if (text.trim.startsWith("{")) text else stored(text))
}
