package org.apache.spark.sql.zorder.stats

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._

class VerificationSuite extends AnyFunSuite with StatsFixture {
  private val columns = Seq(
    "id",
    "if(id % 3 = 0, null, id) as n",
    "if(id % 5 = 0, null, array(id, null)) as a",
    "struct(id as f) as s",
    "map(id, 'x', id + 1, null) as m")

  private def written(exprs: String*)(check: Seq[FileFooter] => Unit): Unit = inTempDir { dir =>
    spark.range(100).selectExpr(exprs: _*).repartition(3).write.parquet(dir.resolve("t").toString)
    check(footers(dir))
  }

  test("the same rows in other files agree") {
    written(columns: _*)(in => written(columns: _*)(out => assert(Verification.compare(in, out) == Nil)))
  }

  test("fewer rows, lost columns, other types and other NULLs are each a sentence") {
    written(columns: _*) { in =>
      assert(Verification.compare(in, in.tail).exists(_.startsWith("The files read hold 100 rows")))
      written(columns.tail: _*) { out =>
        assert(Verification.compare(in, out).map(_.takeWhile(_ != '/')) == Seq("Column id of file file:"))
      }
      written(columns.updated(1, "cast(id as int) as n"): _*) { out =>
        val sentences = Verification.compare(in, out)
        assert(sentences.exists(s => s.startsWith("Column n ") && s.contains("INT64")))
        assert(sentences.exists(_.startsWith("Column n has 34 NULLs of 100 values")))
        assert(Verification.compare(in, out, (c, t) => c == "n" && t == "INT32").size == 1)
      }
      written(columns.map(_.replace("array(id, null)", "array(id, id)")): _*) { out =>
        assert(Verification.compare(in, out).size == 1)
      }
    }
  }

  test("what tells columns apart is asked for once for all files that share a schema") {
    written(columns: _*) { in =>
      val shared = in.map(_.copy(schema = in.head.schema))
      var asked = 0
      def counted(leaf: LeafColumn): Option[Seq[String]] = {
        asked += 1
        Some(leaf.column)
      }
      assert(shared.length == 3 && Verification.compare(shared, shared, stored = counted) == Nil)
      assert(asked == 2 * in.head.schema.leaves.length)
    }
  }

  test("the checksum depends on neither order nor map order, but on every value and on where NULL is") {
    def rows(map: String) = spark.range(1000).selectExpr(
      "id",
      "if(id % 3 = 0, null, id) as n",
      s"$map as m",
      "array(struct(map('a', id) as inner)) as deep",
      "cast(id as string) as `a.b`")
    val df = rows("map(id, 1, -id - 1, 2)")
    val sum = Checksum.of(df)
    assert(sum.rows == 1000 && sum.skipped.isEmpty)
    assert(Checksum.of(df.repartition(5).orderBy(org.apache.spark.sql.functions.col("n").desc)) == sum)
    assert(Checksum.of(rows("map(-id - 1, 2, id, 1)")) == sum)
    assert(Checksum.of(df.selectExpr("id", "if(id = 7, 8, n)", "m", "deep", "`a.b`")).sum != sum.sum)
    assert(Checksum.of(spark.sql("select 1 a, cast(null as int) b")).sum !=
      Checksum.of(spark.sql("select cast(null as int) a, 1 b")).sum)
    assert(Checksum.of(spark.range(0).toDF()) == Checksum(0, 0, Nil))
  }

  test("columns of types that Spark has no hash of are no part of a checksum, whatever follows their names") {
    for (name <- Seq("variant", "geometry(4326)", "geometry(any)", "geography(4326)")) {
      val unhashed = new NamedType(name)
      assert(!Checksum.hashable(unhashed) && !Checksum.hashable(ArrayType(unhashed)), name)
      assert(!Checksum.hashable(new StructType().add("id", LongType).add("place", unhashed)), name)
    }
    assert(Checksum.hashable(new NamedType("time(6)")) && Checksum.hashable(DecimalType(38, 10)))
  }
}
