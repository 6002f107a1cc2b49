package org.apache.spark.sql.zorder

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{call_function, lit}

/**
 * The curve functions as columns. They are called by name, so a session needs the extension (or a late
 * install), and they work over Spark Connect as well.
 */
object functions {

  /** Key on the Z-order curve: BINARY, never NULL. */
  def zorder(columns: Column*): Column = call_function("zorder", columns: _*)

  /** Key on the Hilbert curve: BINARY, never NULL. */
  def hilbert(columns: Column*): Column = call_function("hilbert", columns: _*)

  /** -1, 0 or 1 as the `zorder` keys of two structs compare; NULL if a struct is NULL. */
  def zorder_compare(left: Column, right: Column): Column = call_function("zorder_compare", left, right)

  /**
   * File number of a row in a layout: INT.
   *
   * @param layout
   *   the layout's JSON, or `table:db.t` or `path:/x`
   */
  def zorder_file(layout: String, columns: Column*): Column = call_function("zorder_file", lit(layout) +: columns: _*)

  /** Place of a row in a layout: BIGINT, at least 0; file number first, then the order in the file. */
  def zorder_key(layout: String, columns: Column*): Column = call_function("zorder_key", lit(layout) +: columns: _*)
}
