package org.apache.spark.sql.zorder.table

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Paths}
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * One halt of a JVM.
 *
 * @param point
 *   a [[CrashPoint]], and how often it is come to if that is not once: `name` or `name:2`
 * @param victim
 *   the object whose main is called with the arguments
 */
final case class Halt(point: String, victim: AnyRef, arguments: Seq[String]) {

  /** As the property says it. */
  def place: String = point.split(':') match {
    case Array(name, times) => s"$name:halt:$times"
    case _ => s"$point:halt"
  }
}

/** JVMs of their own, each halted at its point: no handler runs there, nothing is closed. */
object Victims {

  /** As [[CrashPoint]] halts. */
  private val Code = 99

  // most of a victim's life is the start of Spark, which uses one core
  private val AtOnce = 2

  /** What a victim commits; the inputs are those that the record names. */
  def request(record: String): CommitRequest = {
    val read = RunRecordJson.read(record).get
    CommitRequest(read, Map("abcd1234" -> "{}"))
  }

  def run(halts: Seq[Halt]): Unit = {
    val pool = Executors.newFixedThreadPool(AtOnce)
    try {
      val ends = halts.map(h => pool.submit(new Callable[Unit] { override def call(): Unit = run(h) }))
      ends.foreach(_.get())
    } finally {
      pool.shutdownNow()
      ()
    }
  }

  private def run(halt: Halt): Unit = {
    val log = Files.createTempFile("zorder-victim-", ".log")
    val builder = new ProcessBuilder((java(halt) ++ halt.arguments).asJava)
    val process = builder.redirectErrorStream(true).redirectOutput(log.toFile).start()
    try {
      if (!process.waitFor(120, TimeUnit.SECONDS)) throw new AssertionError(s"${halt.point}: no end of it")
      if (process.exitValue != Code) {
        val said = new String(Files.readAllBytes(log), "UTF-8").takeRight(4000)
        throw new AssertionError(s"${halt.point} was not reached (exit code ${process.exitValue}):\n$said")
      }
    } finally {
      process.destroyForcibly()
      Files.delete(log)
    }
  }

  /** This JVM's own options but for its memory, and quick to start. */
  private def java(halt: Halt): Seq[String] = {
    val own = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
      .filter(o => o.startsWith("--add-opens") || o.startsWith("-D"))
    Seq(Paths.get(System.getProperty("java.home"), "bin", "java").toString, "-Xmx700m", "-XX:+UseSerialGC") ++
      Seq("-XX:TieredStopAtLevel=1", "-Xshare:auto") ++ own ++
      Seq(s"-D${CrashPoint.Property}=${halt.place}", "-cp", System.getProperty("java.class.path")) :+
      halt.victim.getClass.getName.stripSuffix("$")
  }
}
