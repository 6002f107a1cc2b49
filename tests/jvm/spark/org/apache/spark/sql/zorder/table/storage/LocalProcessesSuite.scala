package org.apache.spark.sql.zorder.table.storage

import java.nio.file.{Files, Paths}

import scala.io.Source

import org.scalatest.funsuite.AnyFunSuite

class LocalProcessesSuite extends AnyFunSuite {

  private def owner(pid: String) = LocalProcesses.own.replaceFirst("^\\d+", pid)

  test(
    "a process that runs is not dead, and one that has ended is, also while nobody has asked how it ended") {
    assume(Files.exists(Paths.get("/proc/self/ns/pid")))
    assert(!LocalProcesses.isDead(LocalProcesses.own))
    // the second sleep takes the place of the shell and never asks for its child
    val shell = new ProcessBuilder("sh", "-c", "sleep 0.1 & echo $!; exec sleep 60").start()
    try {
      val child = Source.fromInputStream(shell.getInputStream).getLines().next()
      val end = System.nanoTime + 10000000000L
      while (!LocalProcesses.isDead(owner(child)) && System.nanoTime < end) Thread.sleep(20)
      assert(LocalProcesses.isDead(owner(child)) && Files.exists(Paths.get("/proc", child)))
    } finally shell.destroy()
  }

  test("what another machine has written is not known to be dead") {
    assert(!LocalProcesses.isDead("1@another-host@another-namespace"))
  }
}
