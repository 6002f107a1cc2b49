package org.apache.spark.sql.zorder.table.storage

import org.apache.hadoop.fs.Path

/**
 * Places where a test makes a commit die. Nothing happens unless the system property `spark.zorder.test.crash` names
 * the place (`name`, or `name:halt` to stop the JVM, or `name:halt:3` to stop it when it comes there for the third
 * time).
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
    Option(System.getProperty(Property)).map(_.split(':')).foreach {
      case Array(`name`) => throw new Crash(name)
      case Array(`name`, "halt") | Array(`name`, "halt", "1") => Runtime.getRuntime.halt(99)
      case Array(`name`, "halt", times) => System.setProperty(Property, s"$name:halt:${times.toInt - 1}")
      case _ =>
    }
  }
}
