package org.apache.spark.sql.zorder.build

import java.net.{URL, URLClassLoader}

import org.scalatest.funsuite.AnyFunSuite

/** References to Spark that are resolved before anybody runs into them. */
class LinkCheckSuite extends AnyFunSuite {
  private val removed = "org.apache.spark.sql.ExperimentalMethods"
  private val own = "org/apache/spark/sql/zorder/sql/PythonBridge$.class"

  private def check(loader: ClassLoader): LinkCheck = {
    val found = new LinkCheck(loader)
    val file = getClass.getClassLoader.getResourceAsStream(own)
    try found.add(file)
    finally file.close()
    found
  }

  test("all that a class refers to is there") {
    val found = check(getClass.getClassLoader)
    assert(found.count() > 3 && found.missing().isEmpty)
  }

  test("a class that a vendor has removed is named, with what was called") {
    val without = new ClassLoader(getClass.getClassLoader) {
      override def loadClass(name: String, resolve: Boolean): Class[_] =
        if (name == removed) throw new ClassNotFoundException(name) else super.loadClass(name, resolve)
    }
    val missing = check(without).missing()
    assert(missing.nonEmpty && missing.forall(_.startsWith(s"$removed.")))
  }

  test("without Spark everything is missing") {
    val empty = check(new URLClassLoader(Array.empty[URL], null))
    assert(empty.missing().length == empty.count())
  }
}
