package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, DataFile}

/** Which files a run takes. */
private[run] object Selection {

  /** @return the files to cluster and those to leave alone */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      files: Seq[DataFile],
      where: Option[String],
      options: RunOptions): (Seq[DataFile], Seq[DataFile]) = {
    val _ = (session, table, options)
    where match {
      case None => (files, Nil)
      case Some(_) => org.apache.spark.sql.zorder.ZOrderException.refuse("WHERE is being built.")
    }
  }
}
