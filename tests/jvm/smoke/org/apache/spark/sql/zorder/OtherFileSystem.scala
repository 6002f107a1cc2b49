package org.apache.spark.sql.zorder

import java.net.URI

import org.apache.hadoop.fs.LocalFileSystem

/** The local file system under another scheme, so that neither of the two takes paths of the other. */
class OtherFileSystem extends LocalFileSystem(new OtherRawFileSystem) {
  override def getScheme: String = OtherFileSystem.root.getScheme
}

class OtherRawFileSystem extends QuickRawFileSystem {
  override def getUri: URI = OtherFileSystem.root
}

private object OtherFileSystem {
  val root: URI = URI.create("other:///")
}
