package org.apache.spark.sql.zorder.table.storage

import org.apache.hadoop.fs.Path

/**
 * Places where a test makes a commit die. Nothing happens unless the system property `spark.zorder.test.crash` names
 * the place (`name`, or `name:halt` to stop the JVM).
 */
private[zorder] object CrashPoint {

  val Property = "spark.zorder.test.crash"

  /** Not an Exception, so that no handler cleans up what a real crash would leave. */
  final class Crash(name: String) extends Error(s"crash point $name")

  /** What a test lets happen at a place, as if somebody else did it. */
  @volatile private[zorder] var meanwhile: String => Unit = (_: String) => ()

  /** Whether a rename on the local disk succeeds; a test lets it fail. */
  @volatile private[zorder] var renames: (Path, Path) => Boolean = (_: Path, _: Path) => true

  def hit(name: String): Unit = {
    meanwhile(name)
    val wanted = System.getProperty(Property)
    if (wanted != null) {
      if (wanted == name) throw new Crash(name)
      if (wanted == s"$name:halt") Runtime.getRuntime.halt(99)
    }
  }
}
