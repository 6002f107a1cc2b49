/** Where the Spark jars of a line come from. */
sealed trait SparkSource
case object Maven extends SparkSource
case object PySpark extends SparkSource

/**
 * A table format that a line's jar has an adapter for.
 *
 * @param name
 *   of the source folder `jvm/spark/src/main/scala-<name>` and of its tests, `tests/jvm/<name>`
 * @param modules
 *   `organization:artifact:version`, compiled against and never shipped; nothing comes with them
 * @param shims
 *   further source folders, where the format differs by Spark line
 * @param tests
 *   modules that its tests need, and that every Spark distribution has; a classifier may follow the version
 */
final case class Format(
    name: String,
    modules: Seq[String],
    shims: Seq[String] = Nil,
    tests: Seq[String] = Nil)

object Format {
  def delta(artifact: String, version: String, more: String*): Format = {
    val modules = s"delta-spark_$artifact" +: "delta-storage" +: more
    Format("delta", modules.map(m => s"io.delta:$m:$version"))
  }

  /** One jar holds all that Iceberg needs in Spark; a catalog of its tests is a Derby in memory. */
  def iceberg(line: String, scala: String, version: String): Format = Format(
    "iceberg",
    Seq(s"org.apache.iceberg:iceberg-spark-runtime-${line}_$scala:$version"),
    tests = Seq("org.apache.derby:derby:10.14.2.0"))

  /** So does one jar of Hudi's, but for the classes of Hive by which its SQL knows tables. */
  def hudi(line: String, scala: String, spark: String, version: String): Format = Format(
    "hudi",
    Seq(s"org.apache.hudi:hudi-spark$line-bundle_$scala:$version"),
    tests = Seq(
      s"org.apache.spark:spark-hive_$scala:$spark",
      "org.apache.hive:hive-common:2.3.9",
      "org.apache.hive:hive-serde:2.3.9",
      "org.apache.hive:hive-exec:2.3.9:core"))
}

/**
 * One Spark line that a jar is built for.
 *
 * @param line
 *   major.minor of Spark; also the shim folder `scala-spark-<line>` where a line needs one of its own
 * @param spark
 *   full Spark version to compile and test against
 * @param scala
 *   full Scala version, exactly the one that Spark line was built with
 * @param source
 *   Maven Central, or the jars of an installed pyspark where Maven has not got the version
 * @param shims
 *   shim folders under `jvm/spark/src/main`, narrowest last
 * @param release
 *   class-file release of the jar (8 where Spark itself still runs on Java 8)
 * @param formats
 *   table formats that run on this line
 * @param tests
 *   `full` runs every suite, `smoke` loads the extension, checks golden keys and runs one OPTIMIZE
 */
final case class SparkLine(
    line: String,
    spark: String,
    scala: String,
    source: SparkSource,
    shims: Seq[String],
    release: Int,
    tests: String,
    formats: Seq[Format] = Nil) {
  val scalaBinary: String = scala.split('.').take(2).mkString(".")

  /** Artifact name, e.g. `spark-zorder-spark3.5_2.12`. */
  val artifact: String = s"spark-zorder-spark${line}_$scalaBinary"

  /** sbt project id, e.g. `spark35_212`. */
  val id: String = s"spark${line}_$scalaBinary".replace(".", "")
}

/** The one table of Spark lines: the build, the wheel, the tests and CI read it from here. */
object SparkLines {
  private val spark3 = Seq("scala-spark-3")
  private val spark40 = Seq("scala-spark-4", "scala-spark-4.0")
  private val spark41 = Seq("scala-spark-4", "scala-spark-4.1-4.2")

  private def delta3(scala: String): Format = Format.delta(scala, "3.3.3")
  private def delta4(line: String): Format =
    Format.delta(s"${line}_2.13", "4.4.0", "delta-kernel-api", "delta-kernel-defaults")

  // the runtimes of 1.12.0 on Maven Central are those of 3.5 with Scala 2.12, and of 4.1
  private def iceberg(line: String, scala: String, version: String = "1.12.0"): Format =
    Format.iceberg(line, scala, version)

  val all: Seq[SparkLine] = Seq(
    SparkLine(
      "3.5",
      "3.5.9",
      "2.12.18",
      Maven,
      spark3,
      8,
      "full",
      Seq(delta3("2.12"), iceberg("3.5", "2.12"), Format.hudi("3.5", "2.12", "3.5.9", "1.2.0"))),
    SparkLine(
      "3.5",
      "3.5.8",
      "2.13.8",
      Maven,
      spark3,
      8,
      "smoke",
      Seq(delta3("2.13"), iceberg("3.5", "2.13", "1.11.0"))),
    SparkLine(
      "4.0",
      "4.0.2",
      "2.13.16",
      Maven,
      spark40,
      17,
      "smoke",
      Seq(delta4("4.0"), iceberg("4.0", "2.13", "1.11.0"))),
    SparkLine(
      "4.1",
      "4.1.2",
      "2.13.17",
      Maven,
      spark41,
      17,
      "full",
      Seq(delta4("4.1"), iceberg("4.1", "2.13"))),
    SparkLine("4.2", "4.2.0", "2.13.18", Maven, spark41, 17, "smoke", Seq(delta4("4.2"))),
    SparkLine("4.3", "4.3.0", "2.13.18", PySpark, Seq("scala-spark-4", "scala-spark-4.3"), 17, "smoke"))
}
