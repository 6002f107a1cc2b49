package org.apache.spark.sql.zorder

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{call_function, lit}

/**
 * The curve functions as columns. They are called by name, so a session needs the extension (or a late
 * install), and they work over Spark Connect as well. A wrong argument fails with an `AnalysisException` when the
 * query is analysed.
 */
object functions {

  /**
   * The Z-order (Morton) key of the raw values: BINARY, never NULL, compared as unsigned bytes.
   *
   * Every atomic type is accepted, and several types may be mixed. Structs (name their fields), arrays, maps and variants
   * are refused, and so is a call without columns. NULL has a place of its own below every value. All bits are used, the
   * most significant first, and the earlier column wins a tie; but of a STRING or BINARY only the first 16 bytes count, so
   * texts with a common beginning are equal in the key (in a layout they are not). The key knows nothing of the data: columns of unlike ranges are better served by
   * `ZORDER TABLE`, which fits a layout.
   *
   * {{{
   * df.orderBy(zorder(col("day"), col("customer")))
   * }}}
   */
  @scala.annotation.varargs
  def zorder(columns: Column*): Column = call_function("zorder", columns: _*)

  /**
   * The Hilbert key of the raw values: BINARY, never NULL, compared as unsigned bytes; types and NULLs as for [[zorder]].
   *
   * Neighbours on the Hilbert curve are neighbours in every column, so ranges of the key are more compact than those of
   * [[zorder]]; the key is dearer to compute.
   *
   * {{{
   * df.sortWithinPartitions(hilbert(col("x"), col("y")))
   * }}}
   */
  @scala.annotation.varargs
  def hilbert(columns: Column*): Column = call_function("hilbert", columns: _*)

  /**
   * Compares two structs in Z-order without building a key: INT, -1, 0 or 1 as the [[zorder]] keys of their fields
   * compare; NULL if a struct is NULL. A NULL field comes before every value. Both structs have the same number of fields.
   * Names are ignored, and the two fields at each place are cast to their common type; where there is none, the analysis
   * fails.
   *
   * {{{
   * df.select(zorder_compare(struct("a", "b"), struct("c", "d")))
   * }}}
   */
  def zorder_compare(left: Column, right: Column): Column = call_function("zorder_compare", left, right)

  /**
   * The file that a row belongs to in a layout: INT, from 0; never NULL. A NULL value goes where the layout puts NULLs.
   *
   * {{{
   * df.groupBy(zorder_file("table:db.t", col("a"), col("b"))).count()
   * }}}
   *
   * @param layout
   *   the layout's JSON, or the stored one of a table: `table:db.t` or `path:/x`. A partitioned table has one for each
   *   partition: add `#day=2026-01-01`, or the id of a layout, `#0123456789abcdef`
   * @param columns
   *   the layout's columns in its order, with its types; further ones spread the rows of a cell whose keys are all
   *   equal over its files
   * @throws org.apache.spark.sql.AnalysisException
   *   when the query is analysed: the layout is NULL, no literal, or stands alone (`ZORDER_INVALID_ARGUMENT`), it is no
   *   layout, or its columns were dropped or renamed (`ZORDER_INVALID_LAYOUT`), the table is not there
   *   (`ZORDER_TABLE_NOT_FOUND`), was never clustered (`ZORDER_LAYOUT_NOT_FOUND`) or has several layouts
   *   (`ZORDER_CHOICE_NEEDED`), or the columns are not those of the layout in number and type
   */
  @scala.annotation.varargs
  def zorder_file(layout: String, columns: Column*): Column =
    call_function("zorder_file", lit(layout) +: columns: _*)

  /**
   * The place of a row in a layout: BIGINT, from 0; never NULL. Sorting by it orders rows by file, and along the curve
   * inside. Arguments, NULLs and errors as for [[zorder_file]], but `columns` are the layout's alone.
   *
   * {{{
   * df.sortWithinPartitions(zorder_key("table:db.t", col("a"), col("b")))
   * }}}
   */
  @scala.annotation.varargs
  def zorder_key(layout: String, columns: Column*): Column =
    call_function("zorder_key", lit(layout) +: columns: _*)
}
