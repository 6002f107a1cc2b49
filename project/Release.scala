import sbt._
import sbt.Keys._

import scala.xml.{Elem, Node, NodeSeq}

/**
 * What a Spark line's module is on Maven Central: jar, sources, documentation and POM, written with their
 * checksums to `target/release/maven`, which is laid out as a Maven repository. Nothing is sent to anybody.
 */
object Release {

  /** Follows from the organization, `io.github.spark-zorder`. */
  val home = "https://github.com/spark-zorder/spark-zorder"

  /** What Apache's licence wants to go with every copy. */
  val notices: Seq[(File, String)] =
    Seq("LICENSE", "NOTICE").map(name => file(name).getAbsoluteFile -> s"META-INF/$name")

  /** Sources whose names users write: the others are no contract, and Scaladoc leaves them out. */
  private val documented = Set("ZOrderExtensions.scala", "functions.scala")

  def settings(line: SparkLine): Seq[Setting[_]] = Seq(
    description := s"Clusters tables of Spark ${line.line} by several columns, and says what it gains",
    // with the dot of the version, which sbt would replace
    moduleName := s"spark-zorder-spark${line.line}",
    publishMavenStyle := true,
    publishTo := Some(MavenCache("release", file("target/release/maven").getAbsoluteFile)),
    pomIncludeRepository := (_ => false),
    // a second build of the same version takes the place of the first
    publishConfiguration := publishConfiguration.value.withOverwrite(true),
    pomPostProcess := withDependencies(line),
    Compile / doc / sources := (Compile / sources).value.filter(f => documented(f.getName)),
    // the classes of the sources that are left out
    Compile / doc / dependencyClasspath ++= (Compile / exportedProducts).value,
    Compile / doc / scalacOptions := Seq("-encoding", "utf8", "-no-link-warnings", "-doc-title", name.value),
    Compile / packageDoc / mappings ++= notices)

  /** Spark is there already, and a table format only if a table needs it: the jar brings neither. */
  private def withDependencies(line: SparkLine)(pom: Node): Node = {
    val spark = dependency(s"org.apache.spark:spark-sql_${line.scalaBinary}:${line.spark}")
    val formats = line.formats.flatMap(_.modules).map(dependency(_, <optional>true</optional>))
    val wanted = <dependencies>{spark}{formats}</dependencies>
    pom match {
      case e: Elem => e.copy(child = e.child.filterNot(_.label == "dependencies") ++ wanted)
      case other => other
    }
  }

  private def dependency(module: String, more: NodeSeq = NodeSeq.Empty): Elem = {
    val Array(organization, artifact, version) = module.split(':')
    <dependency>
      <groupId>{organization}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
      <scope>provided</scope>
      {more}
    </dependency>
  }
}
