package org.apache.spark.sql.zorder.table.storage

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}

import scala.util.Try

/** Whether the JVM that has written something still runs, as far as this machine can tell. */
private[table] object LocalProcesses {
  private val proc = Paths.get("/proc")

  /** This JVM: its process, its host, and its PID namespace (that of a container). */
  lazy val own: String = s"${ManagementFactory.getRuntimeMXBean.getName}@$numbering"

  private def numbering: String =
    Try(Files.readSymbolicLink(proc.resolve("self/ns/pid")).toString).getOrElse("")

  /** Certainly dead: it had the same PID namespace as this JVM, and no process that runs has that number now. */
  def isDead(owner: String): Boolean = {
    def place(text: String) = text.dropWhile(_ != '@')
    Files.exists(proc.resolve("self/ns/pid")) && owner.contains('@') && place(owner) == place(own) &&
    Try(owner.takeWhile(_ != '@').toLong).toOption.exists(hasEnded)
  }

  /** A dead process keeps its number until its parent asks how it ended, which may be seconds later, or never. */
  private def hasEnded(pid: Long): Boolean = {
    val entry = proc.resolve(pid.toString)
    // "42 (java) Z 1 ...", and a name may have brackets and spaces too
    def state = Try(new String(Files.readAllBytes(entry.resolve("stat")), ISO_8859_1)).toOption
      .flatMap(text => text.drop(text.lastIndexOf(')') + 1).trim.headOption)
    !Files.exists(entry) || state.contains('Z')
  }
}
