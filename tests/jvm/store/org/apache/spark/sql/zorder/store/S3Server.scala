package org.apache.spark.sql.zorder.store

import java.io.File
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit.{MILLISECONDS, SECONDS}

import scala.annotation.tailrec

import org.apache.spark.util.Utils

/**
 * An S3 server on the loopback address, started when a suite first asks for it, stopped with the JVM. What
 * it holds lies in a temp folder.
 */
private[store] object S3Server {
  val Bucket = "tab"
  val AccessKey = "zorder"
  val SecretKey = "zorder-secret"

  private lazy val folder: Path = Files.createTempDirectory("zorder-s3-")
  private lazy val log: Path = folder.resolve("access.log")
  lazy val endpoint: String = start()

  /** All requests so far; a line without its end is still being written. */
  def requests(): Seq[Request] = {
    val all = text(log)
    all.take(all.lastIndexOf('\n') + 1).linesIterator.flatMap(Request.parse).toList
  }

  /** The server's module and version. */
  def pinned: String = text(Paths.get("tools/requirements/s3-server.txt")).trim

  private def binary: File = {
    val file = new File(s"target/tools/versitygw-${pinned.substring(pinned.indexOf('@') + 1)}")
    require(
      file.canExecute,
      s"There is no $file: tools/s3_server.sh builds it, `make store-test` calls that.")
    file.getAbsoluteFile
  }

  /** A port that was free a moment ago may be taken by then: such a server ends at once, and another is tried. */
  @tailrec
  private def start(tries: Int = 5): String = {
    Seq("data/" + Bucket, "meta").foreach(d => Files.createDirectories(folder.resolve(d)))
    val port = free()
    val process = launch(port)
    while (process.isAlive && !answers(port)) Thread.sleep(50)
    // one that answers in the place of an ended server is another program
    if (process.isAlive && !process.waitFor(200, MILLISECONDS)) {
      sys.addShutdownHook {
        process.destroy()
        if (!process.waitFor(5, SECONDS)) process.destroyForcibly()
        Utils.deleteRecursively(folder.toFile)
      }
      s"http://127.0.0.1:$port"
    } else {
      require(tries > 1, "The S3 server ended: " + text(folder.resolve("server.log")))
      start(tries - 1)
    }
  }

  private def launch(port: Int): Process = {
    val builder = new ProcessBuilder(
      binary.getPath,
      "--port",
      s"127.0.0.1:$port",
      "--keep-alive",
      "--quiet",
      "--access-log",
      log.toString,
      "posix",
      "--sidecar",
      folder.resolve("meta").toString,
      folder.resolve("data").toString)
    builder.environment.put("ROOT_ACCESS_KEY", AccessKey)
    builder.environment.put("ROOT_SECRET_KEY", SecretKey)
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("server.log").toFile)
    builder.start()
  }

  /** A port that nobody listens on. */
  private[store] def free(): Int = {
    val socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    try socket.getLocalPort
    finally socket.close()
  }

  /** Whether somebody listens on a port of this machine. */
  private[store] def answers(port: Int): Boolean =
    try {
      new Socket(InetAddress.getLoopbackAddress, port).close()
      true
    } catch { case _: java.net.ConnectException => false }

  private def text(file: Path): String = new String(Files.readAllBytes(file))
}
