package org.apache.spark.sql.zorder.store

import java.io.File
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit.SECONDS

import scala.io.Source

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

  /** All requests so far. */
  def requests(): Seq[Request] = {
    val source = Source.fromFile(log.toFile, "UTF-8")
    try source.getLines().flatMap(Request.parse).toList
    finally source.close()
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

  private def start(): String = {
    Seq("data/" + Bucket, "meta").foreach(d => Files.createDirectories(folder.resolve(d)))
    val port = free()
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
    val process = builder.start()
    sys.addShutdownHook {
      process.destroy()
      if (!process.waitFor(5, SECONDS)) process.destroyForcibly()
      Utils.deleteRecursively(folder.toFile)
    }
    while (!answers(port)) {
      require(process.isAlive, "The S3 server ended: " + text(folder.resolve("server.log")))
      Thread.sleep(50)
    }
    s"http://127.0.0.1:$port"
  }

  private def free(): Int = {
    val socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    try socket.getLocalPort
    finally socket.close()
  }

  private def answers(port: Int): Boolean =
    try {
      new Socket(InetAddress.getLoopbackAddress, port).close()
      true
    } catch { case _: java.net.ConnectException => false }

  private def text(file: Path): String = new String(Files.readAllBytes(file))
}
