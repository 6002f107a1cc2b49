package org.apache.spark.sql.zorder.expr.layout

import java.lang.ref.SoftReference
import java.util.{LinkedHashMap, Map => JMap}

import sparkzorder.curve.layout.CompiledLayout

/**
 * Large layouts as the tasks of one JVM use them: a layout of ten thousand files has as many tasks, and each of
 * them would compile it for the rows of one file. They have no state, so that tasks may share them.
 */
private[expr] object LargeLayouts {
  private val Kept = 64

  private val known =
    new LinkedHashMap[String, SoftReference[CompiledLayout]](Kept, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[String, SoftReference[CompiledLayout]]): Boolean =
        size > Kept
    }

  /** The layout of this key, made by the first who asks. */
  def apply(key: String, make: => CompiledLayout): CompiledLayout = synchronized {
    Option(known.get(key)).flatMap(found => Option(found.get)).getOrElse {
      val made = make
      known.put(key, new SoftReference(made))
      made
    }
  }
}
