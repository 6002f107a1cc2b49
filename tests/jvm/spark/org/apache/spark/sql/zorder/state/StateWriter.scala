package org.apache.spark.sql.zorder.state

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.SplittableRandom

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path => HPath}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.clustering.fit.{BytesSample, LayoutJson, LongSample, SampleColumn}
import org.apache.spark.sql.zorder.table.{CatalogImage, CommitRequest, StateDir}
import org.apache.spark.sql.zorder.table.parquet.journal.JournalStore
import org.apache.spark.sql.zorder.table.storage.{ClaimFile, CrashPoint, RunClaim}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong}
import sparkzorder.curve.build._
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{Condition, Query, RankQueries}
import sparkzorder.curve.layout.{InFileOrder, Layout, LayoutColumn}

/**
 * Writes the fixtures below `tests/state` that are not there yet, and never one that is: what an earlier version has
 * written must be read for ever. `sbt "spark35_212/Test/runMain org.apache.spark.sql.zorder.state.StateWriter"`.
 */
object StateWriter {
  private lazy val spark: SparkSession = ZOrderSession.builder()
    .config(
      "spark.sql.extensions",
      s"io.delta.sql.DeltaSparkSessionExtension,${ZOrderSession.extension}")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .getOrCreate()
  private val fs = FileSystem.getLocal(new Configuration)

  def main(args: Array[String]): Unit = {
    spark.sparkContext.setLogLevel("ERROR")
    examples()
    try layouts()
    catch { case NonFatal(e) => e.printStackTrace() }
    paths()
    tablesOfTheCatalog()
    index()
    fixture("query-log")(queryLog)
    delta()
    spark.stop()
  }

  private def fixture(name: String)(make: Path => Unit): Unit = if (!Files.exists(StateFixture.of(name))) {
    val dir = Files.createTempDirectory("zorder-state-")
    println(s"writing $name")
    // the others are written all the same
    try {
      make(dir)
      StateFixture.pack(name, dir)
    } catch { case NonFatal(e) => println(s"$name failed"); e.printStackTrace() }
    delete(dir.toFile)
  }

  private def delete(file: File): Unit = {
    Option(file.listFiles).toSeq.flatten.foreach(delete)
    file.delete()
    ()
  }

  /** Runs what dies at a crash point. */
  private def dying(point: String)(body: => Unit): Unit = {
    System.setProperty(CrashPoint.Property, point)
    val died =
      try { body; false }
      catch { case _: CrashPoint.Crash => true }
      finally System.clearProperty(CrashPoint.Property)
    if (!died) sys.error(s"$point was not reached")
  }

  /** Leaves `dir` as a JVM would that was halted at a crash point, with no handler that tidies up. */
  private def halted(dir: Path, point: String, atPoint: => Unit = ())(body: => Unit): Unit = {
    val copy = Files.createTempDirectory("zorder-state-").resolve("copy")
    CrashPoint.meanwhile = {
      case `point` if !Files.exists(copy) =>
        atPoint
        copyAll(dir, copy)
      case _ =>
    }
    try body
    finally CrashPoint.meanwhile = _ => ()
    if (!Files.exists(copy)) sys.error(s"$point was not reached")
    delete(dir.toFile)
    copyAll(copy, dir)
    delete(copy.getParent.toFile)
  }

  private def copyAll(from: Path, to: Path): Unit = Files.walk(from).iterator.asScala.foreach { p =>
    Files.copy(p, to.resolve(from.relativize(p).toString), StandardCopyOption.COPY_ATTRIBUTES)
  }

  private def table(path: Path, files: Int, partitions: String*): Path = {
    StateFixture.rows(spark, 0, 40, files).write.partitionBy(partitions: _*).parquet(path.toString)
    path
  }

  private def cluster(target: Any, more: String = ""): Unit = {
    spark.sql(s"ZORDER TABLE $target BY (id, v) WITH (fileCount = 2, force = true$more)")
    ()
  }

  private def examples(): Unit = {
    fixture("state-dir") { dir =>
      val state = new StateDir(fs, new HPath(dir.toUri))
      StateExamples.records.foreach(state.write(_, StateExamples.layouts))
      state.writeBase("the table")
      state.addHomes(StateExamples.homes)
      StateExamples.pending.foreach(r => state.pending.begin(CommitRequest(r, Map.empty)))
    }
    fixture("journals") { dir =>
      val store = new JournalStore(fs, new HPath(dir.toUri), "t")
      StateExamples.journals.foreach(j => store.write(j))
    }
  }

  private def layouts(): Unit = {
    val random = new SplittableRandom(17)
    def draws[T](f: => T)(implicit tag: scala.reflect.ClassTag[T]): Array[T] = Array.fill(200)(f)
    val some = draws(random.nextInt(4) == 0)
    val none = draws(false)
    def path(n: Int) = f"https://example.org/some/path/$n%05d".getBytes(UTF_8)
    val columns = Vector[SampleColumn](
      LongSample(draws(random.nextInt(101).toLong), none),
      BytesSample(draws(path(random.nextInt(10007))), none),
      LongSample(draws { val n = random.nextInt(60).toLong; n * n }, some))
    val scales = columns.map(_.scale(1))
    val ranked = new RankedSample(scales, columns.zip(scales).map { case (c, s) => c.ranks(s) }.toArray)
    val queries = (0 until 40).map(i => Query.of(0 -> Condition.equal(NormalizedLong(i.toLong * 2)))) ++
      (0 until 20).map(i =>
        Query.of(1 -> Condition.between(
          NormalizedBytes(path(i * 400)),
          NormalizedBytes(path(i * 400 + 300))))) ++
      (0 until 20).map(i =>
        Query.of(2 -> Condition.equal(NormalizedLong(i.toLong * i)), 0 -> Condition.equal(NormalizedLong(7))))
    val named = Seq("a" -> "BIGINT", "s" -> "STRING", "n" -> "BIGINT").zip(scales).map {
      case ((sql, dataType), scale) => LayoutColumn(sql, dataType, scale)
    }.toIndexedSeq
    def store(name: String, layout: Layout): Unit = {
      val file = StateFixture.of(s"layouts/$name.json")
      if (!Files.exists(file)) {
        val json = LayoutJson.write(layout)
        StateFixture.write(file, json)
        val keys = StateFixture.keys(StateFixture.layoutRows(spark), json, Seq("a", "s", "n"))
        StateFixture.write(StateFixture.of(s"layouts/$name.keys"), keys.mkString("", "\n", "\n"))
      }
    }
    val asked = RankQueries.of(queries, scales)
    for (builder <- Seq(
        AlignedZ,
        Lexical,
        Lexical.by(1),
        SliceTree,
        KdTree,
        QueryTree,
        LiteralTree)) {
      val chosen = AutoChoice.fit(ranked, asked, 12, 8.0, Seq(builder))
      store(s"tree-${builder.name.replace(' ', '-')}", Layout(named, chosen.tree, chosen.name, chosen.inFile))
    }
    val tree = AutoChoice.fit(ranked, asked, 12, 8.0, Seq(KdTree)).tree
    for (order <- Seq(InFileOrder.Hilbert, InFileOrder.Lexical, InFileOrder.Stretched(Vector(2, -1, 0))))
      store(s"order-${order.name.replace(' ', '_')}", Layout(named, tree, "tree", order))
    typedLayout()
  }

  /** The layout that a run has made over every type, and the keys that it gives to further rows. */
  private def typedLayout(): Unit = {
    val file = StateFixture.of("layouts/types.json")
    if (!Files.exists(file)) {
      val dir = Files.createTempDirectory("zorder-state-").resolve("t")
      StateFixture.typedRows(spark, 120).write.parquet(dir.toString)
      spark.sql(
        s"ZORDER TABLE '$dir' BY (${StateFixture.typed.mkString(", ")}) " +
          "WITH (fileCount = 8, timestampType = 'micros', force = true)")
      val json = StateFixture.text(Files.list(dir.resolve("_zorder/layouts")).iterator.asScala.toSeq.head)
      StateFixture.write(file, json)
      val keys = StateFixture.keys(StateFixture.typedRows(spark, 90), json, StateFixture.typed)
      StateFixture.write(StateFixture.of("layouts/types.keys"), keys.mkString("", "\n", "\n"))
      delete(dir.getParent.toFile)
    }
  }

  private def paths(): Unit = {
    for (point <- Seq("synced", "prepared", "moved-old"))
      fixture(s"path-$point") { dir =>
        val path = table(dir.resolve("t"), 4)
        halted(dir, point)(cluster(s"'$path'"))
      }
    fixture("path-partitioned-moved-new") { dir =>
      val path = table(dir.resolve("t"), 2, "p")
      dying("moved-new")(cluster(s"'$path'"))
    }
    fixture("path-undo-moved-new") { dir =>
      val path = table(dir.resolve("t"), 2, "p")
      var exchanged = 0
      // a job turns up in the second partition right after its rename: all partitions go back
      CrashPoint.meanwhile = {
        case "moved-old" =>
          exchanged += 1
          if (exchanged == 2) {
            val old = dir.toFile.list().find(_.contains(".old-")).get
            Files.createDirectories(dir.resolve(s"$old/p=1/_temporary"))
            ()
          }
        case _ =>
      }
      try dying("undo-moved-new")(cluster(s"'$path'"))
      finally CrashPoint.meanwhile = _ => ()
      Files.walk(dir).iterator.asScala.filter(_.endsWith("_temporary")).toSeq.foreach(Files.delete(_))
    }
    fixture("path-history") { dir =>
      val path = table(dir.resolve("t"), 2, "p")
      spark.sql(s"ZORDER TABLE '$path' BY (id, v) USING CURVE hilbert WITH (fileCount = 4, force = true)")
      StateFixture.rows(spark, 40, 60, 1).write.mode("append").partitionBy("p").parquet(path.toString)
      spark.sql(s"ZORDER TABLE '$path' BY (id, v) USING CURVE hilbert WITH (force = true)")
      spark.sql(s"ZORDER ROLLBACK '$path'")
      expected(
        dir,
        "history.expected",
        spark.sql(s"SELECT * FROM zorder_history('$path')").toJSON.collect().toSeq)
      val claim = ClaimFile.beside(fs, new HPath(path.toString))
        .flatMap(RunClaim.take(_, "t", "run-of-the-claim", skipIfRunning = false))
      Files.copy(dir.resolve(".t.claim-zorder"), dir.resolve("claim"))
      claim.get.close()
      Files.move(dir.resolve("claim"), dir.resolve(".t.claim-zorder"))
    }
  }

  private def expected(dir: Path, name: String, lines: Seq[String]): Unit =
    StateFixture.write(dir.resolve(name), StateFixture.anywhere(lines.mkString("", "\n", "\n"), dir))

  private def external(dir: Path, name: String, move: Boolean): Unit = {
    spark.sql(
      s"CREATE TABLE $name USING parquet LOCATION '${dir.resolve("t").toUri}' " +
        s"TBLPROPERTIES ('zorder.location' = '${if (move) "move" else "keep"}') AS SELECT * FROM state_rows")
    ()
  }

  private def tablesOfTheCatalog(): Unit = {
    StateFixture.rows(spark, 0, 40, 4).createOrReplaceTempView("state_rows")
    def ofCatalog(name: String)(make: Path => Unit): Unit = fixture(s"catalog-$name") { dir =>
      make(dir)
      if (!Files.exists(image(dir))) CatalogImage.write(spark, tableName(name), image(dir).toFile)
      spark.sql(s"DROP TABLE ${tableName(name)}")
    }
    for (point <- Seq("prepared", "altered")) ofCatalog(point) { dir =>
      val name = tableName(point)
      spark.sql(
        s"CREATE TABLE $name USING parquet PARTITIONED BY (p) LOCATION '${dir.resolve("t").toUri}' " +
          "TBLPROPERTIES ('zorder.location' = 'move') AS SELECT * FROM state_rows")
      halted(dir, point, CatalogImage.write(spark, name, image(dir).toFile))(cluster(name))
    }
    ofCatalog("exchange") { dir =>
      external(dir, tableName("exchange"), move = false)
      dying("moved-old")(cluster(tableName("exchange")))
    }
    ofCatalog("home") { dir =>
      external(dir, tableName("home"), move = true)
      cluster(tableName("home"))
      dying("home-moved")(spark.sql(s"ZORDER REMOVE ${tableName("home")}").collect())
    }
    ofCatalog("late") { dir =>
      val name = tableName("late")
      def late(from: Int, until: Int): Unit = {
        StateFixture.rows(spark, from, until, 1).write.mode("append").parquet(dir.resolve("t").toString)
        ()
      }
      external(dir, name, move = true)
      cluster(name)
      late(40, 45)
      spark.sql(s"ZORDER VACUUM $name RETAIN 0 HOURS") // carries them over
      late(45, 50)
      spark.sql(s"ZORDER VACUUM $name LATE FILES IGNORE")
    }
  }

  private def image(dir: Path): Path = dir.resolve("catalog.image")

  private def tableName(name: String): String = s"state_$name"

  private def index(): Unit = fixture("index") { dir =>
    val path = dir.resolve("t")
    spark.range(0, 1600, 1, 8).selectExpr(
      "id",
      "if(id % 7 = 0, null, concat('Key-', id * 7919 % 1600)) s",
      "id % 5 * 8 + id div 200 v",
      "named_struct('x', cast(id as decimal(9, 2))) st").write.parquet(path.toString)
    Files.walk(path).iterator.asScala.filter(_.toString.endsWith(".parquet"))
      .foreach(_.toFile.setLastModified(System.currentTimeMillis - 3600000L))
    spark.sql(
      s"ZORDER INDEX '$path' COLUMNS (id, s, v, st.x, lower(s), id % 2) " +
        "WITH (bloom = 's', bloomBudget = '900%', values = 'v')")
    expected(dir, "describe.expected", spark.sql(s"ZORDER DESCRIBE INDEX '$path'").toJSON.collect().toSeq)
    val opened = StateOnDisk.filters.map(f => s"${StateOnDisk.opened(spark, path, f)} $f")
    expected(dir, "opened.expected", opened)
  }

  private def queryLog(dir: Path): Unit = {
    spark.sql("CREATE TABLE state_logged USING parquet AS SELECT * FROM state_rows")
    def ask(filter: String): Unit = {
      spark.sql(s"SELECT * FROM state_logged WHERE $filter").collect()
      ()
    }
    for (literals <- Seq("KEEP", "DROP")) {
      spark.sql(s"ZORDER LOG START '${dir.resolve(s"log-$literals")}' $literals LITERALS")
      Seq(
        "id = 7",
        "id IN (1, 2, 3) AND v > 10",
        "id BETWEEN 3 AND 9 OR v IS NULL",
        "id % 3 = 1 AND v IS NOT NULL").foreach(ask)
      spark.sql("ZORDER LOG STOP")
      val log = spark.read.parquet(dir.resolve(s"log-$literals").toString)
      expected(dir, s"log-$literals.expected", log.orderBy("query").drop("time").toJSON.collect().toSeq)
    }
    spark.sql("DROP TABLE state_logged")
    ()
  }

  private def delta(): Unit = {
    def make(path: Path): Unit = spark.range(0, 1200, 1, 4).selectExpr(
      "id",
      "cast(pmod(xxhash64(id, 1), 1000) as int) a",
      "pmod(xxhash64(id, 2), 1000000) b").repartition(4).write.format("delta").save(path.toString)
    fixture("delta-steps") { dir =>
      val path = dir.resolve("t")
      make(path)
      val bytes = spark.sql(s"DESCRIBE DETAIL delta.`$path`").head().getAs[Long]("sizeInBytes")
      val row = spark.sql(
        s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 8, pageRowLimit = 60, " +
          s"maxBytesInFlight = ${bytes / 2}, maxInputBytes = 1)").head()
      if (row.getAs[String]("status") != "PARTIAL") sys.error(row.toString)
    }
    fixture("delta-pending") { dir =>
      val path = dir.resolve("t")
      make(path)
      dying("delta-committed")(spark.sql(
        s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 4, force = true)"))
    }
  }
}
