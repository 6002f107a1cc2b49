package org.apache.spark.sql.zorder.expr

import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, GetStructField}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/** The path of a column or of a field of a struct: the names down to it. */
object ColumnPath {

  /** None for an expression that computes something. */
  def of(e: Expression): Option[Seq[String]] = e match {
    case a: AttributeReference => Some(Seq(a.name))
    case g: GetStructField => of(g.child).map(_ :+ g.childSchema(g.ordinal).name)
    case _ => None
  }

  /** The columns and fields that an expression is computed from, each once. */
  def within(e: Expression): Seq[Seq[String]] = {
    def all(e: Expression): Seq[Seq[String]] = of(e).map(Seq(_)).getOrElse(e.children.flatMap(all))
    all(e).distinct
  }

  /**
   * The columns of a schema and the fields of structs in them, each before those inside it, with their types.
   */
  def ofSchema(fields: Seq[StructField]): Seq[(Seq[String], DataType)] = fields.flatMap { f =>
    val inside = f.dataType match {
      case s: StructType => ofSchema(s)
      case _ => Nil
    }
    (Seq(f.name) -> f.dataType) +: inside.map { case (path, dataType) => (f.name +: path) -> dataType }
  }

  /** The columns of a schema. `DataTypeUtils.toAttributes` keeps the metadata, by which values of CHAR are padded. */
  def attributes(schema: StructType): Seq[AttributeReference] =
    schema.map(f => AttributeReference(f.name, f.dataType, f.nullable)())

  /** Gives columns their declared names. Spark gives a resolved column the spelling of the statement. */
  def asDeclared(expression: Expression, columns: Seq[Attribute]): Expression =
    expression.transform { case a: AttributeReference =>
      columns.find(_.exprId == a.exprId).fold(a)(c => a.withName(c.name))
    }

  /** The path in SQL, quoted only where necessary. */
  def sql(path: Seq[String]): String = path.map(quoteIfNeeded).mkString(".")

  private def quoteIfNeeded(part: String): String =
    if (part.matches("[A-Za-z_][A-Za-z0-9_]*") && isNoWord(part)) part
    else QuotingUtils.quoteIdentifier(part)

  /**
   * Whether it is neither a literal such as NULL nor a word that some session reserves. No such word has a
   * digit.
   */
  private def isNoWord(name: String): Boolean = name.exists(_.isDigit) || {
    if (parsed.size > MostParsed) parsed.clear()
    parsed.computeIfAbsent(
      name,
      n =>
        Try(SQLConf.withExistingConf(strict)(CatalystSqlParser.parseExpression(n))).toOption
          .contains(UnresolvedAttribute(Seq(n))))
  }

  /** What the parser has said: the filter of a query may name a column thousands of times. */
  private val parsed = new ConcurrentHashMap[String, Boolean]
  private val MostParsed = 10000

  private val strict = {
    val conf = new SQLConf
    conf.setConf(SQLConf.ANSI_ENABLED, true)
    conf.setConf(SQLConf.ENFORCE_RESERVED_KEYWORDS, true)
    conf
  }
}
