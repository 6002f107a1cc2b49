package org.apache.spark.sql.zorder.skip.index

import org.apache.spark.sql.types.DataType

/**
 * A column, or an expression in place of one, that an index holds ranges of.
 *
 * @param sql
 *   how a filter names it: the column's name, or the names down to a struct's field; an expression as the statement
 *   has it
 * @param path
 *   empty for an expression
 * @param dataType
 *   the type that the table gave it when the index was made; a filter on another type is not answered
 * @param absentIsNull
 *   whether files that have not got the column count as files of NULLs: not so for a column that had a default
 * @param values
 *   whether the dictionaries of files are read, for their values in place of ranges where they have few
 */
final case class IndexedColumn(
    sql: String,
    path: Seq[String],
    dataType: DataType,
    absentIsNull: Boolean,
    values: Boolean = false,
    expression: Option[IndexedExpression] = None)

/**
 * An expression whose values are computed from the rows of a file.
 *
 * @param meaning
 *   see [[ExpressionMeaning]]
 * @param columns
 *   the table's columns that it is computed from, without the fields below them
 */
final case class IndexedExpression(meaning: String, columns: Seq[String])
