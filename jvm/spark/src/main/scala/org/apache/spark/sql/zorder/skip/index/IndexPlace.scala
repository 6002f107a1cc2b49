package org.apache.spark.sql.zorder.skip.index

import java.util.Locale

import org.apache.commons.codec.binary.Hex
import org.apache.commons.codec.digest.DigestUtils
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.table.StateDir

/**
 * Which directory holds the index of a table: `_zorder/index` in the table, or, where the session names a location
 * for indexes, a folder there that is the table's own.
 *
 * @param location
 *   the directory below which every table has a folder; empty for indexes that lie in their tables
 */
final case class IndexPlace(location: String) {

  def isElsewhere: Boolean = location.nonEmpty

  /** Whether that is the table's own directory, or below it. */
  def isWithin(root: Path): Boolean = isElsewhere && {
    val (here, table) = (new Path(location).toUri, root.toUri)
    val sameStore =
      here.getScheme == null || (here.getScheme == table.getScheme && here.getAuthority == table.getAuthority)
    sameStore && s"${here.getPath}/".startsWith(s"${table.getPath.stripSuffix("/")}/")
  }

  /** @param root of the table, with the scheme of its file system */
  def of(root: Path): Path =
    if (isElsewhere) new Path(location, IndexPlace.folder(root))
    else new Path(new Path(root, StateDir.Name), IndexPlace.Name)
}

object IndexPlace {
  private val Name = "index"

  /** Where this session keeps indexes. */
  def in(session: SQLConf): IndexPlace = IndexPlace(SessionKeys.IndexLocation.orDefault(session))

  /** The name of a table's folder: paths have characters, and lengths, that names of folders may not have. */
  private def folder(root: Path): String = {
    val uri = root.toUri
    val scheme = Option(uri.getScheme).fold("")(_.toLowerCase(Locale.ROOT))
    val qualified = s"$scheme://${Option(uri.getAuthority).getOrElse("")}${uri.getPath.stripSuffix("/")}"
    Hex.encodeHexString(DigestUtils.sha256(qualified).take(16))
  }
}
