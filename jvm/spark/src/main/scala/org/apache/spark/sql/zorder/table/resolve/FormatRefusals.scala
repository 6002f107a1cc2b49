package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.FormatDescriptor
import org.apache.spark.sql.zorder.table.file.PathText

/** Refuses tables of the catalog that must not be rewritten as plain Parquet. */
private[table] object FormatRefusals {

  def provider(name: String, provider: String): Nothing = {
    FormatDescriptor.ofProvider(provider).foreach(MissingFormat.refuseTable(name, _))
    refuse(
      s"$name is stored as ${provider.toLowerCase(Locale.ROOT)}, and only Parquet tables can be clustered; " +
        s"copy it first: CREATE TABLE ... USING parquet AS SELECT * FROM $name.")
  }

  /** A Hive table is accepted only if Spark's own Parquet reader reads it. */
  def hive(session: ClassicSession, name: String, meta: CatalogTable): Unit = {
    val serde = meta.storage.serde.getOrElse("").toLowerCase(Locale.ROOT)
    if (!serde.contains("parquet"))
      provider(name, s"Hive format (${meta.storage.serde.getOrElse("no serde")})")
    val converts = session.sessionState.conf.getConfString("spark.sql.hive.convertMetastoreParquet", "true")
    if (!converts.trim.equalsIgnoreCase("true"))
      refuse(s"Spark reads the Hive table $name through Hive's reader here; " +
        "set spark.sql.hive.convertMetastoreParquet to true first.")
  }

  /** A filter or a computed column in the plan of a table alone is a row filter or a mask. */
  def plan(name: String, plan: LogicalPlan): Unit = {
    val padded = CharVarcharUtils.hasCharVarchar(plan.schema) ||
      plan.output.exists(a => CharVarcharUtils.getRawType(a.metadata).isDefined)
    val changed = plan.collectFirst {
      case f: Filter => f
      case p: Project if !padded && !p.projectList.forall(plainColumn) => p
    }
    if (changed.isDefined)
      refuse(s"$name has a row filter or a column mask for this user, so a rewrite would lose data; " +
        "run as a user who sees everything.")
  }

  private def plainColumn(e: org.apache.spark.sql.catalyst.expressions.Expression): Boolean = e match {
    case _: Attribute => true
    case Alias(_: Attribute, _) => true
    case _ => false
  }

  /** If one partition lay inside the directory of another, its files would be rewritten twice. */
  def partitions(name: String, locations: Map[String, Path]): Unit = {
    val sorted = locations.toSeq.map { case (p, dir) => (PathText.of(dir) + "/", p) }.sorted
    sorted.zip(sorted.drop(1)).find { case ((a, _), (b, _)) => b.startsWith(a) }.foreach {
      case ((a, p), (_, q)) =>
        refuse(s"The partitions $p and $q of $name lie in one another ($a); " +
          "give each a directory of its own (ALTER TABLE ... PARTITION ... SET LOCATION).")
    }
  }
}
