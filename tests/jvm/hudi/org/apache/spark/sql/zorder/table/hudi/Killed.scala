package org.apache.spark.sql.zorder.table.hudi

import java.io.File
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** A run in a JVM of its own, which stops dead at a place. */
object Killed {

  /** Runs until there and comes back when that JVM is gone. */
  def at(place: String, table: Path): Unit = {
    val inherited = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
      .filter(a => a.startsWith("--add-opens") || a.startsWith("-Duser.timezone"))
    val java = new File(new File(System.getProperty("java.home"), "bin"), "java").getPath
    val command = Seq(java) ++ inherited ++
      Seq("-Xmx1g", s"-D${CrashPoint.Property}=$place:halt", "-Dspark.ui.enabled=false") ++
      Seq("-cp", System.getProperty("java.class.path"), getClass.getName.stripSuffix("$"), table.toString)
    val log = File.createTempFile("zorder-killed-", ".log")
    try {
      val process = new ProcessBuilder(command: _*).redirectErrorStream(true).redirectOutput(log).start()
      if (!process.waitFor(5, TimeUnit.MINUTES)) {
        process.destroyForcibly()
        throw new IllegalStateException(s"The run did not come to $place")
      }
      val said = new String(Files.readAllBytes(log.toPath), "UTF-8")
      assert(process.exitValue == 99, said)
    } finally {
      log.delete()
      ()
    }
  }

  def main(args: Array[String]): Unit = {
    val extensions = Seq(HudiFixture.extension, ZOrderSession.extension).mkString(",")
    val spark = HudiFixture.configured(ZOrderSession.builder(), extensions).getOrCreate()
    spark.sql(s"ZORDER TABLE '${args.head}' BY (a, b) WITH (fileCount = 4, force = true)").collect()
    ()
  }
}
