package sparkzorder

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.{Filter, Suite}
import org.scalatest.funsuite.AnyFunSuite

/**
 * Counts the tests that the tags of this run leave out, for the last lines of `make test`. Fails when a suite has a
 * tag that the build does not know: nobody would run its tests.
 */
abstract class LeftForTestAll extends AnyFunSuite {

  /** The tags that build.sbt selects tests by. */
  private val known = Set("sparkzorder.mark.LongTest", "sparkzorder.mark.SameOnAllLines")

  private def without: Set[String] =
    sys.props.get("sparkzorder.tests.without").toSeq.flatMap(_.split(',')).filter(_.nonEmpty).toSet

  /** Every suite compiled together with this one. */
  private def suites: Seq[Suite] = {
    val root = new File(getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
    def classes(folder: File): Seq[File] =
      folder.listFiles.toSeq.flatMap(f => if (f.isDirectory) classes(f) else Seq(f))
    val names = classes(root).map(f => root.toPath.relativize(f.toPath).toString)
      .filter(_.endsWith("Suite.class")).map(_.stripSuffix(".class").replace(File.separatorChar, '.'))
    names.sorted.map(Class.forName).filter(c => classOf[Suite].isAssignableFrom(c) && !isAbstract(c))
      .map(_.getDeclaredConstructor().newInstance().asInstanceOf[Suite])
  }

  private def isAbstract(c: Class[_]): Boolean = java.lang.reflect.Modifier.isAbstract(c.getModifiers)

  test("every tag is one that the build knows, and what is left for `make test-all` is counted") {
    val all = suites
    val unknown = for (s <- all; (test, tags) <- s.tags; tag <- tags if !known(tag)) yield s"$test: $tag"
    assert(unknown.isEmpty)
    val filter = Filter(None, without)
    val left = all.map(s => s.expectedTestCount(Filter.default) - s.expectedTestCount(filter)).sum
    sys.props.get("sparkzorder.tests.reports").foreach { folder =>
      Files.createDirectories(Paths.get(folder))
      Files.write(Paths.get(folder, "left.txt"), s"$left\n".getBytes(UTF_8))
    }
  }
}
