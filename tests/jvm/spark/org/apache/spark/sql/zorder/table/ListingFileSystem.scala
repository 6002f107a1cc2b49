package org.apache.spark.sql.zorder.table

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.zorder.QuickFileSystem

/** The local file system, which notes the directories that it lists. */
class ListingFileSystem extends QuickFileSystem {
  override def listStatus(path: Path): Array[FileStatus] = {
    ListingFileSystem.noted.add(path.toUri.getPath)
    super.listStatus(path)
  }
}

object ListingFileSystem {

  /** A session goes through it while it has these settings. */
  val settings: Seq[(String, String)] =
    Seq("fs.file.impl" -> classOf[ListingFileSystem].getName, "fs.file.impl.disable.cache" -> "true")

  private val noted = new ConcurrentLinkedQueue[String]

  /** The directories that were listed in `body`. */
  def during(body: => Any): Seq[String] = {
    noted.clear()
    body
    noted.asScala.toVector
  }
}
