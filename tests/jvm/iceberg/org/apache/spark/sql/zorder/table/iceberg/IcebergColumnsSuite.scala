package org.apache.spark.sql.zorder.table.iceberg

import java.util.UUID

import org.apache.iceberg.expressions.Literal
import org.apache.iceberg.types.Types
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.{SameOnAllLines, Steps}

/** Every type that Iceberg and Spark share, and columns that were changed since the files were written. */
class IcebergColumnsSuite extends AnyFunSuite with IcebergFixture with Steps {

  test("a column with a default is not NULL in files from before it", SameOnAllLines) {
    val t = create("defaults", "id BIGINT, a INT", "TBLPROPERTIES ('format-version' = '3')")
    fill(t, 2000, 4, "id", "int(hash(id)) AS a")
    load(t).updateSchema().addColumn("c", Types.IntegerType.get, Literal.of(5))
      .addColumn("none", Types.IntegerType.get).commit()
    sql(s"REFRESH TABLE $t")
    assert(spark.table(t).where("c = 5 AND none IS NULL").count() == 2000)
    def reads(filter: String): Long =
      sql(s"SELECT read_count FROM clustering_where('$t', '$filter') WHERE level = 'file'").head().getLong(0)
    assert(Seq("c = 5", "c IS NULL", "none = 5", "none IS NULL").map(reads) == Seq(4, 4, 0, 4))
    def run(filter: String): Row =
      cluster(s"$t WHERE $filter", "id, a", "WITH (fileCount = 4, force = true, overlap = 'include') DRY RUN")
    assert(status(cluster(s"$t WHERE c IS NULL", "id, a")) == "NOTHING_TO_DO")
    assert(status(run("c = 5")) == "DRY_RUN")
  }

  test("rows of all types, NULLs among them, come back as they were", SameOnAllLines) {
    val t = create(
      "types",
      "id BIGINT, bo BOOLEAN, i INT, f FLOAT, d DOUBLE, d9 DECIMAL(9,2), d18 DECIMAL(18,4), d38 DECIMAL(38,10), " +
        "da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, st STRING, bi BINARY, s STRUCT<f: INT, g: STRUCT<h: STRING>>, " +
        "l ARRAY<INT>, m MAP<STRING, BIGINT>")
    load(t).updateSchema().addColumn("u", Types.UUIDType.get)
      .addColumn("fx", Types.FixedType.ofLength(4)).commit()
    sql(s"REFRESH TABLE $t")
    def some(value: String): String = s"IF(id % 11 = 3, NULL, $value)"
    fill(
      t,
      4000,
      6,
      "id",
      some("id % 2 = 0") + " AS bo",
      some("int(hash(id))") + " AS i",
      some("IF(id % 13 = 0, float('NaN'), float(hash(id)))") + " AS f",
      some("IF(id % 13 = 0, double('-Infinity'), hash(id) / 3d)") + " AS d",
      some("CAST(hash(id) % 100000 / 100 AS DECIMAL(9,2))") + " AS d9",
      some("CAST(hash(id) / 100 AS DECIMAL(18,4))") + " AS d18",
      some("CAST(hash(id) AS DECIMAL(38,10))") + " AS d38",
      some("date_add(date'1500-01-01', int(id * 100))") + " AS da",
      some("timestamp_micros(hash(id) * 1000000L + id)") + " AS ts",
      some("CAST(timestamp_micros(hash(id) * 1000L + id) AS TIMESTAMP_NTZ)") + " AS tn",
      some("concat('a string with a long common beginning ', hash(id))") + " AS st",
      some("CAST(string(hash(id)) AS BINARY)") + " AS bi",
      some("named_struct('f', int(hash(id) % 1000), 'g', named_struct('h', string(id)))") + " AS s",
      some("array(int(id), NULL)") + " AS l",
      some("map('k', id)") + " AS m",
      some(s"'${UUID.nameUUIDFromBytes(Array[Byte](1))}'") + " AS u",
      some("CAST(right(string(id + 10000), 4) AS BINARY)") + " AS fx"
    )
    val columns = "id, bo, i, f, d, d9, d18, d38, da, ts, tn, hex(bi), st, s, l, to_json(m), u, hex(fx)"
    val before = content(t, s"struct($columns) AS r")
    Seq("i, d", "bo, f", "d9, d18", "d38, da", "ts, tn", "bi, s.f", "s.g.h, u", "fx, id").foreach { by =>
      val row = cluster(t, by, "WITH (fileCount = 4, force = true, verify = 'checksum')")
      assert(status(row) == "DONE", by)
      assert(content(t, s"struct($columns) AS r") == before, by)
    }
  }

  test("variants stay (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no VARIANT")
    val t = create("variants", "id BIGINT, a INT, b INT, v VARIANT", "TBLPROPERTIES ('format-version' = '3')")
    fill(
      t,
      4000,
      6,
      "id",
      "int(id % 100) AS a",
      "int(hash(id)) AS b",
      "parse_json(IF(id % 3 = 0, NULL, concat('{\"x\": ', id, '}'))) AS v")
    sql(s"DELETE FROM $t WHERE id % 10 = 3")
    val before = content(t)
    val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, verify = 'checksum')")
    assert(status(row) == "DONE" && before.size == 3600 && content(t) == before)
  }

  test("renamed, dropped and added columns: statistics are found by number", SameOnAllLines) {
    val t = create("evolved", "id BIGINT, a INT, gone INT, b INT")
    fill(t, 2000, 4, "id", "int(id % 100) AS a", "int(id) AS gone", "int(hash(id)) AS b")
    sql(s"ALTER TABLE $t RENAME COLUMN a TO x")
    sql(s"ALTER TABLE $t DROP COLUMN gone")
    sql(s"ALTER TABLE $t ADD COLUMN fresh STRING")
    sql(s"ALTER TABLE $t RENAME COLUMN b TO a")
    sql(s"INSERT INTO $t SELECT id + 2000, int(id % 100), int(hash(id)), string(id) FROM range(500)")
    val before = content(t)
    // `a` is what the first files call another column: by name its shares would be those of x
    val dry = cluster(t, "x, a", "WITH (fileCount = 4, force = true) DRY RUN")
    val shares = dry.getSeq[org.apache.spark.sql.Row](dry.fieldIndex("columns"))
    assert(shares.map(_.getAs[String]("name")).take(2) == Seq("x", "a"))
    assert(status(cluster(t, "x, a, fresh")) == "DONE")
    assert(content(t) == before)
  }

  test(
    "a column that takes another's name has a new layout, a column with a new name keeps its own",
    SameOnAllLines) {
    val t = create("swapped", "id BIGINT, a INT, b INT, q INT")
    fill(t, 4000, 4, "id", "int(hash(id)) AS a", "int(hash(id, 1)) AS b", "int(hash(id, 2)) AS q")
    assert(status(cluster(t, "a, b")) == "DONE")
    step("a column with a new name keeps its layout, also where no column is named") {
      sql(s"ALTER TABLE $t RENAME COLUMN a TO a2")
      assert(status(cluster(t, "a2, b")) == "NOTHING_TO_DO")
      assert(status(sql(s"ZORDER TABLE $t WITH (fileCount = 4)").head()) == "NOTHING_TO_DO")
    }
    step("the layout has the new name, and a query by the old one is refused") {
      sql(s"ALTER TABLE $t RENAME COLUMN a2 TO tmp")
      sql(s"ALTER TABLE $t RENAME COLUMN q TO a")
      val layout = org.apache.spark.sql.zorder.sql.PythonBridge.layout(spark, t)
      assert(layout.contains("\"tmp\"") && !layout.contains("\"a\""))
      val stale = intercept[Exception](sql(s"SELECT zorder_file('table:$t', a, b) FROM $t").collect())
      assert(stale.getMessage.contains("is called tmp now"), stale.getMessage)
    }
    step("a column that takes another's name has a new layout") {
      val before = content(t)
      val row = cluster(t, "a, b")
      assert(status(row) == "DONE" && content(t) == before)
      val files = row.getSeq[org.apache.spark.sql.Row](row.fieldIndex(
        "columns")).map(_.getAs[org.apache.spark.sql.Row]("files"))
      assert(files.take(2).forall(f => f.getAs[Double]("now") > 0.45 && f.getAs[Double]("measured") < 0.6))
    }
    step("a column that is gone is named") {
      sql(s"ALTER TABLE $t DROP COLUMN a")
      val gone = intercept[Exception](sql(s"ZORDER TABLE $t").collect()).getMessage
      assert(gone.contains("has no column a any more"), gone)
    }
    step("an audit by another column, and an advice, do not ask for the one that is gone") {
      val row = sql(s"SELECT * FROM clustering_information('$t', 'b')").head()
      assert(row.getAs[String]("cluster_by_keys") == "(b)" && row.isNullAt(row.fieldIndex("curve")))
      withConf("spark.zorder.fileCount" -> "4") {
        assert(sql(s"SELECT * FROM clustering_advice('$t')").collect().nonEmpty)
      }
    }
  }

  test("a text that was renamed or added since the newest snapshot, also on a branch", SameOnAllLines) {
    val t = create("later_texts", "id BIGINT, name STRING")
    fill(t, 2000, 4, "id", "string(hash(id)) AS name")
    sql(s"ALTER TABLE $t CREATE BRANCH side")
    sql(s"ALTER TABLE $t RENAME COLUMN name TO label")
    sql(s"ALTER TABLE $t ADD COLUMN fresh STRING")
    for (name <- Seq(t, s"$t.branch_side")) {
      assert(status(cluster(name, "label", "WITH (fileCount = 4) DRY RUN")) == "DRY_RUN", name)
      cluster(name, "label, fresh", "WITH (fileCount = 4) DRY RUN")
    }
  }

  test("files of another writer, read by a mapping of names", SameOnAllLines) {
    val path = temp.resolve("imported").toUri.toString
    spark.range(0, 2000, 1, 4).selectExpr(
      "id",
      "int(hash(id)) AS a",
      "named_struct('f', id) AS s").write.parquet(
      path)
    val t = create("imported", "id BIGINT, a INT, s STRUCT<f: BIGINT>")
    sql(s"CALL ice.system.add_files('db.imported', 'parquet.`$path`')").collect()
    val before = content(t)
    assert(status(cluster(t, "a, s.f")) == "DONE")
    assert(content(t) == before)
  }
}
