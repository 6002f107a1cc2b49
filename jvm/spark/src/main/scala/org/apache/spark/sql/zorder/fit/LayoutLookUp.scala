package org.apache.spark.sql.zorder.fit

import org.apache.spark.sql.zorder.expr.layout.LayoutRef

/** Parsed layouts by their JSON, cached: each use of a layout function repeats the JSON. */
object LayoutLookUp {
  private val Kept = 16

  private val cache = new java.util.LinkedHashMap[String, LayoutRef](Kept, 0.75f, true) {
    override def removeEldestEntry(eldest: java.util.Map.Entry[String, LayoutRef]): Boolean = size > Kept
  }

  def ofJson(json: String): LayoutRef = cache.synchronized {
    val id = LayoutJson.id(json)
    Option(cache.get(id)).getOrElse {
      val ref = new LayoutRef(id, LayoutJson.read(json))
      cache.put(id, ref)
      ref
    }
  }

  /** The layout of a text: its JSON, or else whatever JSON `stored` finds by it. */
  def of(text: String, stored: String => String): LayoutRef =
    ofJson(if (text.trim.startsWith("{")) text else stored(text))
}
