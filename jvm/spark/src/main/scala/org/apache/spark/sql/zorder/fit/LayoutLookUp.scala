package org.apache.spark.sql.zorder.fit

import org.apache.spark.sql.zorder.expr.layout.{LayoutArgument, LayoutRef}

/** Layouts by their JSON; the newest are kept, since a statement's text names them again and again. */
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

  /** Makes the layout functions understand JSON, and names of tables through `stored`. */
  def register(stored: String => String): Unit = LayoutArgument.lookUpBy(new LayoutArgument.LookUp {
    override def apply(text: String): LayoutRef =
      ofJson(if (text.trim.startsWith("{")) text else stored(text))
  })
}
