package org.apache.spark.sql.zorder.expr.layout

import java.lang.ref.SoftReference
import java.util.{LinkedHashMap, Map => JMap}

import sparkzorder.curve.layout.CompiledLayout

/**
 * Compiled large layouts, shared by the tasks of one JVM: a layout of ten thousand files has ten thousand tasks, and
 * each would compile it for the rows of one file. Compiled layouts have no state, so tasks can share them.
 */
private[expr] object CompiledLayoutCache {
  private val Kept = 64

  private val known =
    new LinkedHashMap[String, SoftReference[CompiledLayout]](Kept, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[String, SoftReference[CompiledLayout]]): Boolean =
        size > Kept
    }

  /** The layout of this key, compiled by the first caller. */
  def apply(key: String, make: => CompiledLayout): CompiledLayout = synchronized {
    Option(known.get(key)).flatMap(found => Option(found.get)).getOrElse {
      val made = make
      known.put(key, new SoftReference(made))
      made
    }
  }
}
