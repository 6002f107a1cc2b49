import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean

import SparkLines.{all => sparkLines}

ThisBuild / organization := "io.github.spark-zorder"
ThisBuild / version := IO.read(file("VERSION")).trim
ThisBuild / versionScheme := Some("early-semver")
ThisBuild / licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0"))
ThisBuild / homepage := Some(url(Release.home))
ThisBuild / scmInfo := Some(ScmInfo(url(Release.home), s"scm:git:${Release.home}.git"))
ThisBuild / developers :=
  List(Developer("spark-zorder", "the spark-zorder developers", "", url(Release.home)))
// more JVMs with tests at once than cores: one of Spark's local sessions leaves a core idle much of the time
val testJvms = ManagementFactory.getOperatingSystemMXBean match {
  case machine: OperatingSystemMXBean if machine.getTotalMemorySize >= (16L << 30) => 3
  case _ => 2
}
Global / concurrentRestrictions := Seq(
  Tags.limitAll(math.max(testJvms, java.lang.Runtime.getRuntime.availableProcessors)),
  Tags.limit(Tags.ForkedTestGroup, testJvms),
  Tags.limit(Tags.Compile, 2),
  Tags.exclusiveGroup(Tags.Clean))
Global / excludeLintKeys ++= Set(sourceDirectory)

/** Warnings are errors; the few that cross-building makes unavoidable are named here. */
def compilerFlags(scalaBinary: String, release: Int): Seq[String] = Seq(
  "-encoding",
  "utf8",
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Xlint:-missing-interpolator,_",
  "-Xfatal-warnings",
  "-release",
  release.toString,
  // JavaConverters is the one spelling that 2.12 and 2.13 share without a library
  "-Wconf:cat=deprecation&msg=JavaConverters:s") ++
  (if (scalaBinary == "2.13") Seq("-Wunused:imports,privates,locals,patvars", "-Wconf:cat=lint-infer-any:s")
   else Seq("-Ywarn-unused:imports,privates,locals,patvars", "-Wconf:cat=lint-infer-any:s"))

val scalatest = Seq(
  "org.scalatest" %% "scalatest" % "3.2.19" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test)

/** What Spark itself adds on Java 17; the tests run in a forked JVM with the same list. */
val sparkJavaOptions = Seq(
  "java.base/java.lang",
  "java.base/java.lang.invoke",
  "java.base/java.lang.reflect",
  "java.base/java.io",
  "java.base/java.net",
  "java.base/java.nio",
  "java.base/java.util",
  "java.base/java.util.concurrent",
  "java.base/java.util.concurrent.atomic",
  "java.base/jdk.internal.ref",
  "java.base/sun.nio.ch",
  "java.base/sun.nio.cs",
  "java.base/sun.security.action",
  "java.base/sun.util.calendar")
  .flatMap(p => Seq("--add-opens", s"$p=ALL-UNNAMED")) ++
  Seq("-Xmx2g", "-Dspark.testing=1", "-Dspark.ui.enabled=false", "-Duser.timezone=UTC")

// `make test` sets it; without it everything runs, whatever its tags are
val isShort = sys.env.get("SHORT_TESTS").contains("1")

/**
 * Tests run much code a few times: C2 costs more than it gains, and collectors need not save memory. A process, of
 * which Hadoop starts many, is started without a helper between.
 */
val testJavaOptions = Seq(
  "-Djdk.lang.Process.launchMechanism=VFORK",
  "-Xms1g",
  "-XX:+UseParallelGC",
  "-XX:MetaspaceSize=512m",
  "-XX:ReservedCodeCacheSize=240m") ++
  // but thousands of queries at random run the same code for hours
  (if (sys.env.contains("SPARK_ZORDER_RANDOM_QUERIES")) Nil else Seq("-XX:TieredStopAtLevel=1")) ++
  // each JVM saves two or three seconds; `make test-all` has the classes verified, and three times as many tests a JVM
  (if (isShort) Seq("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote") else Seq("-Xmx3g"))

def repo(path: String): File = file(path).getAbsoluteFile

/**
 * The line that an IDE opens. All lines share their sources, and an IDE knows a source folder in one project only;
 * `IDE_LINE=spark41_213` chooses another line.
 */
val ideLine = sparkLines.find(_.id == sys.env.getOrElse("IDE_LINE", "spark35_212")).getOrElse(
  sys.error(s"IDE_LINE is none of ${sparkLines.map(_.id).mkString(", ")}."))
val inIde = Set(ideLine.id, s"curve_${ideLine.scalaBinary.replace(".", "")}")

/** Short lines on the terminal, one JUnit file a suite for the summary that ends `make test`. */
def reports(id: String): Seq[TestOption] = Seq(
  Tests.Argument(TestFrameworks.ScalaTest, "-oDF"),
  Tests.Argument(TestFrameworks.ScalaTest, "-u", repo(s"target/test-reports/$id").getPath))

/** The line whose short tests are most; the other full ones leave out what is the same on all lines. */
val firstFull = sparkLines.find(_.tests == "full").get

lazy val shortTests = settingKey[Boolean]("Whether tests whose tags say so are left for `make test-all`")
Global / shortTests := isShort

val longTest = "sparkzorder.mark.LongTest"
val sameOnAllLines = "sparkzorder.mark.SameOnAllLines"

/** Leaves out tests with these tags, and tells LeftForTestAll, which counts them. */
def selected(id: String, without: String*): Seq[Setting[_]] = {
  def ifShort[A](values: Seq[A]) = Def.setting(if ((Global / shortTests).value) values else Nil)
  Seq(
    Test / testOptions ++= reports(id),
    Test / testOptions ++= ifShort[TestOption](
      without.map(tag => Tests.Argument(TestFrameworks.ScalaTest, "-l", tag))).value,
    Test / javaOptions += s"-Dsparkzorder.tests.reports=${repo(s"target/test-reports/$id")}",
    Test / javaOptions ++= ifShort(Seq(s"-Dsparkzorder.tests.without=${without.mkString(",")}")).value)
}

/**
 * The tests of a line that has all of them in several JVMs, of about the same length, which run at the same time. Each
 * takes a quarter of a minute until Spark's code is warm, so there are no more than run at once.
 */
def inSeveralJvms(line: SparkLine): Setting[_] = Test / testGrouping := {
  val options = (Test / forkOptions).value
  val delta = """.*\.(?:table\.(?:delta|hudi)\.|skipping\.Delta).*""".r
  val iceberg = """.*\.(?:table\.iceberg\.|skipping\.Iceberg).*""".r
  val reading = """.*\.zorder\.(?:skipping|insight|querylog|clustering\.sort|expr)\..*""".r
  def group(test: TestDefinition): String = test.name match {
    case delta() | iceberg() if line != firstFull => "formats"
    case delta() => "delta and hudi"
    case iceberg() | reading() if line == firstFull => "reading and iceberg"
    case _ => "writing"
  }
  (Test / definedTests).value.groupBy(group).toSeq.map { case (name, tests) =>
    Tests.Group(name, tests, Tests.SubProcess(options))
  }
}

/** Lines with few tests come last, so that all JVMs are at work until the end. */
def afterTheFullLines(line: SparkLine): Seq[Setting[_]] =
  if (!isShort || line.tests == "full") Nil
  else Seq(Test / compile :=
    (Test / compile).dependsOn(sparkLines.filter(_.tests == "full").map(l =>
      LocalProject(l.id) / Test / compile): _*).value)

lazy val scalafixCheck = taskKey[Unit]("Syntactic scalafix rules on main and test sources; changes nothing")

/** As a plain task, so that it can stand in one list with the tests. */
def scalafixChecked: Setting[_] = scalafixCheck := {
  (Compile / scalafix).toTask(" --check").value
  (Test / scalafix).toTask(" --check").value
}

/** The curve mathematics: no Spark on its class path, Java 8 byte code, one build per Scala binary version. */
def curveProject(scalaFull: String): Project = {
  val binary = scalaFull.split('.').take(2).mkString(".")
  Project(s"curve_${binary.replace(".", "")}", file(s"target/sbt/curve_$binary")).settings(
    name := "spark-zorder-curve",
    scalaVersion := scalaFull,
    scalacOptions ++= compilerFlags(binary, 8),
    javacOptions ++= Seq("--release", "8"),
    publish / skip := true,
    Compile / unmanagedSourceDirectories := Seq(repo("jvm/curve/src/main/scala")),
    Test / unmanagedSourceDirectories := Seq(repo("tests/jvm/tags"), repo("tests/jvm/curve")),
    Test / unmanagedResourceDirectories := Seq(repo("tests/shared")),
    Test / fork := true,
    Test / baseDirectory := repo("."),
    Test / javaOptions += "-Xmx2g",
    scalafixChecked,
    bspEnabled := inIde(thisProject.value.id),
    libraryDependencies ++= scalatest)
    .settings(selected(s"curve_${binary.replace(".", "")}", longTest))
}

lazy val curve_212 = curveProject("2.12.18")
lazy val curve_213 = curveProject("2.13.8")

/** Measures layouts against the bound and other formats' ways; the experiment itself lies beside the tests. */
lazy val bench_layout = Project("bench_layout", file("target/sbt/bench_layout"))
  .dependsOn(curve_213 % "compile->test")
  .settings(
    scalaVersion := "2.13.18",
    scalacOptions ++= compilerFlags("2.13", 8),
    publish / skip := true,
    bspEnabled := inIde("curve_213"),
    Compile / unmanagedSourceDirectories := Seq(repo("benchmarks/layout")),
    Test / unmanagedSourceDirectories := Nil,
    Compile / run / fork := true,
    Compile / run / mainClass := Some("sparkzorder.bench.layout.LayoutBench"),
    run / baseDirectory := repo("."),
    run / javaOptions += "-Xmx4g",
    scalafixChecked)

/** JMH benchmarks of the curve mathematics; `make bench-keys` runs them. */
lazy val bench_jmh = (project in file("target/sbt/bench_jmh")).enablePlugins(JmhPlugin)
  .dependsOn(curve_213 % "compile->test")
  .settings(
    scalaVersion := "2.13.18",
    scalacOptions ++= compilerFlags("2.13", 17),
    publish / skip := true,
    bspEnabled := inIde("curve_213"),
    Compile / unmanagedSourceDirectories := Seq(repo("benchmarks/jmh")),
    scalafixChecked)

/** Jars of the pyspark that `make` installed for a line which Maven Central has not got. */
def pysparkJars(line: SparkLine): Seq[File] = {
  val found = (repo(s"target/venv/${line.line}") ** "pyspark" / "jars" * "*.jar").get
  if (found.isEmpty)
    sys.error(s"No pyspark ${line.spark} under target/venv/${line.line}: run `make venv-${line.line}` first.")
  found
}

/** The folders of a line's sources below `jvm/spark/src/main`. */
def mainFolders(line: SparkLine): Seq[String] =
  Seq("scala", "java") ++ line.shims ++ line.formats.flatMap(f => s"scala-${f.name}" +: f.shims)

/** Formats and lints what the first full line has not: the rest, and all tests, are done there. */
def lintedOnce(line: SparkLine): Seq[Setting[_]] = {
  val own = mainFolders(line).diff(mainFolders(firstFull)).map(d => repo(s"jvm/spark/src/main/$d").toPath)
  Seq(scalafmt.key, scalafix.key).flatMap { tool =>
    Seq(
      Compile / tool / unmanagedSources := (Compile / unmanagedSources).value.filter(f =>
        own.exists(f.toPath.startsWith(_))),
      Test / tool / unmanagedSources := Nil)
  }
}

def sparkProject(line: SparkLine): Project = {
  val curve = if (line.scalaBinary == "2.12") curve_212 else curve_213
  val full = line.tests == "full"
  Project(line.id, file(s"target/sbt/${line.id}"))
    .dependsOn(curve % Provided)
    .settings(
      name := s"spark-zorder-spark${line.line}",
      scalaVersion := line.scala,
      scalacOptions ++= compilerFlags(line.scalaBinary, line.release),
      javacOptions ++= Seq("--release", line.release.toString),
      Compile / unmanagedSourceDirectories := mainFolders(line).map(d => repo(s"jvm/spark/src/main/$d")),
      Compile / unmanagedResourceDirectories := Seq(repo("jvm/spark/src/main/resources")),
      Compile / resourceGenerators += Def.task {
        val out = (Compile / resourceManaged).value / "spark-zorder.properties"
        val facts = Seq(
          "version" -> version.value,
          "spark" -> line.line,
          "scala" -> line.scalaBinary,
          "artifact" -> line.artifact,
          "artifacts" -> sparkLines.map(_.artifact).mkString(","),
          "modules" -> line.formats.map(f => s"${f.name}=${f.modules.head}").mkString(","))
        val text = facts.map { case (k, v) => s"$k=$v\n" }.mkString
        // a file that is newer than what was made of it has that made again
        if (!out.exists || IO.read(out) != text) IO.write(out, text)
        Seq(out)
      }.taskValue,
      Test / unmanagedSourceDirectories :=
        (Seq("tags", "smoke") ++ (if (full) "spark" +: line.formats.map(_.name) else Nil)).map(d =>
          repo(s"tests/jvm/$d")),
      // what the benchmarks count requests by
      Test / unmanagedSources ++= (if (full) Seq("CountingFileSystem", "RowGroups") else Nil)
        .map(n => repo(s"benchmarks/peers/$n.java")),
      Test / unmanagedResourceDirectories := Seq(repo("tests/shared"), repo("tests/jvm/resources")),
      Test / fork := true,
      Test / baseDirectory := repo("."),
      Test / javaOptions ++= sparkJavaOptions ++ testJavaOptions,
      bspEnabled := inIde(line.id),
      scalafixChecked,
      // one small jar a line: ours and the curve's classes, nothing of anybody else
      Compile / packageBin / mappings ++= (curve / Compile / packageBin / mappings).value
        .filterNot(_._2.startsWith("META-INF")),
      Compile / packageBin / mappings ++= Release.notices,
      Compile / packageBin / artifactPath := repo(s"target/jars/${line.artifact}-${version.value}.jar"),
      Compile / packageSrc / mappings ++= (curve / Compile / packageSrc / mappings).value ++ Release.notices,
      libraryDependencies ++= scalatest,
      libraryDependencies ++= (line.source match {
        case Maven => Seq("org.apache.spark" %% "spark-sql" % line.spark % Provided)
        case PySpark => Nil
      }),
      libraryDependencies ++= line.formats.flatMap(_.modules).map(_.split(':')).map { case Array(o, n, v) =>
        (o % n % v % Provided).intransitive()
      },
      libraryDependencies ++= line.formats.flatMap(f => if (full) f.tests else Nil).map(_.split(':')).map {
        case Array(o, n, v) => (o % n % v % Test).intransitive()
        case Array(o, n, v, c) => (o % n % v % Test classifier c).intransitive()
      },
      libraryDependencies ++= (if (full)
                                 Seq("core", "catalyst", "sql").map { module =>
                                   ("org.apache.spark" %% s"spark-$module" % line.spark % Test classifier "tests").intransitive()
                                 }
                               else Nil),
      Compile / unmanagedJars ++= (line.source match {
        case Maven => Nil
        case PySpark => Attributed.blankSeq(pysparkJars(line))
      }))
    .settings(Release.settings(line))
    .settings(if (full) Seq[Setting[_]](inSeveralJvms(line)) else Seq.empty[Setting[_]])
    .settings(afterTheFullLines(line))
    .settings(if (line == firstFull) Nil else lintedOnce(line))
    .settings(selected(line.id, longTest +: (if (line == firstFull) Nil else Seq(sameOnAllLines)): _*))
}

lazy val lines: CompositeProject = new CompositeProject {
  override def componentProjects: Seq[Project] = sparkLines.map(sparkProject)
}

/** Iceberg's own REST catalog of tests, a process of its own: its jars are those that Iceberg's Spark runtime shades. */
lazy val RestCatalog = config("restcatalog").hide

/** Tests on an S3 server (`make store-test`): the tests of Spark 3.5 and Hadoop's S3A of that Spark's Hadoop. */
lazy val store_212 = Project("store_212", file("target/sbt/store_212"))
  .dependsOn(LocalProject("spark35_212") % "test->test", curve_212)
  .settings(
    scalaVersion := firstFull.scala,
    scalacOptions ++= compilerFlags("2.12", 8),
    publish / skip := true,
    bspEnabled := inIde("spark35_212"),
    Compile / unmanagedSourceDirectories := Nil,
    Test / unmanagedSourceDirectories := Seq(repo("tests/jvm/store")),
    Test / unmanagedResourceDirectories := Nil,
    Test / fork := true,
    Test / baseDirectory := repo("."),
    Test / javaOptions ++= sparkJavaOptions ++ testJavaOptions,
    // a client on another machine of a cloud asks for its credentials first: here nobody answers
    Test / envVars := Map("AWS_EC2_METADATA_DISABLED" -> "true"),
    Test / javaOptions += {
      val jars = update.value.select(configurationFilter(RestCatalog.name))
      s"-Dsparkzorder.tests.restCatalog=${jars.mkString(java.io.File.pathSeparator)}"
    },
    scalafixChecked,
    libraryDependencies ++= (LocalProject("spark35_212") / libraryDependencies).value,
    libraryDependencies ++= Seq(
      "org.apache.hadoop" % "hadoop-aws" % "3.3.4",
      "com.amazonaws" % "aws-java-sdk-bundle" % "1.12.262",
      // S3FileIO's
      "org.apache.iceberg" % "iceberg-aws-bundle" % "1.12.0").map(m => (m % Test).intransitive()),
    ivyConfigurations += RestCatalog,
    libraryDependencies ++= Seq(
      ("org.apache.iceberg" % "iceberg-open-api" % "1.11.0" classifier "test-fixtures").intransitive(),
      ("org.apache.iceberg" % "iceberg-core" % "1.11.0" classifier "tests").intransitive(),
      "org.apache.iceberg" % "iceberg-core" % "1.11.0",
      "org.apache.iceberg" % "iceberg-aws" % "1.11.0",
      ("org.apache.iceberg" % "iceberg-aws-bundle" % "1.11.0").intransitive(),
      "org.apache.hadoop" % "hadoop-client-runtime" % "3.3.4",
      "org.eclipse.jetty.ee10" % "jetty-ee10-servlet" % "12.1.5",
      "org.eclipse.jetty.compression" % "jetty-compression-server" % "12.1.5",
      "org.eclipse.jetty.compression" % "jetty-compression-gzip" % "12.1.5",
      "org.xerial" % "sqlite-jdbc" % "3.50.3.0").map(_ % RestCatalog))
  .settings(selected("store_212", longTest))

/** Tests on an HDFS of one node, in the JVM of the tests: those of Spark 3.5, and Hadoop's small cluster of its version. */
lazy val hdfs_212 = Project("hdfs_212", file("target/sbt/hdfs_212"))
  .dependsOn(LocalProject("spark35_212") % "test->test", curve_212)
  .settings(
    scalaVersion := firstFull.scala,
    scalacOptions ++= compilerFlags("2.12", 8),
    publish / skip := true,
    bspEnabled := inIde("spark35_212"),
    Compile / unmanagedSourceDirectories := Nil,
    Test / unmanagedSourceDirectories := Seq(repo("tests/jvm/hdfs")),
    Test / unmanagedResourceDirectories := Nil,
    Test / fork := true,
    Test / baseDirectory := repo("."),
    Test / javaOptions ++= sparkJavaOptions ++ testJavaOptions,
    scalafixChecked,
    libraryDependencies ++= (LocalProject("spark35_212") / libraryDependencies).value,
    libraryDependencies ++= Seq(
      "org.apache.hadoop" % "hadoop-client-minicluster" % "3.3.4",
      // its helpers ask this for assertions
      "junit" % "junit" % "4.13.2",
      "org.hamcrest" % "hamcrest-core" % "1.3").map(m => (m % Test).intransitive()))
  .settings(selected("hdfs_212", longTest))

/** Benchmarks of the operators; `make bench-sort` runs them. */
lazy val bench_operators = (project in file("target/sbt/bench_operators"))
  .dependsOn(LocalProject("spark35_212"), curve_212)
  .settings(
    scalaVersion := "2.12.18",
    scalacOptions ++= compilerFlags("2.12", 8),
    publish / skip := true,
    bspEnabled := inIde("spark35_212"),
    Compile / unmanagedSourceDirectories := Seq(repo("benchmarks/operators")),
    libraryDependencies += "org.apache.spark" %% "spark-sql" % "3.5.9",
    run / fork := true,
    run / baseDirectory := repo("."),
    run / javaOptions ++= sparkJavaOptions.filterNot(o =>
      o.startsWith("-Xm") || o.contains("spark.testing")) :+ "-Xmx6g",
    scalafixChecked)

/** Projects whose sources together are all sources once: shared, Spark 3 and Spark 4 shims, tests, benchmarks. */
val linted =
  Seq(
    "curve_213",
    "spark35_212",
    "spark43_213",
    "store_212",
    "hdfs_212",
    "bench_jmh",
    "bench_layout",
    "bench_operators")

def inAll(ids: Seq[String], task: String): Seq[String] = ids.map(id => s"$id/$task")

val jarTasks = inAll(sparkLines.map(_.id), "package")
val testTasks = inAll(Seq("curve_212", "curve_213", "hdfs_212") ++ sparkLines.map(_.id), "test")
// nothing else compiles these
val benchTasks = inAll(Seq("bench_jmh", "bench_layout", "bench_operators"), "compile")
val lintTasks = "scalafmtSbtCheck" +: linted.flatMap { id =>
  Seq(s"$id/Compile/scalafmtCheck", s"$id/Test/scalafmtCheck", s"$id/scalafixCheck")
}

addCommandAlias("jars", ("all" +: jarTasks).mkString(" "))
addCommandAlias("release", ("all" +: inAll(sparkLines.map(_.id), "publish")).mkString(" "))
addCommandAlias("lint", ("all" +: lintTasks).mkString(" "))
addCommandAlias("fmt", ("scalafmtSbt" +: inAll(linted, "scalafmtAll")).mkString("; "))

/** All in one list of tasks: a failure in one does not hide the others. */
def verification(tests: Seq[String]): String = ("all" +: (tests ++ jarTasks ++ lintTasks)).mkString(" ")

// the curves, which know nothing of Spark, are tested on one Scala by `make test` and on both by `make test-all`
val shortTasks = testTasks.filterNot(_ == "curve_213/test")
// the S3 server is there where Go has built it (`tools/s3_server.sh`)
addCommandAlias("verify", verification(shortTasks))
addCommandAlias("verifyWithStore", verification("store_212/test" +: shortTasks))
addCommandAlias("verifyAll", verification(testTasks ++ benchTasks))
addCommandAlias("verifyAllWithStore", verification(("store_212/test" +: testTasks) ++ benchTasks))

lazy val root = (project in file(".")).settings(
  name := "spark-zorder-build",
  publish / skip := true,
  Compile / unmanagedSourceDirectories := Nil,
  Test / unmanagedSourceDirectories := Nil,
  commands += Command.command("exportSparkLines") { state =>
    val rows = sparkLines.map { l =>
      val modules = l.formats.map(f => s""""${f.name}": ["${f.modules.mkString("\", \"")}"]""")
      s"""  {"line": "${l.line}", "spark": "${l.spark}", "scala": "${l.scalaBinary}", "id": "${l.id}", """ +
        s""""artifact": "${l.artifact}", "tests": "${l.tests}", "java": ${l.release}, """ +
        s""""formats": {${modules.mkString(", ")}}}"""
    }
    IO.write(file("target/spark-lines.json"), rows.mkString("[\n", ",\n", "\n]\n"))
    state
  })
