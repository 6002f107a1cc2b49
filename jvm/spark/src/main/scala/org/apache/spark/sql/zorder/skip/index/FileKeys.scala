package org.apache.spark.sql.zorder.skip.index

import org.apache.hadoop.fs.Path

/** How an index names the files of a table: by the path below the root, or in full where a file lies elsewhere. */
final class FileKeys(root: Path) {
  private val store = (root.toUri.getScheme, root.toUri.getAuthority)
  private val base = root.toUri.getPath.stripSuffix("/") + "/"

  def of(path: Path): String = {
    val uri = path.toUri
    val below = (uri.getScheme, uri.getAuthority) == store && uri.getPath.startsWith(base)
    if (below) uri.getPath.substring(base.length) else path.toString
  }
}
