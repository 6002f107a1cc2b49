package org.apache.spark.sql.zorder.table.resolve

import org.apache.spark.sql.zorder.build.BuildInfo
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableFormats}

/** Refuses a table of a format that no adapter has opened, and says what is missing. */
private[table] object MissingFormat {

  /** @param table its name or path, with which the sentence begins */
  def refuseTable(table: String, format: FormatDescriptor): Nothing = {
    val what = s"$table is ${format.aTable}"
    Option(BuildInfo.formatJar(format.id)) match {
      case None =>
        refuse(
          s"$what, and ${format.name} has no release for Spark ${BuildInfo.spark()} that this jar works " +
            s"with; ${format.otherLines}.")
      case Some(_) if TableFormats.isPresent(format) => refuse(s"$what ${format.notFound}.")
      case Some(module) =>
        refuse(
          s"$what, and ${format.name}'s classes are not on the class path; add them, as with " +
            s"--packages $module.")
    }
  }
}
