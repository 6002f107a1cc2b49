package org.apache.spark.sql.zorder.table.resolve

import java.io.File
import java.net.URI
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.Locale

import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}
import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.connector.catalog.InMemoryTableCatalog
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatDescriptor, TableFixture, TableRef}
import sparkzorder.mark.SameOnAllLines

/** docs/spec.md, section 4: what is refused, with the statement that is right instead. */
@SameOnAllLines
class RefusalSuite extends AnyFunSuite with TableFixture {

  private def says(parts: String*)(body: => Any): Unit = {
    val message = refused(body)
    parts.foreach(p => assert(message.contains(p)))
    assert(message.trim.endsWith(".") || message.contains("?"))
  }

  private def refuses(condition: String, parts: String*)(body: => Any): Unit = {
    val e = intercept[ZOrderException](body)
    assert(e.condition === s"ZORDER_$condition" && e.errorClass.contains(e.condition))
    assert(parts.filterNot(e.sentence.contains) === Nil)
    assert(e.sentence.endsWith(".") || e.sentence.endsWith("?"))
  }

  test("a path that is not there, with the nearest name") {
    val path = plain("orders")
    val wrong = path.replace("orders", "ordres")
    refuses("TABLE_NOT_FOUND.PATH", "nothing at", s"Did you mean ${new File(path).getName}?")(open(wrong))
    val e = intercept[ZOrderException](open(wrong))
    assert(e.getSqlState === "42P01" && e.getMessageParameters.get("path").endsWith(wrong))
    assert(e.getMessage.startsWith("[ZORDER_TABLE_NOT_FOUND.PATH] There is nothing at "))
  }

  test("a path that is given with another format than its table has") {
    val path = plain("given")
    refuses("TABLE_NOT_FOUND.FORMAT_PATH", s"There is no Delta table at $path.")(
      TableResolver.locate(classic, TableRef.Location(path, Some("delta"))))
    refuses("TABLE_NOT_FOUND.FORMAT_PATH", s"There is no Iceberg table at $path.")(
      spark.sql(s"OPTIMIZE `iceberg`.`$path` ZORDER BY (id)").collect())
    assert(TableResolver.open(classic, TableRef.Location(path, Some("parquet"))).name === path)
  }

  test("a file, a pattern, an empty path, the root") {
    val path = plain("file")
    val file = listed(path).find(_.getName.endsWith(".parquet")).get.getPath
    refuses("DIRECTORY_REFUSED.NOT_A_DIRECTORY", "is a file", path)(open(file))
    refuses("DIRECTORY_REFUSED.PATTERN", "pattern", "WHERE")(open(s"$path/*"))
    refuses("DIRECTORY_REFUSED.EMPTY_PATH", "empty")(open(" "))
    refuses("DIRECTORY_REFUSED.FILE_SYSTEM_ROOT", "root")(open("/"))
  }

  test("colons, schemes without a file system, file systems that cannot be opened") {
    def found(path: String): Any = TableResolver.open(classic, TableRef.Location(path))
    val path = s"${dir("colon")}/t:1"
    rows(0, 3).write.parquet(path)
    assert(ids(path) === Seq(0, 1, 2), "Spark reads and writes it")
    refuses("DIRECTORY_REFUSED.COLON_IN_NAME", "colon", "rename")(found(path))
    assert(TableResolver.locate(classic, TableRef.Location(path)).files().size === 1, "who reads may")
    refuses("DIRECTORY_REFUSED.INVALID_PATH", "no path", "in full")(found("t:1"))
    refuses("SESSION_REFUSED.NO_FILE_SYSTEM", "for nowhere://b/t", "jar")(found("nowhere://b/t"))
    refuses("STORAGE_FAILED.FILE_SYSTEM", "The file system of hdfs:///t", "no host")(found("hdfs:///t"))
    spark.sql(s"CREATE TABLE colon USING parquet LOCATION '$path'")
    try refuses("DIRECTORY_REFUSED.COLON_IN_NAME", "colon", "rename")(openName("colon"))
    finally spark.sql("DROP TABLE colon")
    val source = open(plain("source"))
    refuses("DIRECTORY_REFUSED.COLON_IN_NAME")(IntoTarget.open(classic, s"${dir("copy")}/c:1", source))
    refuses("DIRECTORY_REFUSED.INVALID_PATH")(IntoTarget.open(classic, "c:1", source))
    val other = partitioned("other")
    assert(new File(s"$other/p=1").renameTo(new File(s"$other/p=a:1")))
    refuses("DIRECTORY_REFUSED.COLON_IN_FILE_NAME", "p=a:1", "colon")(found(other))
    val hidden = plain("hidden")
    assert(new File(s"$hidden/_export_12:00").createNewFile())
    refuses("DIRECTORY_REFUSED.COLON_IN_FILE_NAME", "_export_12:00", "colon")(found(hidden))
  }

  test("other formats by path") {
    Seq(
      "_delta_log/0.json" -> "is a Delta table",
      ".hoodie/hoodie.properties" -> "is a Hudi table",
      "metadata/v1.metadata.json" -> "is an Iceberg table").foreach {
      case (file, says0) =>
        val path = plain("format")
        write(s"$path/$file", "{}")
        says(says0)(open(path))
    }
    val path = plain("stream")
    write(s"$path/_spark_metadata/0", "{}")
    refuses("TABLE_REFUSED.STREAMING_SINK", "streaming")(open(path))
  }

  test("a directory inside a table of another format, whose adapter is not there") {
    Seq(
      "_delta_log/0.json" -> "Delta",
      ".hoodie/hoodie.properties" -> "Hudi",
      "metadata/v1.metadata.json" -> "Iceberg")
      .foreach { case (file, format) =>
        val path = plain("around")
        write(s"$path/$file", "{}")
        rows(0, 3).write.parquet(s"$path/inside")
        refuses("DIRECTORY_REFUSED.INSIDE_FORMAT_TABLE", s"inside the $format table")(open(s"$path/inside"))
      }
  }

  test("every format is known by its name, its directory and its providers") {
    FormatDescriptor.all.foreach { format =>
      (format.otherProviders + format.id + format.name).foreach { provider =>
        assert(FormatDescriptor.ofProvider(provider).contains(format))
      }
      says(format.aTable)(FormatRefusals.provider("t", "t", format.id))
    }
    assert(FormatDescriptor.ofProvider("parquet").isEmpty)
  }

  test("a format in capitals where the small form of I has no dot") {
    val before = Locale.getDefault
    Locale.setDefault(new Locale("tr", "TR"))
    try says("is an Iceberg table")(FormatRefusals.provider("t", "t", "ICEBERG"))
    finally Locale.setDefault(before)
  }

  test("object stores in place") {
    Seq("s3a", "s3", "gs", "abfss", "wasbs", "oss", "cosn").foreach { scheme =>
      refuses("DIRECTORY_REFUSED.OBJECT_STORE", "INTO", "register")(open(s"$scheme://bucket/t"))
    }
  }

  test("files beside partitions, directories inside, mixed partition columns") {
    val path = partitioned("beside")
    val loose = plain("loose")
    copyFile(listed(loose).find(_.getName.endsWith(".parquet")).get.getPath, s"$path/x.parquet")
    refuses("DIRECTORY_REFUSED.FILES_BESIDE_PARTITIONS", "(x.parquet)")(open(path))
    rows(0, 3).write.parquet(s"$loose/sub")
    refuses("DIRECTORY_REFUSED.NOT_A_PARTITION", "sub in ")(open(loose))
    val mixed = partitioned("mixed")
    rows(0, 3).write.parquet(s"$mixed/q=1/r=2")
    refuses("DIRECTORY_REFUSED.PARTITION_COLUMNS_DIFFER", "same columns")(open(mixed))
    refuses("DIRECTORY_REFUSED.PARTITION", "WHERE")(open(s"${partitioned("one")}/p=1"))
  }

  test("a partition in two spellings, a partition column in the files") {
    val two = dir("two")
    rows(0, 3).drop("p").write.parquet(s"$two/month=1")
    rows(3, 6).drop("p").write.parquet(s"$two/month=01")
    says("both the partition")(open(two).schema)
    val inside = dir("inside")
    rows(0, 3).write.parquet(s"$inside/p=1")
    says("also stored in the files")(open(inside).schema)
  }

  test("a parent that is not writable") {
    val parent = dir("locked")
    rows(0, 3).write.parquet(s"$parent/t")
    Files.setPosixFilePermissions(new File(parent).toPath, PosixFilePermissions.fromString("r-xr-xr-x"))
    try refuses("NO_PERMISSION.WRITE", s"$parent is not writable", "INTO")(open(s"$parent/t"))
    finally {
      val open = PosixFilePermissions.fromString("rwxr-xr-x")
      Files.setPosixFilePermissions(new File(parent).toPath, open)
    }
  }

  test("a directory that this user may not look into") {
    spark.conf.set("fs.closed.impl", classOf[ClosedFileSystem].getName)
    def at = TableRef.Location("closed:///t")
    try refuses("NO_PERMISSION.OPEN", "'closed:///t'", "Permission denied")(TableResolver.locate(classic, at))
    finally spark.conf.unset("fs.closed.impl")
  }

  test("views, buckets, other providers, misspelt names") {
    rows(0, 5).write.format("parquet").saveAsTable("sales")
    spark.sql("CREATE VIEW sales_view AS SELECT * FROM sales")
    spark.range(3).createOrReplaceTempView("passing")
    rows(0, 5).write.format("parquet").bucketBy(2, "id").saveAsTable("buckets")
    rows(0, 5).write.format("json").saveAsTable("docs")
    refuses("TABLE_REFUSED.VIEW", "sales_view is a view")(openName("sales_view"))
    refuses("TABLE_REFUSED.TEMPORARY_VIEW", "passing")(
      TableResolver.open(classic, TableRef.Name(Seq("passing"))))
    refuses("TABLE_REFUSED.BUCKETED", "bucketed", "INTO")(openName("buckets"))
    val buckets = spark.sessionState.catalog.getTableMetadata(TableIdentifier("buckets", Some("default")))
    refuses("TABLE_REFUSED.BUCKETED", "buckets is bucketed")(open(buckets.location.getPath).checkBeforeRun())
    rows(0, 5).write.format("parquet").option("PathGlobFilter", "part-*").saveAsTable("some_files")
    refuses("TABLE_REFUSED.READ_OPTION", "some_files has the option pathGlobFilter = 'part-*'")(
      openName("some_files"))
    rows(0, 5).write.format("parquet").option("ignoredPathSegmentRegex", "^staged").saveAsTable("not_staged")
    refuses("TABLE_REFUSED.READ_OPTION", "not_staged has the option ignoredPathSegmentRegex = '^staged'")(
      openName("not_staged"))
    spark.conf.set("spark.sql.files.ignoredPathSegmentRegex", "^[._]|^staged")
    try refuses("SESSION_REFUSED.IGNORED_PATHS", "other files than a run")(openName("sales"))
    finally spark.conf.unset("spark.sql.files.ignoredPathSegmentRegex")
    refuses("TABLE_REFUSED.NOT_PARQUET", "json", "USING parquet AS SELECT * FROM docs")(openName("docs"))
    refuses("TABLE_NOT_FOUND.TABLE", "no table slaes. Did you mean sales?")(openName("slaes"))
    assert(!intercept[ZOrderException](openName("pasing")).sentence.contains("passing"))
    refuses("TABLE_NOT_FOUND.TABLE", "no table /data/x. A path stands in quotes, as '/data/t'.")(
      openName("/data/x"))
    refuses("TABLE_NOT_FOUND.DATABASE", "Did you mean default?")(openName("defualt.sales"))
    refuses("SESSION_REFUSED.CATALOG_NOT_CONFIGURED", "spark.sql.catalog.none to")(openName("none.b.c"))
    refuses("TABLE_NOT_FOUND.OTHER_CATALOG", "catalog nowhere", "class path") {
      spark.conf.set("spark.sql.catalog.nowhere", "org.example.Missing")
      openName("nowhere.db.t")
    }
    spark.conf.set("spark.sql.catalog.lake", classOf[InMemoryTableCatalog].getName)
    spark.sql("CREATE DATABASE spark_catalog.lake")
    try {
      spark.sql("CREATE TABLE spark_catalog.lake.sales USING parquet AS SELECT 1 a")
      refuses("TABLE_NOT_FOUND.OTHER_CATALOG", "catalog lake")(openName("lake.sales"))
      assert(openName("spark_catalog.lake.sales").files().size == 1)
      for (location <- Seq("", ", location = 'move'"))
        spark.sql("ZORDER TABLE spark_catalog.lake.sales FULL BY (a) WITH (fileCount = 1, force = true" +
          s"$location)").collect()
      spark.sql("ZORDER REMOVE spark_catalog.lake.sales")
      assert(spark.table("spark_catalog.lake.sales").count() == 1)
    } finally spark.sql("DROP DATABASE spark_catalog.lake CASCADE")
    assert(openName("spark_catalog.default.sales").files().size == 1)
    says("Delta table")(TableResolver.open(classic, TableRef.Name(Seq("delta", "/data/t"))))
    val orc = TableRef.Name(Seq("orc", "/data/t"))
    refuses("TABLE_REFUSED.NOT_PARQUET", "orc")(TableResolver.open(classic, orc))
  }

  test("tables inside, around, or at the same place") {
    val outer = dir("outer")
    rows(0, 5).write.parquet(s"$outer/inner/t")
    spark.sql(s"CREATE TABLE nested USING parquet LOCATION '$outer/inner/t'")
    refuses("DIRECTORY_REFUSED.HOLDS_TABLE", "lies inside", "nested")(open(s"$outer/inner"))
    spark.sql("DROP TABLE nested")
    rows(0, 5).write.parquet(s"$outer/sub/p=1")
    spark.sql(s"CREATE TABLE above (id LONG) USING parquet LOCATION '$outer/sub'")
    refuses("DIRECTORY_REFUSED.INSIDE_TABLE", "lies inside the table", "above")(open(s"$outer/sub/p=1"))
    spark.sql(s"CREATE TABLE twin (id LONG) USING parquet LOCATION '$outer/inner/t'")
    spark.sql(s"CREATE TABLE twin2 (id LONG) USING parquet LOCATION '$outer/inner/t'")
    refuses("DIRECTORY_REFUSED.SHARED", "twin and", "twin2 share the directory")(openName("twin"))
    refuses("DIRECTORY_REFUSED.SHARED", "share the directory")(open(s"$outer/inner/t"))
  }

  test("row filters and column masks, as the plan shows them") {
    def analyzed(sql: String) = spark.sql(sql).queryExecution.analyzed
    Seq("SELECT * FROM range(5) WHERE id > 1", "SELECT 0 AS id FROM range(5)").foreach { sql =>
      refuses("NO_PERMISSION.ROW_FILTER", "row filter")(FormatRefusals.plan("t", analyzed(sql)))
    }
    FormatRefusals.plan("t", analyzed("SELECT * FROM range(5)"))
    spark.sql("CREATE TABLE padded (c CHAR(5), v VARCHAR(7)) USING parquet")
    assert(openName("padded").files().isEmpty)
  }

  test("Hive formats other than Parquet, and Parquet that Spark does not convert") {
    rows(0, 5).write.format("parquet").saveAsTable("hive_like")
    val meta = spark.sessionState.catalog.getTableMetadata(TableIdentifier("hive_like", Some("default")))
    def serde(s: String) = meta.copy(provider = Some("hive"), storage = meta.storage.copy(serde = Some(s)))
    val parquet = serde("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe")
    FormatRefusals.hive(classic, "t", parquet)
    val orc = serde("org.apache.hadoop.hive.ql.io.orc.OrcSerde")
    refuses("TABLE_REFUSED.NOT_PARQUET", "only Parquet")(FormatRefusals.hive(classic, "t", orc))
    spark.conf.set("spark.sql.hive.convertMetastoreParquet", "false")
    try refuses("SESSION_REFUSED.HIVE_READER", "convert")(FormatRefusals.hive(classic, "t", parquet))
    finally spark.conf.unset("spark.sql.hive.convertMetastoreParquet")
  }

  test("partitions in one another's directories") {
    rows(0, 6).write.format("parquet").partitionBy("p").saveAsTable("lap")
    val at = openName("lap").root
    spark.sql(s"ALTER TABLE lap ADD PARTITION (p = 9) LOCATION '$at/p=1/deeper'")
    refuses("DIRECTORY_REFUSED.PARTITIONS_OVERLAP", "p=1 and p=9", "lie in one another")(openName("lap"))
  }

  test("the old place of a table that has moved") {
    val path = dir("moved")
    rows(0, 5).write.option("path", path).format("parquet").saveAsTable("mover")
    moves("mover")
    rewriteAll(openName("mover"))
    refuses("DIRECTORY_REFUSED.OLD_FILES", "mover", "name the table")(open(path))
  }

  test("a copy: not empty, a file, inside the source") {
    val table = open(plain("source"))
    def into(path: String, source: ClusterTable = table) = IntoTarget.open(classic, path, source)
    refuses("TARGET_REFUSED.NOT_EMPTY", "not empty")(into(plain("full")))
    refuses("TARGET_REFUSED.INSIDE_TABLE", "inside the table")(into(s"${table.root}/copy"))
    Seq(
      "_delta_log/0.json" -> "Delta",
      ".hoodie/hoodie.properties" -> "Hudi",
      "metadata/v1.metadata.json" -> "Iceberg").foreach { case (file, format) =>
      val other = plain(s"other-$format")
      write(s"$other/$file", "{}")
      refuses("TARGET_REFUSED.INSIDE_FORMAT_TABLE", s"inside the $format table")(into(s"$other/copy"))
    }
    refuses("TARGET_REFUSED.HOLDS_TABLE")(into(table.root.getParent.toString, open(plain("x"))))
    refuses("TARGET_REFUSED.FILE_SYSTEM_ROOT")(into("/"))
    val file = dir("afile")
    write(file, "x")
    refuses("TARGET_REFUSED.NOT_A_DIRECTORY", "is a file")(into(file))
  }

  test("a copy is put in place with its state") {
    val table = open(plain("src"))
    val path = dir("copy")
    val target = IntoTarget.open(classic, path, table)
    val staging = IntoTarget.newStaging(classic, target, "r1")
    rows(0, 40).write.mode("append").parquet(staging.toString)
    IntoTarget.commit(classic, staging, target, record("r1"), Map("abcd1234" -> "{}"))
    assert(ids(path) == (0L until 40L) && open(path).state.latest().map(_.runId).contains("r1"))
    assert(traces(path).isEmpty)
  }
}

/** A file system where nobody may look at anything. */
class ClosedFileSystem extends RawLocalFileSystem {
  override def getUri: URI = URI.create("closed:///")

  override def getFileStatus(f: Path): FileStatus = throw new AccessControlException("Permission denied")
}
