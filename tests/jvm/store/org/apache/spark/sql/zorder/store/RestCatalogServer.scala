package org.apache.spark.sql.zorder.store

import java.io.File
import java.nio.file.{Files, Path, Paths}
import java.util.UUID
import java.util.concurrent.TimeUnit.SECONDS

import scala.collection.JavaConverters._

import org.apache.spark.util.Utils

/**
 * The REST catalog of Iceberg's own tests (`iceberg-open-api:test-fixtures`) in a process of its own, stopped with the
 * JVM. Its tables lie on the S3 server, and it gives clients the keys to that with each table.
 */
private[store] object RestCatalogServer {
  private lazy val folder: Path = Files.createTempDirectory("zorder-rest-")
  val Warehouse: String = s"s3://${S3Server.Bucket}/rest_${UUID.randomUUID.toString.take(8)}"
  lazy val uri: String = start()

  /** Where the storage is, without the keys to it. */
  def storage: Map[String, String] = Map(
    "io-impl" -> "org.apache.iceberg.aws.s3.S3FileIO",
    "s3.endpoint" -> S3Server.endpoint,
    "s3.path-style-access" -> "true",
    "client.region" -> "us-east-1")

  private def keys: Map[String, String] =
    Map("s3.access-key-id" -> S3Server.AccessKey, "s3.secret-access-key" -> S3Server.SecretKey)

  private def start(): String = {
    val port = S3Server.free()
    val jars = System.getProperty("sparkzorder.tests.restCatalog")
    require(jars != null, "The build names the jars of the catalog.")
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val builder =
      new ProcessBuilder(java, "-Xmx512m", "-cp", jars, "org.apache.iceberg.rest.RESTCatalogServer")
    val settings = storage ++ keys ++ Map(
      "warehouse" -> Warehouse,
      "uri" -> s"jdbc:sqlite:${folder.resolve("catalog.db")}",
      "include-credentials" -> "true",
      "rest.port" -> port.toString)
    // the server reads them so
    builder.environment.putAll(settings.map { case (key, value) =>
      "CATALOG_" + key.replace("-", "__").replace(".", "_").toUpperCase -> value
    }.asJava)
    val log = folder.resolve("server.log")
    builder.redirectErrorStream(true).redirectOutput(log.toFile)
    val process = builder.start()
    sys.addShutdownHook {
      process.destroy()
      if (!process.waitFor(5, SECONDS)) process.destroyForcibly()
      Utils.deleteRecursively(new File(folder.toString))
    }
    while (process.isAlive && !S3Server.answers(port)) Thread.sleep(50)
    require(process.isAlive, s"The catalog ended: ${new String(Files.readAllBytes(log))}")
    s"http://127.0.0.1:$port"
  }
}
