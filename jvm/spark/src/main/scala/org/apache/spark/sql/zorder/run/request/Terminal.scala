package org.apache.spark.sql.zorder.run.request

import java.nio.file.{Files, Paths}

import scala.util.Try

/**
 * Whether somebody sees what the driver writes to standard error. Java's own console does not tell: pyspark starts
 * its JVM with a pipe as standard input, and there Java has no console.
 */
private[run] object Terminal {

  /** Looked up once: a process keeps its standard error. Where there is no `/proc`, Python says it by a setting. */
  lazy val sees: Boolean =
    Try(Files.readSymbolicLink(Paths.get("/proc/self/fd/2")).toString).toOption.map(isTerminal)
      .getOrElse(System.console() != null)

  /** Whether the file is a terminal, by its name under Linux. */
  private[run] def isTerminal(file: String): Boolean =
    file.startsWith("/dev/pts/") || file.matches("/dev/tty.+|/dev/console")
}
