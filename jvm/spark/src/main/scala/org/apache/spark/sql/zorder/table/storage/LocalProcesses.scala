package org.apache.spark.sql.zorder.table.storage

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Paths}

import scala.util.Try

/** Whether the JVM that has written something still runs, as far as this machine can tell. */
private[table] object LocalProcesses {
  private val proc = Paths.get("/proc")

  /** This JVM: its process, its host, and the numbering of processes that it lives in (a container's). */
  lazy val own: String = s"${ManagementFactory.getRuntimeMXBean.getName}@$numbering"

  private def numbering: String =
    Try(Files.readSymbolicLink(proc.resolve("self/ns/pid")).toString).getOrElse("")

  /** Certainly gone: of the same numbering as this JVM, and no process has that number. */
  def isDead(owner: String): Boolean = {
    def place(text: String) = text.dropWhile(_ != '@')
    Files.exists(proc.resolve("self/ns/pid")) && owner.contains('@') && place(owner) == place(own) &&
    Try(owner.takeWhile(_ != '@').toLong).toOption.exists(pid => !Files.exists(proc.resolve(pid.toString)))
  }
}
