package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.Table
import org.apache.iceberg.catalog.TableIdentifier
import org.apache.iceberg.exceptions.ForbiddenException
import org.apache.iceberg.inmemory.InMemoryCatalog
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.SameOnAllLines

/** A catalog that answers as one whose credentials have expired. */
class ShutCatalog extends InMemoryCatalog {
  override def loadTable(identifier: TableIdentifier): Table =
    throw new ForbiddenException("not for you: %s", identifier)
}

/** Iceberg tables that are not rewritten, each with one sentence that says what to do. */
class IcebergRefusalsSuite extends AnyFunSuite with IcebergFixture {

  private def refused(table: String, by: String, rest: String = "WITH (fileCount = 4)"): String =
    intercept[ZOrderException](cluster(table, by, rest)).getMessage

  private def filled(name: String, more: String = ""): String = {
    val t = create(name, "id BIGINT, a INT, url STRING", more)
    fill(
      t,
      2000,
      4,
      "id",
      "int(hash(id)) AS a",
      "concat('https://www.example.com/', hash(id)) AS url")
    t
  }

  test("names that are no table", SameOnAllLines) {
    val t = filled("there")
    assert(refused("ice.db.nosuch", "a").contains("There is no table ice.db.nosuch"))
    assert(refused("ice.nosuch.t", "a").contains("There is no table ice.nosuch.t"))
    assert(refused(s"$t.snapshots", "a").contains("metadata of an Iceberg table"))
    sql(s"ALTER TABLE $t CREATE TAG old")
    assert(refused(s"$t.tag_old", "a").contains("snapshot of an Iceberg table"))
    assert(refused("iceberg.`/tmp/there/is/nothing`", "a").contains("There is nothing at"))
    assert(refused(t, "nosuch").contains("has no column nosuch"))
    val empty = create("empty", "id BIGINT, a INT")
    for (rest <- Seq("", "DRY RUN", "WITH (force = true)"))
      assert(status(cluster(empty, "a", rest)) == "TOO_SMALL")
    assert(refused(empty, "nosuch").contains("has no column nosuch"))
  }

  test("a view, a catalog that is not configured") {
    spark.conf.set("spark.sql.catalog.mem", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.mem.catalog-impl", "org.apache.iceberg.inmemory.InMemoryCatalog")
    sql("CREATE NAMESPACE mem.db")
    sql("CREATE VIEW mem.db.v AS SELECT 1 AS a")
    assert(refused("mem.db.v", "a").contains("mem.db.v is a view"))
    assert(refused("mem.db.w", "a").contains("There is no table mem.db.w"))
    val nowhere = refused("elsewhere.db.t", "a")
    assert(nowhere.contains("not configured") && nowhere.contains("spark.sql.catalog.elsewhere"))
  }

  test("a temporary view that hides the table is not the table", SameOnAllLines) {
    val t = filled("hidden")
    sql("USE ice.db")
    spark.range(3).createOrReplaceTempView("hidden")
    try {
      for (rest <- Seq("WITH (fileCount = 4)", "DRY RUN"))
        assert(refused("hidden", "a", rest).contains("hidden is a temporary view"))
      assert(status(cluster(t, "a")) == "DONE")
    } finally {
      spark.catalog.dropTempView("hidden")
      sql("USE spark_catalog.default")
    }
  }

  test("a catalog that does not tell whether it has the table, or does not begin") {
    val settings = "spark.sql.catalog.shut"
    spark.conf.set(settings, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(s"$settings.catalog-impl", classOf[ShutCatalog].getName)
    val shut = intercept[ZOrderException](cluster("shut.db.t", "a"))
    assert(shut.condition == "ZORDER_STORAGE_FAILED.CATALOG" && shut.getMessage.contains("not for you: db.t"))
    spark.conf.set(s"${settings}_down", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(s"${settings}_down.catalog-impl", "no.such.Catalog")
    val down = intercept[ZOrderException](cluster("shut_down.db.t", "a"))
    assert(down.condition == "ZORDER_STORAGE_FAILED.CATALOG" && down.getMessage.contains("no.such.Catalog"))
  }

  test("files of other formats") {
    val t = filled("avro", "TBLPROPERTIES ('write.format.default' = 'avro')")
    val why = refused(t, "a")
    assert(why.contains("stored as avro") && why.contains("rewrite_data_files"))
  }

  test("a file that a snapshot has twice") {
    val t = filled("twice")
    load(t).newAppend().appendFile(tasks(t).head.file).commit()
    sql(s"REFRESH TABLE $t")
    val rows = spark.table(t).count()
    assert(rows > 2000)
    for (rest <- Seq("WITH (fileCount = 4)", "DRY RUN")) {
      val why = refused(t, "a", rest)
      assert(why.contains("more than once") && why.contains("INSERT OVERWRITE"), why)
    }
    sql(s"INSERT OVERWRITE $t SELECT * FROM $t")
    assert(status(cluster(t, "a")) == "DONE" && spark.table(t).count() == rows)
  }

  test("a session that works on a branch which it does not name", SameOnAllLines) {
    val t = filled("audited", "TBLPROPERTIES ('write.wap.enabled' = 'true')")
    sql(s"ALTER TABLE $t CREATE BRANCH trial")
    val main = load(t).currentSnapshot.snapshotId
    try for ((branch, place) <- Seq("trial" -> "branch_trial", "audit-1" -> "`branch_audit-1`")) {
        spark.conf.set("spark.wap.branch", branch)
        assert(refused(t, "a").contains(s"Unset spark.wap.branch; $t.$place is the branch"))
      }
    finally spark.conf.unset("spark.wap.branch")
    assert(load(t).currentSnapshot.snapshotId == main)
    assert(status(cluster(s"$t.branch_trial", "a", "WITH (fileCount = 4, force = true)")) == "DONE")
  }

  test("a directory of a table that only a catalog knows") {
    val t = filled("unhinted")
    val path = load(t).location
    new java.io.File(new java.net.URI(s"$path/metadata/version-hint.text")).delete()
    assert(refused(s"'$path'", "a").contains("name it as its catalog does"))
  }

  test("the directory of a table's files, which look like plain Parquet") {
    val t = filled("inside")
    val why = refused(s"'${load(t).location}/data'", "a")
    assert(why.contains("lies inside the Iceberg table"))
  }

  test("columns whose bounds Iceberg does not keep", SameOnAllLines) {
    val t = filled(
      "metrics",
      "TBLPROPERTIES ('write.metadata.metrics.column.a' = 'none', 'write.metadata.metrics.column.id' = 'counts')")
    assert(refused(t, "a, id").contains("metrics mode none"))
    assert(refused(t, "id").contains("write.metadata.metrics.column.id to full"))
    assert(status(cluster(t, "a, id")) == "DONE") // force
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.metadata.metrics.column.a' = 'full')")
    assert(status(cluster(t, "a", "WITH (fileCount = 4) DRY RUN")) == "DRY_RUN")
  }

  test("a column beyond those that have metrics") {
    val t = filled("many", "TBLPROPERTIES ('write.metadata.metrics.max-inferred-column-defaults' = '2')")
    assert(refused(t, "url").contains("column url"))
    assert(status(cluster(t, "a, id", "WITH (fileCount = 4) DRY RUN")) == "DRY_RUN")
  }

  test("strings that begin alike beyond the bounds' length", SameOnAllLines) {
    val t = filled("urls")
    val why = refused(t, "url, a")
    assert(why.contains("first 16 characters") && why.contains("write.metadata.metrics.column.url"))
    sql(s"ALTER TABLE $t RENAME COLUMN url TO link")
    assert(refused(t, "link, a").contains("first 16 characters"))
    sql(s"ALTER TABLE $t RENAME COLUMN link TO url")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.metadata.metrics.column.url' = 'full')")
    assert(status(cluster(t, "url, a")) == "DONE")
    // the new bounds are whole: a look-up of one url leaves files out
    val one = spark.table(t).select("url").head().getString(0)
    val scan =
      load(t).newScan().filter(org.apache.iceberg.expressions.Expressions.equal("url", one)).planFiles()
    val files =
      try { val i = scan.iterator; var n = 0; while (i.hasNext) { i.next(); n += 1 }; n }
      finally scan.close()
    assert(files < 4)
  }
}
