package org.apache.spark.sql.zorder.table

import org.apache.spark.sql.catalyst.analysis.AnalysisContext
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** How a statement names its table. */
sealed trait TableRef {

  /** The reference as a statement can write it. */
  def sql: String

  /** The name or the path, without quotes. */
  def text: String
}

object TableRef {

  /** `db.t`, in parts. */
  final case class Name(parts: Seq[String]) extends TableRef {
    override def sql: String = ColumnPath.sql(parts)
    override def text: String = parts.mkString(".")
  }

  /**
   * `'/data/t'` or ``parquet.`/data/t` ``.
   *
   * @param format
   *   that the statement says the table has, as `ClusterTable.format`
   */
  final case class Location(path: String, format: Option[String] = None) extends TableRef {
    override def sql: String = literal(path)
    override def text: String = path
  }

  /** A name that is the path of a table in a format, as in ``delta.`/data/t` ``: the format and the path. */
  private[zorder] object InFormat {
    def unapply(ref: TableRef): Option[(String, String)] = ref match {
      case Name(Seq(format, path)) if path.contains("/") => Some(format -> path)
      case _ => None
    }
  }

  /** What a function means: in a view, names are looked up where the view was made, as those of tables. */
  private[zorder] def inView(session: ClassicSession, ref: TableRef): TableRef =
    in(session, AnalysisContext.get.catalogAndNamespace, ref)

  /** What a name means where these are the current catalog and namespace; empty for those of the session. */
  private[zorder] def in(session: ClassicSession, place: Seq[String], ref: TableRef): TableRef =
    (ref, place) match {
      case (InFormat(_, _), _) => ref
      case (Name(Seq(one)), place) => Name(place :+ one)
      case (Name(parts), catalog +: _)
          if !session.sessionState.catalogManager.isCatalogRegistered(parts.head) =>
        Name(catalog +: parts)
      case _ => ref
    }

  /** A text in SQL. */
  private[zorder] def literal(text: String): String =
    "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

  /**
   * Whether a text that stands for a table, outside of a statement, is a path: it has a slash, and no
   * backquote as quoted names have. Python's `_sql.is_path` is the same; `tests/shared/table-names.tsv` tests
   * both.
   */
  def isPath(text: String): Boolean = text.exists(c => c == '/' || c == '\\') && !text.contains('`')
}
